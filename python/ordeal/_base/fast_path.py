"""Puts a C function in front of a Python one, so that a call with nothing to do costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARKEYWORDS
from types import FunctionType
from typing import Any, Literal

import ordeal._native as _native

Idle = Literal["nothing", "false", "first", "holds", "lt", "le", "gt", "ge"]


def fast_path[Function: Callable[..., Any]](
    enabled: _native.EnabledFlag,
    idle: Idle,
    *,
    working: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    counts: _native.HitCounts | None = None,
    kind: int = 0,
) -> Callable[[Function], Function]:
    """Decorate a function to be called only when it has work to do.

    While ``enabled`` is off, a call returns what ``idle`` says: None for ``nothing``, False for ``false``, its first
    argument for ``first``. For ``holds`` it returns None when its first argument is true, and for ``lt`` to ``ge`` when
    this comparison of the first argument with the second is true. In all other cases the function is called, and also
    with a keyword of ``working`` or with arguments that it does not accept.

    With ``counts``, which must know the name, a hit is counted without a call of the function if the positional
    arguments are a name, or a condition and a name, the condition is True, or False where that is allowed, and no
    keyword is one of ``labels``, which describe a hit.
    """

    def decorate(function: Function) -> Function:
        assert isinstance(function, FunctionType)
        code, defaults = function.__code__, function.__defaults__ or ()
        return _native.fast_path(  # type: ignore[return-value]
            function,
            enabled,
            idle=idle,
            names=code.co_varnames[: code.co_argcount],
            required=code.co_argcount - len(defaults),
            working=working,
            labels=labels,
            any_keyword=bool(code.co_flags & CO_VARKEYWORDS),
            doc=f"{function.__name__}{_signature(function)}\n--\n\n{function.__doc__ or ''}",
            counts=counts,
            kind=kind,
        )

    return decorate


def _signature(function: FunctionType) -> str:
    """Return the parameters in the form in which ``help()`` and ``inspect.signature()`` read them from a C function."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    first_default = len(names) - len(defaults)
    parts = [
        name if place < first_default else f"{name}={defaults[place - first_default]!r}"
        for place, name in enumerate(names)
    ]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    end = code.co_argcount + code.co_kwonlyargcount
    keyword_only = code.co_varnames[code.co_argcount : end]
    if keyword_only:
        values = function.__kwdefaults__ or {}
        parts += ["*", *(f"{name}={values[name]!r}" if name in values else name for name in keyword_only)]
    if code.co_flags & CO_VARKEYWORDS:
        parts.append(f"**{code.co_varnames[end]}")
    return f"({', '.join(parts)})"

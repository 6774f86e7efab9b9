"""Finds references to a function that a fault on it does not reach, because they are not names in modules."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

_CONTAINERS = (dict, list, tuple, set, frozenset)
_CALLABLES = (staticmethod, classmethod, functools.partial, functools.partialmethod)

# A table of functions is short; longer containers are data.
_LENGTH_MAX = 10_000


def unpatched_references(function: Any, modules: Iterable[ModuleType]) -> list[str]:
    """Describe, sorted, what in ``modules`` refers to ``function`` other than by a name of the module.

    These are default arguments and closures of their functions, attributes of their classes, and named containers and
    objects, down to a container in a container.
    """
    found: set[str] = set()
    for module in modules:
        for name, value in list(vars(module).items()):
            if value is not function:
                found.update(_kept_by(value, f"{module.__name__}.{name}", function, module.__name__))
    return sorted(found)


def _kept_by(value: Any, place: str, function: Any, module: str) -> Iterator[str]:
    if _is(value, FunctionType):
        if value.__module__ == module:
            yield from _kept_by_function(value, function)
    elif _is(value, type):
        if value.__module__ == module:
            yield from _kept_by_class(value, function)
    elif _holds(value, function, depth=2):
        yield f"`{place}`"


def _kept_by_function(owner: FunctionType, function: Any) -> Iterator[str]:
    # A decorator refers to the decorated function, and the two are one to the program.
    if owner is function or getattr(owner, "__wrapped__", None) is function:
        return
    name = f"`{owner.__module__}.{owner.__qualname__}`"
    if _holds(owner.__defaults__, function, depth=0) or _holds(owner.__kwdefaults__, function, depth=0):
        yield f"a default argument of {name}"
    if any(_holds(cell, function, depth=0) for cell in owner.__closure__ or ()):
        yield f"the closure of {name}"


def _kept_by_class(owner: type, function: Any) -> Iterator[str]:
    for name, value in list(vars(owner).items()):
        if _is(value, FunctionType) and value is not function:
            yield from _kept_by_function(value, function)
        elif value is function or _holds(value, function, depth=1):
            yield f"`{owner.__module__}.{owner.__qualname__}.{name}`"


def _holds(value: Any, function: Any, *, depth: int) -> bool:
    """Return whether ``value``, or with a depth a container in it, refers to ``function``."""
    if not gc.is_tracked(value) or _is(value, FunctionType, ModuleType, type):
        return False
    if _is(value, *_CONTAINERS) and len(value) > _LENGTH_MAX:
        return False
    inner = gc.get_referents(value)
    if any(each is function for each in inner):
        return True
    return depth > 0 and any(
        _is(each, *_CONTAINERS, *_CALLABLES) and _holds(each, function, depth=depth - 1) for each in inner
    )


def _is(value: Any, *kinds: type) -> bool:
    # Not isinstance(): it reads __class__ of objects, which runs code of the program for a proxy.
    return issubclass(type(value), kinds)

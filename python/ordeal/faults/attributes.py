"""How owners hold attributes, and how a replacement of a function is stored so that it stays of the same kind."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, ClassMethodDescriptorType, FunctionType, MethodType, ModuleType
from typing import Any

import ordeal._native as _native

_UNCHANGING = (bool, int, float, complex, str, bytes, type(None), type, ModuleType, BuiltinFunctionType)
_WRITES = {"STORE_DEREF", "DELETE_DEREF"}


def mark_like(function: Any, replacement: Any) -> Any:
    """Make ``replacement`` count as a coroutine function if ``function`` is one; return ``replacement``."""
    if inspect.iscoroutinefunction(function):
        return inspect.markcoroutinefunction(replacement)
    return replacement


def keeps_nothing(replacement: Any, original: Any) -> bool:
    """Return True if calls of ``replacement`` surely leave nothing in it: no variable around it can change."""
    if type(replacement) is not FunctionType:
        return False
    held = [cell.cell_contents for cell in replacement.__closure__ or ()]
    held += [*(replacement.__defaults__ or ()), *(replacement.__kwdefaults__ or {}).values()]
    for each in held:
        is_top_level = type(each) is FunctionType and not (each.__closure__ or each.__defaults__ or each.__kwdefaults__)
        if each is not original and type(each) not in _UNCHANGING and not is_top_level:
            return False
    return not any(step.opname in _WRITES for step in dis.get_instructions(replacement))


def direct(callee: Callable[..., Any]) -> Any:
    """Return a Python function that calls ``callee``, in C++ and without its own frame."""

    def passed(*args: Any, **kwargs: Any) -> Any:
        return callee(*args, **kwargs)

    _native.call_directly(passed)
    return passed


def passing_on(function: Any, current: Callable[[], Any]) -> Any:
    """Return a function like ``function`` that calls the result of ``current()`` at the time of each call."""

    @functools.wraps(function)
    def passed(*args: Any, **kwargs: Any) -> Any:
        return current()(*args, **kwargs)

    return mark_like(function, passed)


def dispatching(function: Any) -> tuple[Any, CellType]:
    """Return a function like ``function``, and the cell that holds what it calls; at first ``function`` itself."""
    passed = direct(function)
    return mark_like(function, functools.wraps(function)(passed)), passed.__closure__[0]


Wrap = Callable[[Any], Any]

#: Stands for an attribute that does not exist.
MISSING = object()


def stored_attribute(owner: Any, attribute: str) -> tuple[bool, Any]:
    """Return True if ``owner`` itself holds the attribute, and the stored object, descriptors unbound."""
    namespace = namespace_of(owner)
    if namespace is not None and attribute in namespace:
        return True, namespace[attribute]
    for cls in ancestors_of(owner):
        if isinstance(owner, type) and attribute in vars(cls):
            return False, vars(cls)[attribute]
    # An attribute that a class gets from its metaclass comes bound, like the method of an object.
    return namespace is None, getattr(owner, attribute, MISSING)


def ancestors_of(owner: Any) -> tuple[type, ...]:
    """Return the classes in which an attribute is looked up that ``owner`` does not hold itself."""
    return owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__


def inherited(owner: Any, attribute: str, function: Any) -> Any:
    """Return a function like ``function``, which ``owner`` inherits; it calls what is inherited at that time."""
    if not any(attribute in vars(cls) for cls in ancestors_of(owner)):
        return function

    def current() -> Any:
        # A fault on the base class acts on subclasses too, whichever fault was switched on first.
        stored = next(vars(cls)[attribute] for cls in ancestors_of(owner) if attribute in vars(cls))
        return split_kind(owner, stored)[0] if isinstance(owner, type) else stored.__get__(owner, type(owner))

    return passing_on(function, current) if hasattr(function, "__get__") else function


def namespace_of(owner: Any) -> Any:
    """Return the dictionary in which ``owner`` itself holds attributes; None if it has none."""
    try:
        # Not vars(): it would load a lazily loaded module.
        return object.__getattribute__(owner, "__dict__") if not isinstance(owner, type) else vars(owner)
    except AttributeError:
        return None


def split_kind(owner: Any, stored: Any) -> tuple[Any, Wrap]:
    """Return the function inside a stored attribute, and how to store a replacement so that it keeps its kind."""
    function = function_within(stored)
    if isinstance(stored, (staticmethod, classmethod)):
        return function, type(stored)
    if isinstance(stored, property):
        return function, lambda fget: property(fget, stored.fset, stored.fdel, stored.__doc__)
    if isinstance(stored, functools.cached_property):

        def cached(func: Any) -> functools.cached_property[Any]:
            made = functools.cached_property(func)
            made.__set_name__(owner, stored.attrname or func.__name__)
            return made

        return function, cached
    if not isinstance(owner, type):
        return stored, lambda value: value
    if isinstance(stored, ClassMethodDescriptorType):
        return stored, classmethod
    if isinstance(stored, MethodType) or not hasattr(type(stored), "__get__"):
        # A bound method, a C function or a class does not bind in a class body; nor may its replacement.
        return stored, lambda value: staticmethod(value) if hasattr(type(value), "__get__") else value
    return stored, lambda value: value


def function_within(stored: Any) -> Any:
    """Return the function inside a property or another wrapper of one; any other object itself."""
    if isinstance(stored, property):
        return stored.fget
    if isinstance(stored, functools.cached_property):
        return stored.func
    return stored.__func__ if isinstance(stored, (staticmethod, classmethod)) else stored

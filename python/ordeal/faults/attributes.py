"""How owners hold attributes, and how a replacement of a function is stored so that it stays of the same kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ClassMethodDescriptorType, MethodType
from typing import Any

from ordeal.faults.function_kinds import mark_like, passing_on

Wrap = Callable[[Any], Any]

#: Stands for an attribute that there is not.
MISSING = object()


def stored_attribute(owner: Any, attribute: str) -> tuple[bool, Any]:
    """Return whether ``owner`` itself holds the attribute, and the stored object, descriptors unbound."""
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
        return function, lambda func: _cached_property(owner, stored.attrname, func)
    if not isinstance(owner, type):
        return stored, lambda value: value
    if isinstance(stored, (functools.partialmethod, functools.singledispatchmethod)):
        return _method_of(stored), lambda value: value
    if isinstance(stored, ClassMethodDescriptorType):
        return stored, classmethod
    if isinstance(stored, MethodType) or not hasattr(type(stored), "__get__"):
        # A bound method, a C function or a class does not bind in a class body; nor may its replacement.
        return stored, lambda value: staticmethod(value) if hasattr(type(value), "__get__") else value
    return stored, lambda value: value


def _method_of(descriptor: Any) -> Any:
    """Return the method that an object gets from a descriptor which is not a function."""

    @functools.wraps(descriptor.func)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return descriptor.__get__(self, type(self))(*args, **kwargs)

    for name in ("register", "dispatcher"):
        if hasattr(descriptor, name):
            setattr(method, name, getattr(descriptor, name))
    return mark_like(descriptor.func, method)


def _cached_property(owner: Any, name: str | None, function: Any) -> functools.cached_property[Any]:
    made = functools.cached_property(function)
    made.__set_name__(owner, name or function.__name__)
    return made


def function_within(stored: Any) -> Any:
    """Return the function inside a property or another wrapper of one; any other object itself."""
    if isinstance(stored, property):
        return stored.fget
    if isinstance(stored, functools.cached_property):
        return stored.func
    return stored.__func__ if isinstance(stored, (staticmethod, classmethod)) else stored

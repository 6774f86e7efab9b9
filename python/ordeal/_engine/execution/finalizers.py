"""Recognizes finalizers that only set attributes of their own object.

A copy of an object goes away sooner than the object. If its ``__del__`` closed a file or deleted a folder, the object
would lose what it still uses. One that only notes that the object is closed does no harm.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import FunctionType, MemberDescriptorType
from typing import Any

#: What passes values on, decides, or returns.
_PASSIVE = frozenset(
    {
        "CACHE",
        "COPY_FREE_VARS",
        "COPY",
        "IS_OP",
        "JUMP_FORWARD",
        "LOAD_COMMON_CONSTANT",
        "LOAD_CONST",
        "LOAD_SMALL_INT",
        "NOP",
        "NOT_TAKEN",
        "POP_JUMP_IF_FALSE",
        "POP_JUMP_IF_NONE",
        "POP_JUMP_IF_NOT_NONE",
        "POP_JUMP_IF_TRUE",
        "POP_TOP",
        "PUSH_NULL",
        "RESUME",
        "RETURN_CONST",
        "RETURN_VALUE",
        "SWAP",
        "TO_BOOL",
        "UNARY_NOT",
    }
)
_OF_SELF = frozenset({"LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR"})
_SELF = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_HOOKS = ("__getattribute__", "__setattr__", "__delattr__")
#: What loads the method that the next call is of.
_METHODS = frozenset({"LOAD_METHOD", "LOAD_SUPER_ATTR"})


def touches_only_itself(cls: type) -> bool:
    """Return True if the ``__del__`` of a class only reads and sets attributes of its object, as its code says."""
    if any(_member(cls, hook) is not getattr(object, hook) for hook in _HOOKS) or _member(cls, "__getattr__"):
        return False
    return _is_harmless(cls, "__del__", None, 8)  # calls of methods are followed this deep


def _is_harmless(cls: type, name: str, after: type | None, depth: int) -> bool:
    """Return True if a method, found behind ``after`` in the order of classes if given, touches only its object."""
    owner = next(_owners(cls, name, after), None)
    method = vars(owner)[name] if owner is not None else None
    if not isinstance(method, FunctionType) or depth == 0 or method.__code__.co_argcount != 1:
        return False
    code = method.__code__
    before = ""
    for instruction in dis.get_instructions(code):
        kind, what = instruction.opname, instruction.argval
        if kind in _OF_SELF:
            # Of no other object, and called only if it is a method of the class.
            is_call = kind == "LOAD_ATTR" and bool((instruction.arg or 0) & 1)
            if before not in _SELF or not _is_harmless_attribute(cls, what, depth, is_call=is_call):
                return False
        elif kind == "LOAD_SUPER_ATTR":
            if not (instruction.arg or 0) & 1 or not _is_harmless(cls, what, owner, depth - 1):
                return False
        elif kind == "LOAD_GLOBAL":
            if what not in {"super", owner.__name__ if owner is not None else ""}:
                return False
        elif kind in _SELF:
            if what != code.co_varnames[0]:
                return False
        elif kind == "CALL":
            # What an attribute, a closure or a global holds may do anything. Methods are looked at as they are loaded.
            if instruction.arg or before not in _METHODS:
                return False
        elif kind == "LOAD_DEREF":
            if what != "__class__":
                return False
        elif kind not in _PASSIVE:
            return False
        before = "LOAD_METHOD" if kind == "LOAD_ATTR" and (instruction.arg or 0) & 1 else kind
    return True


def _is_harmless_attribute(cls: type, name: str, depth: int, *, is_call: bool) -> bool:
    member = _member(cls, name)
    if isinstance(member, FunctionType):
        return is_call and _is_harmless(cls, name, None, depth - 1)
    return not is_call and (isinstance(member, MemberDescriptorType) or not hasattr(type(member), "__get__"))


def _member(cls: type, name: str) -> Any:
    return next((vars(owner)[name] for owner in _owners(cls, name, None)), None)


def _owners(cls: type, name: str, after: type | None) -> Iterator[type]:
    order = cls.__mro__
    yield from (owner for owner in order[order.index(after) + 1 if after else 0 :] if name in vars(owner))

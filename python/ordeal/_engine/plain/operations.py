"""The operations that a recorder notes, and what it knows of operators, containers and builtins."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

from ordeal._engine.plain.expressions import Expression

#: Plain containers, whose content is known.
CONTAINERS = (list, tuple, dict, set, frozenset)
#: The methods that change such a container.
CHANGES = frozenset(
    {
        *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse"),
        *("setdefault", "sort", "update", "difference_update", "intersection_update", "symmetric_difference_update"),
        *("__setitem__", "__delitem__", "__iadd__", "__ior__"),
    }
)
#: Such code runs as it is, and is never written down.
_MACHINERY = ("ordeal", "hypothesis", "_pytest", "pytest", "_ordeal_pytest", "pluggy", "typing", "warnings", "logging")
#: Builtins that say nothing about the code under test.
_LOOKS = frozenset({isinstance, issubclass, callable, id, type, hasattr, hash, repr, print})


@dataclass(slots=True)
class FaultHit:
    """A call that a fault let fail: what it replaces, and the exception that it raises instead."""

    target: str
    error: Expression


@dataclass(slots=True)
class Operation:
    """One statement of the plain program.

    ``variable`` names its result; empty for a statement. ``raised`` is the exception that it raised. ``looks_only``
    marks what changes nothing, as far as one can tell, such as what an invariant does.
    """

    number: int
    expression: Expression
    variable: str = ""
    result: Any = None
    raised: BaseException | None = None
    is_target: bool = False
    looks_only: bool = False
    in_check: bool = False
    step: int = 0
    by_model: bool = False
    hits: list[FaultHit] = field(default_factory=list)
    done: bool = False


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that is compared, with the operation that gave it; None if the test has computed it."""

    value: Any
    operation: Operation | None
    is_constant: bool = False


@dataclass(slots=True)
class Decision:
    """What decided how the test went on: a comparison, a truth, or that nothing was raised.

    ``operands`` are what was compared: values, or an ``Operand`` if it is known where one comes from. ``after`` is the
    number of operations before it.
    """

    kind: str
    sign: str
    operands: tuple[Any, ...]
    outcome: bool
    after: int


def is_of_target(operation: Operation | None) -> bool:
    """Return whether the code under test gave the result of an operation."""
    return operation is not None and operation.is_target and bool(operation.variable)


def value_of(operand: Any) -> Any:
    """Return the value of an operand, or a value as it is."""
    return operand.value if type(operand) is Operand else operand


def only_looks(function: Any) -> bool:
    """Return whether a function is a builtin that changes nothing."""
    if isinstance(function, types.BuiltinFunctionType) and getattr(function, "__module__", "") == "builtins":
        return function.__name__ not in ("next", "setattr", "delattr")
    return isinstance(function, type) and is_builtin(function)


def is_ignored(function: Any) -> bool:
    """Return whether a call of the function says nothing about the code under test."""
    return isinstance(function, type | types.BuiltinFunctionType) and function in _LOOKS


def is_builtin(kind: type) -> bool:
    """Return whether a class is one of Python's own."""
    return kind.__module__ == "builtins"


def is_machinery(value: Any) -> bool:
    """Return whether a function, class or module belongs to what runs tests."""
    owner = getattr(value, "__self__", None)
    home = owner if isinstance(owner, types.ModuleType | type) else type(owner) if owner is not None else value
    name = home.__name__ if isinstance(home, types.ModuleType) else getattr(home, "__module__", "")
    return str(name).partition(".")[0] in _MACHINERY


def bracketed(text: str) -> str:
    """Return an expression as what an attribute can follow."""
    return f"({text})" if text[:1].isdigit() or (" " in text and text[:1] not in "([{'\"") else text


def subscript(text: str) -> str:
    """Return an index without the word ``slice`` where a colon says the same."""
    if not text.startswith("slice(") or not text.endswith(")"):
        return text
    parts = text[6:-1].split(", ")
    if len(parts) != 3:
        return text
    start, stop, step = ("" if part == "None" else part for part in parts)
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"

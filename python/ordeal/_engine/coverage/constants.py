"""Finds the constants in the source of the targets: values that a program treats specially."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from typing import Any

from ordeal._engine.coverage.targets import Target

#: Longer texts and bytes are messages and tables, which are seldom compared with values.
LENGTH_MAX = 32
INTEGER_BITS_MAX = 1024

Constant = int | float | str | bytes


def find_constants(targets: Sequence[Target]) -> list[Constant]:
    """Return the distinct numbers, texts and bytes in the source of ``targets``, in the order of files and lines.

    Constant expressions (powers, sums and the like) count as their values. Docstrings, messages of exceptions, parts of
    f-strings and ``__all__`` do not count. A file that is not valid Python has none.
    """
    found: dict[tuple[type, Constant], None] = {}
    for path in sorted({source.path for target in targets for source in target.sources()}):
        for value in _constants_of(path):
            found.setdefault((type(value), value))
    return [value for _, value in found]


def _constants_of(path: str) -> Iterator[Constant]:
    try:
        with tokenize.open(path) as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return
    yield from _below(tree)


def _below(node: ast.AST) -> Iterator[Constant]:
    if isinstance(node, ast.expr):
        value = _folded(node)
        if value is not None:
            yield from _kept(value)
            return
    for child in ast.iter_child_nodes(node):
        if not _is_talk(node, child):
            yield from _below(child)


def _is_talk(node: ast.AST, child: ast.AST) -> bool:
    """Return whether ``child`` is text for people, or names of the program."""
    if isinstance(node, ast.Expr):
        return isinstance(child, ast.Constant)
    if isinstance(node, ast.Raise) or isinstance(child, ast.JoinedStr | ast.alias):
        return True
    if isinstance(node, ast.Assert):
        return child is node.msg
    names = {"__all__", "__slots__"}
    return isinstance(child, ast.Assign) and any(isinstance(t, ast.Name) and t.id in names for t in child.targets)


def _folded(node: ast.expr) -> object:
    """Return the value of a constant expression, else None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd | ast.Invert):
        parts = [node.operand]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift | ast.Sub | ast.Add | ast.Mult):
        parts = [node.left, node.right]
    else:
        return None
    values = [_folded(part) for part in parts]
    if not all(type(value) in {int, float} for value in values):
        return None
    return _computed(node, values)


def _computed(node: ast.UnaryOp | ast.BinOp, values: list[Any]) -> object:
    if isinstance(node, ast.UnaryOp):
        value = values[0]
        if isinstance(node.op, ast.Invert):
            return ~value if type(value) is int else None
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node.op, ast.Pow | ast.LShift) and not all(
        type(value) is int and 0 <= value <= INTEGER_BITS_MAX for value in values
    ):
        return None  # may be too large to compute
    try:
        return _applied(node.op, *values)
    except OverflowError:
        return None  # an integer that no float can hold, with a float


def _applied(op: ast.operator, left: Any, right: Any) -> object:
    match op:
        case ast.Pow():
            return left**right
        case ast.LShift():
            return left << right
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case _:
            return left * right


def _kept(value: object) -> Iterator[Constant]:
    kind = type(value)
    if isinstance(value, int):
        is_kept = kind is int and value.bit_length() <= INTEGER_BITS_MAX
    elif isinstance(value, str | bytes):
        is_kept = 0 < len(value) <= LENGTH_MAX
    else:
        is_kept = kind is float
    if is_kept:
        yield value  # type: ignore[misc]

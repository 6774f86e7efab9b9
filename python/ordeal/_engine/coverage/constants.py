"""Finds the constants in the source of the targets: values that a program treats specially."""

from __future__ import annotations

import ast
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import ordeal._native as _native
from ordeal._engine.coverage.targets import Target

#: Longer texts and bytes are messages and tables, which are seldom compared with values.
LENGTH_MAX = 32
INTEGER_BITS_MAX = 1024
#: How much source is read at a time: some hundredths of a second.
BATCH_CHARS = 1 << 18
#: An expression with more characters than this has no value that is kept, unless every character is escaped.
_EXPRESSION_CHARS_MAX = 16 * LENGTH_MAX

Constant = int | float | str | bytes


def find_constants(targets: Sequence[Target]) -> list[Constant]:
    """Return the distinct numbers, texts and bytes in the source of ``targets``, in the order of files and lines.

    Constant expressions (powers, sums and the like) count as their values. Docstrings, messages of exceptions, parts of
    f-strings and ``__all__`` do not count. A file that is not valid Python may have any.
    """
    return [value for batch in constants_in_batches(targets) for value in batch]


def constants_in_batches(targets: Sequence[Target]) -> Iterator[list[Constant]]:
    """Yield the constants as ``find_constants`` returns them, those of some source files at a time, if there are any.

    What a batch is depends on the source alone.
    """
    expressions: set[str] = set()
    found: set[tuple[type, Constant]] = set()
    batch: list[Constant] = []
    chars = 0
    for path in sorted({source.path for target in targets for source in target.sources()}):
        text = _text_of(path)
        if chars and chars + len(text) > BATCH_CHARS:
            yield batch
            batch, chars = [], 0
        chars += len(text)
        new = [each for each in _native.constant_expressions(text) if each not in expressions]
        expressions.update(new)
        for value in _values_of(new):
            if (type(value), value) not in found:
                found.add((type(value), value))
                batch.append(value)
    if batch:
        yield batch


def _text_of(path: str) -> str:
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return ""


def _values_of(expressions: Sequence[str]) -> list[Constant]:
    asked = [expression for expression in expressions if len(expression) <= _EXPRESSION_CHARS_MAX]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shown at import already
        nodes = _parsed_together(asked)
        if nodes is None:
            nodes = [node for expression in asked for node in _parsed_together([expression]) or []]
    values: list[Constant] = []
    for node in nodes:
        with suppress(ValueError, RecursionError, MemoryError):
            values += _below(node)
    return values


def _parsed_together(expressions: Sequence[str]) -> list[ast.expr] | None:
    """Return the expressions as one call of the parser reads them, which costs a fifth of one call for each.

    None if one is invalid, or reaches into another.
    """
    together = "".join(f"({expression}\n)," for expression in expressions)
    try:
        body = ast.parse(f"[{together}]", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assert isinstance(body, ast.List)
    return body.elts if len(body.elts) == len(expressions) else None


def _below(node: ast.AST) -> Iterator[Constant]:
    if isinstance(node, ast.expr):
        value = _folded(node)
        if value is not None:
            yield from _kept(value)
            return
    for child in ast.iter_child_nodes(node):
        yield from _below(child)


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

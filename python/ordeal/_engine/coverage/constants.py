"""Finds the constants in the source of the targets: values that a program treats specially."""

from __future__ import annotations

import ast
import hashlib
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ordeal._base.limits import INTEGER_BITS_MAX
from ordeal._base.regular_file import source_text
from ordeal._engine.coverage.targets import Target

#: Longer texts and bytes are messages and tables, which are seldom compared with values.
LENGTH_MAX = 32

Constant = int | float | str | bytes

# By a digest of the source, for later searches of this process.
_KNOWN: dict[bytes, list[Constant]] = {}


class SourceConstants:
    """The distinct numbers, texts and bytes in the source of ``targets``, file by file, in the order of their syntax.

    Constant expressions (powers, sums and the like) count as their values. Docstrings, what is raised, messages of
    assertions, f-strings, ``__all__`` and ``__slots__`` do not count. A file that is not valid Python has none.
    """

    def __init__(self, targets: Sequence[Target], read_before: int = 0) -> None:
        paths = sorted({source.path for target in targets for source in target.sources()})
        self._left = paths[max(read_before, 0) :][::-1]
        self._text: str | None = None  # of the next file
        self._found: set[tuple[type, Constant]] = set()

    def next_chars(self) -> int | None:
        """Return the length of the next file; None after the last one."""
        if self._text is None and self._left:
            self._text = ""
            with suppress(OSError, SyntaxError, ValueError):
                self._text = source_text(self._left.pop())
        return None if self._text is None else len(self._text)

    def read(self) -> list[Constant]:
        """Return the constants of the next file that no earlier one has."""
        self.next_chars()
        text, self._text = self._text or "", None
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest not in _KNOWN:
            _KNOWN[digest] = []
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # shown at import already
                _KNOWN[digest] = list(_below(ast.parse(text)))
        batch = dict.fromkeys((type(value), value) for value in _KNOWN[digest])
        new = [value for kind, value in batch if (kind, value) not in self._found]
        self._found |= batch.keys()
        return new


def _below(tree: ast.AST) -> Iterator[Constant]:
    """Yield the constants in the order of the source, except those that no input is compared with."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.JoinedStr():
                continue
            case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
                continue
            case ast.Assert():
                left.append(node.test)
                continue
            case ast.Constant() | ast.UnaryOp() | ast.BinOp():
                value = None
                with suppress(OverflowError, RecursionError):  # a float that is too large, a deep expression
                    value = _folded(node)
                if value is not None:
                    kind = type(value)
                    if kind is int:
                        is_kept = value.bit_length() <= INTEGER_BITS_MAX
                    else:
                        is_kept = kind is float or (kind in (str, bytes) and 0 < len(value) <= LENGTH_MAX)
                    if is_kept:
                        yield value
                    continue
        left.extend(reversed(list(ast.iter_child_nodes(node))))


_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


def _folded(node: ast.expr) -> Any:
    """Return the value of a constant, or of an operation on numbers; None for all else, and for what is too large."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=op) if isinstance(op, ast.Invert) or type(op) in _UNARY:
            value = _folded(node.operand)
            if isinstance(op, ast.Invert):
                return ~value if type(value) is int else None
            return _UNARY[type(op)](value) if type(value) in (int, float) else None
        case ast.BinOp(op=op) if type(op) in _BINARY:
            values = [_folded(node.left), _folded(node.right)]
            kinds = {type(value) for value in values}
            if isinstance(op, ast.Pow | ast.LShift):
                can = kinds == {int} and all(0 <= value <= INTEGER_BITS_MAX for value in values)
            else:
                can = kinds <= {int, float}
            return _BINARY[type(op)](*values) if can else None
    return None

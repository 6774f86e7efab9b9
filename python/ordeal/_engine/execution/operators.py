"""The operators of Python: how a source writes them, and what they do.

They are bound when the engine is imported, so that a program under test may replace what it likes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

#: How a source writes each operator, and the name of its function in ``operator``.
_BINARY = (
    *(("+", ast.Add, "add"), ("-", ast.Sub, "sub"), ("*", ast.Mult, "mul"), ("/", ast.Div, "truediv")),
    *(("//", ast.FloorDiv, "floordiv"), ("%", ast.Mod, "mod"), ("**", ast.Pow, "pow"), ("@", ast.MatMult, "matmul")),
    *(("<<", ast.LShift, "lshift"), (">>", ast.RShift, "rshift")),
    *(("|", ast.BitOr, "or_"), ("&", ast.BitAnd, "and_"), ("^", ast.BitXor, "xor")),
)
_UNARY = ("-", ast.USub, operator.neg), ("+", ast.UAdd, operator.pos), ("~", ast.Invert, operator.invert)
_COMPARED: tuple[tuple[str, type[ast.AST], Callable[[Any, Any], Any]], ...] = (
    *(("==", ast.Eq, operator.eq), ("!=", ast.NotEq, operator.ne), ("<", ast.Lt, operator.lt)),
    *(("<=", ast.LtE, operator.le), (">", ast.Gt, operator.gt), (">=", ast.GtE, operator.ge)),
    *(("is", ast.Is, operator.is_), ("is not", ast.IsNot, operator.is_not)),
    ("in", ast.In, lambda one, other: one in other),
    ("not in", ast.NotIn, lambda one, other: one not in other),
)

SIGNS: dict[type[ast.AST], str] = {kind: sign for sign, kind, _ in (*_BINARY, *_UNARY, *_COMPARED)}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {sign: getattr(operator, name) for sign, _, name in _BINARY}
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    sign: getattr(operator, f"i{name.rstrip('_')}") for sign, _, name in _BINARY
}
COMPARED: dict[str, Callable[[Any, Any], Any]] = {sign: compare for sign, _, compare in _COMPARED}
UNARY: dict[str, Callable[[Any], Any]] = {sign: apply for sign, _, apply in _UNARY}

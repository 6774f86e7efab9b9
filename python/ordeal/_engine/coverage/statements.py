"""Names what a statement holds."""

from __future__ import annotations

import ast

Block = ast.stmt | ast.ExceptHandler | ast.match_case

_PARTS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})


def statements_in(node: ast.AST) -> list[Block]:
    """Return the statements that one holds, or a module, with the handlers and cases around them, but no expression."""
    return [child for part in node._fields if part in _PARTS for child in getattr(node, part)]

"""The statements that a statement holds."""

from __future__ import annotations

import ast

import pytest

from ordeal._engine.coverage.statements import statements_in


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x = [y for y in z]", []),
        ("def f(): return lambda: 0", [ast.Return]),
        ("if a:\n b\nelif c:\n d", [ast.Expr, ast.If]),
        ("for a in b: pass\nelse: c = 1", [ast.Pass, ast.Assign]),
        ("try: a\nexcept E: pass\nelse: b = 1\nfinally: pass", [ast.Expr, ast.ExceptHandler, ast.Assign, ast.Pass]),
        ("match a:\n case 1: pass\n case _: pass", [ast.match_case, ast.match_case]),
    ],
)
def test_a_statement_holds_other_statements_and_no_expression(text: str, kinds: list[type[ast.AST]]) -> None:
    module = ast.parse(text)
    (statement,) = statements_in(module)
    assert [type(each) for each in statements_in(statement)] == kinds

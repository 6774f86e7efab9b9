"""Statements are laid out as ruff does it."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal._engine.export.code_layout import lay_out, quoted

LONG = ", ".join(str(10**9 + i) for i in range(12))
STATEMENTS = [
    "f()",
    "x = f()",
    "machine.go(a=1, b='x')",
    f"machine.go(values=[{LONG}], more=({LONG}), both={{{LONG}}})",
    f"machine.go(one={'1' * 40}, two={'2' * 40})",
    f"machine.go(one={'1' * 40}, two={'2' * 40}, three={'3' * 40})",
    f"made = list(machine.go(one={'1' * 40}, two={'2' * 40}, three={'3' * 40}))",
    f"machine.run_coroutine(machine.go(one=[{LONG}]))",
    f"machine.go(text='{'t' * 120}')",
    f"machine.go(d={{'{'k' * 90}': (1,), 'b': [{LONG}]}})",
    f"machine.go(d={{'{'k' * 50}': {{'{'v' * 50}': 1}}}})",
    f"machine.go(d={{(159, '{'k' * 60}'): [{LONG}], ({LONG}): {{}}, frozenset({{'{'k' * 70}'}}): '{'v' * 20}'}})",
    f"machine.go(d={{((1, '{'k' * 80}'), ()): shelf.Box(a=[{LONG}]), ('{'k' * 70}',): shelf.Box(a=1)}})",
    f"machine.go(t=(({LONG}),), u=[[[]], [{{}}], ()])",
    "x = machine.go(a=float('nan'), b=-float('inf'), c=-0.0, d=1e+300, e=..., f=None, g=b'\\x00\"')",
    f"machine.go(when=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), box=shelf.Box(a=[{LONG}]))",
    "machine.go(x=made_by_step_1[2], y=[a_0, b_0])",
    f"machine.go(s=frozenset({{{LONG}}}))",
    f"machine.go(n={hex(10**400)})",
    f"machine.go(text='{'漢' * 30}', more=1)",
    f"machine.go(text='{'漢' * 34}', more=1)",
    f"machine.go(text='{'e\u0301' * 50}', more=1)",
    f"machine.go(n=-{hex(10**400)})",
]


def ruff(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def test_ruff_has_nothing_to_change() -> None:
    lines = [line for statement in STATEMENTS for line in lay_out(statement, 2)]
    source = "\n".join(["def test():", "    if True:", *lines]) + "\n"
    assert ruff(source) == source


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_statement_means_the_same(statement: str) -> None:
    laid_out = "\n".join(lay_out(statement, 0))
    assert ast.dump(ast.parse(laid_out)) == ast.dump(ast.parse(statement))


@pytest.mark.parametrize("statement", ["return 1", "f(*a)", "f(x for x in y)", "f(a + b)"])
def test_what_no_test_writes_is_refused(statement: str) -> None:
    with pytest.raises((TypeError, SyntaxError)):
        lay_out(statement, 0)


@given(st.text() | st.binary() | st.text("'\"\\a") | st.text(st.characters(categories=["Cs", "Cc"])))
def test_quoted_text_comes_back(value: Any) -> None:
    source = quoted(value)
    assert ast.literal_eval(source) == value

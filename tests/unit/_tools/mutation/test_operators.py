"""What each operator makes of a line."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.mutation.mutants import Mutant, mutants_of
from ordeal._tools.mutation.source import Source


def source_of(text: str) -> Source:
    return Source(Path("shop.py"), "shop.py", dedent(text).encode())


def made(operator: str, text: str) -> list[str]:
    """The lines that mutants change, as they then are."""
    source = source_of(text)
    return [changed_line(source, each) for each in mutants_of(source, [operator])]


def changed_line(source: Source, mutant: Mutant) -> str:
    return mutant.applied(source.text).decode().split("\n")[mutant.line - 1].strip()


@pytest.mark.parametrize(
    ("operator", "text", "expected"),
    [
        ("arithmetic", "x = a + b", ["x = a - b"]),
        ("arithmetic", "x //= 2", ["x /= 2"]),
        ("arithmetic", "x = '%s' % a", []),
        ("comparison", "x = a < b <= c", ["x = a <= b <= c", "x = a >= b <= c", "x = a < b < c", "x = a < b > c"]),
        ("comparison", "x = a  is  not b", ["x = a  is b"]),
        ("comparison", "x = a in b", ["x = a not in b"]),
        ("negate", "if a: b()", ["if not a: b()"]),
        ("negate", "while a == 1 and(b):\n    pass", ["while not (a == 1 and(b)):"]),
        ("boundary", "x = 0xFF", ["x = 0x100", "x = 0xfe"]),
        ("return_none", "def f():\n    return 1", ["return None"]),
        ("return_none", "def f():\n    return None", []),
        ("return_none", "def f():\n    return False", ["return True"]),
        ("boundary", "x = 5", ["x = 6", "x = 4"]),
        ("boundary", "x = y[0]", ["x = y[1]"]),
        ("constant", "x = True", ["x = False"]),
        ("logical", "x = a and b and c", ["x = a or b and c", "x = a and b or c"]),
        ("delete_statement", "a()\nx = 1", ["pass", "pass"]),
        ("remove_not", "x = not a", ["x = (a)"]),
        ("unary_negate", "x = -a", ["x = (+a)"]),
        ("break_continue_swap", "for a in b:\n    break", ["continue"]),
        ("exception_swallow", "try: a()\nexcept E: b()", ["except E: pass"]),
        ("except_nothing", "try: a()\nexcept (E) as e: b()", ["except (): b()"]),
        ("argument_none", "f(a, *b)", ["f(None, *b)"]),
        ("string", "x = 'a'\ny = ''", ["x = ''", "y = 'ordeal'"]),
        ("argument_swap", "f(a, b, c)\ng(a, a)\nh(*a, b)", ["f(b, a, c)"]),
        (
            "filter_drop",
            "x = [a for a in b if a if c]",
            ["x = [a for a in b if True if c]", "x = [a for a in b if a if True]"],
        ),
        ("slice_drop", "x = a[b:c]\ny = a[b]", ["x = a[:c]", "x = a[b:]"]),
        ("method_swap", "x = a.lower()\ny = min(a)\nz = lower", ["x = a.upper()", "y = max(a)"]),
        (
            "default_none",
            "def f(a, b=1, *, c=None, d=e): return a",
            ["def f(a, b=None, *, c=None, d=e): return a", "def f(a, b=1, *, c=None, d=None): return a"],
        ),
        ("except_widen", "try: a()\nexcept (E, F) as e: b()", ["except Exception as e: b()"]),
        ("except_widen", "try: a()\nexcept Exception: b()", []),
        ("finally_drop", "try: a()\nfinally:\n    b()\n    c()", ["(None"]),
        ("finally_drop", "try: a()\nfinally: b()", ["finally: pass"]),
        (
            "with_unwrap",
            "with a as b, c: d()",
            [
                "with __import__('contextlib').nullcontext(a) as b, c: d()",
                "with a as b, __import__('contextlib').nullcontext(c): d()",
            ],
        ),
        (
            "match_case_drop",
            "match a:\n    case (1): b()\n    case 2 if c: d()\n    case _: e()",
            ["case (1) if False: b()", "case 2 if False: d()", "case _ if False: e()"],
        ),
        ("decorator_remove", "@ a\n@b(c)\ndef f(): return 1", ["", ""]),
        ("fstring", "x = f'{a} b'\nassert f'{a}'\ny = f'{a:{b}}'", ["x = ''", "y = ''"]),
        ("body_none", "def f():\n    'doc'\n    return 1", ["return None"]),
        ("body_value", "def f() -> int:\n    'doc'\n    return 2", ["return 0", "return 1"]),
        ("body_value", "def f(a):\n    return 2", []),
        ("body_value", "def f(a) -> dict[str, int]: return a", ["def f(a) -> dict[str, int]: return {}"]),
        ("body_value", "def f(a):\n    yield a\n    return 1", []),
    ],
)
def test_each_operator_changes_one_place(operator: str, text: str, expected: list[str]) -> None:
    assert made(operator, text) == expected


@pytest.mark.parametrize(
    ("operator", "text"),
    [
        ("string", "raise Wrong('no such item')"),
        ("fstring", "raise Wrong(f'no such item {a}')"),
        ("string", "def __repr__(self):\n    return 'Item'"),
        ("default_none", "@overload\ndef f(a=3): return a"),
    ],
)
def test_what_nobody_tests_is_left_alone(operator: str, text: str) -> None:
    assert made(operator, text) == []

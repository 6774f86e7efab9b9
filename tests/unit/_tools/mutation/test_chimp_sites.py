"""What Chaos Chimp breaks, node by node."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.chimp_sites import sites
from ordeal._tools.mutation.source import Source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a + b", ["x = a + b", "a + b"]),
        ("x: int\ny: int = 1", ["y: int = 1"]),
        ("'doc'\nf(a)", ["f(a)"]),
        ("def f():\n    'doc'\n    return a < b", ["def f():\n    'doc'\n    return a < b", "a < b"]),
        ("return_ = [f'{a + b}', {1: 2}, (1,)]", ["return_ = [f'{a + b}', {1: 2}, (1,)]"]),
        ("for a in b: break", ["for a in b: break"]),
        ("try: pass\nexcept E: pass", ["try: pass\nexcept E: pass", "except E:"]),
        ("import a\nglobal b", ["import a", "global b"]),
        ("del a\npass", []),
        ("f(-a, not b)", ["f(-a, not b)", "-a", "not b"]),
        ("if (x := f()): pass", ["if (x := f()): pass", "x := f()"]),
        # All children of a node come before what is inside of the first.
        ("if a: b = c + d\nelse: e = f", ["if a: b = c + d\nelse: e = f", "b = c + d", "e = f", "c + d"]),
    ],
)
def test_the_table(text: str, expected: list[str]) -> None:
    source = Source(Path("a.py"), "a.py", text.encode())
    assert [source.part(change.span) for change in sites(source)] == expected

"""Which lines cover a mutant."""

from __future__ import annotations

from pathlib import Path

from ordeal._tools.mutation.judging.own_lines import OwnLines
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source

SOURCE = Source(
    Path("a.py"),
    "a.py",
    b"def f(a):\n    b = (\n        a\n        + 1\n    )\n    for c in b: d = c + 2\n    global e\n",
)


def test_the_lines_of_its_statement_that_have_code() -> None:
    found = OwnLines({"a.py": SOURCE})
    assert [found.of(each) for each in mutants_of(SOURCE, ["arithmetic"])] == [{2, 3, 4}, {6}]


def test_all_of_its_function_where_none_has() -> None:
    (mutant,) = [each for each in mutants_of(SOURCE, ["chimp"]) if each.original == "global e"]
    assert OwnLines({"a.py": SOURCE}).of(mutant) == {1, 2, 3, 4, 6}

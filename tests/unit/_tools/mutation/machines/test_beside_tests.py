"""Who notices what, where tests and machines judge the same mutants."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.machines.beside_tests import together, who_notices
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict, Word


def test_who_notices_what_is_counted_once() -> None:
    by_tests: dict[str, Word] = {"a": "killed", "b": "timeout", "c": "survived", "d": "uncovered", "e": "not run"}
    by_machines: dict[str, Word] = {"a": "killed", "b": "not run", "c": "crash", "d": "survived"}
    found = who_notices(by_tests, by_machines)
    assert found == {"both": ["a"], "only tests": ["b"], "only machines": ["c"], "nobody": ["d"]}


@pytest.mark.parametrize(
    ("tests", "machines", "expected"),
    [
        ("survived", "killed", "killed"),
        ("killed", "survived", "killed"),
        ("uncovered", "survived", "survived"),
        ("not run", "uncovered", "uncovered"),
        ("not run", "not run", "not run"),
        ("uncovered", "not run", "uncovered"),
    ],
)
def test_one_verdict_comes_of_two(tmp_path: Path, tests: Word, machines: Word, expected: Word) -> None:
    path = tmp_path / "shop.py"
    path.write_text("def total(a):\n    return a + 1\n")
    (mutant,) = mutants_of(Source.of(path, "shop.py"), ["arithmetic"])
    (verdict,) = together([Verdict(mutant, tests)], [Verdict(mutant, machines, route="machine")])
    assert verdict.word == expected

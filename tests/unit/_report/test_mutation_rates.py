"""The rates of operators and functions, as text, as values and as tables."""

from __future__ import annotations

from pathlib import Path

from ordeal._report.mutation_rates import rate_tables, rates_json, rates_text
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

TEXT = b"def f(a):\n    return a < 1\n\ndef g(a):\n    return a + 2\n"


def verdicts() -> list[Verdict]:
    mutants = mutants_of(Source(Path("a b.py"), "a b.py", TEXT), ["comparison", "arithmetic", "boundary"])
    return [
        Verdict(each, "survived" if each.operator == "boundary" and each.name == "f" else "killed") for each in mutants
    ]


def test_the_weakest_rows_are_shown_and_whole_functions_are_counted() -> None:
    assert rates_text(verdicts()).splitlines() == [
        "operator    mutants  noticed   score",
        "boundary          4        2   50.0 %",
        "arithmetic        1        1  100.0 %",
        "comparison        2        2  100.0 %",
        "",
        "function  mutants  noticed   score",
        "a b.py f        4        2   50.0 %",
        "each mutant is noticed in 1 function of 2",
    ]
    assert rates_text([]) == "operator  mutants  noticed   score\n"


def test_values_and_tables_have_all_functions() -> None:
    found = rates_json(verdicts())
    assert [(each["file"], each["name"], each["percent"]) for each in found["functions"]] == [
        ("a b.py", "f", 50.0),
        ("a b.py", "g", 100.0),
    ]
    assert found["operators"][0]["operator"] == "boundary"
    assert [len(each["rows"]) for each in rate_tables(verdicts())] == [3, 2]

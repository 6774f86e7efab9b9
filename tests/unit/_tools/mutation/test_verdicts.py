"""The score, and which survivors are shown."""

from __future__ import annotations

from pathlib import Path

from ordeal._report.mutation import mutation_text
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import BODY_OPERATORS
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import (
    Score,
    Verdict,
    Word,
    functions_of,
    inside,
    rates,
    weakest_first,
)

MUTANT, *OTHERS = mutants_of(Source(Path("a.py"), "a.py", b"x = 1\ny = 2\n"), ["boundary"])


def score(*words: Word) -> Score:
    return Score.of(Verdict(MUTANT, word) for word in words)


def test_what_is_detected_and_what_is_covered() -> None:
    found = score("killed", "timeout", "survived", "uncovered")
    assert (found.percent, found.covered_percent) == (50.0, 66.6)


def test_what_assertions_noticed_has_a_share_of_its_own() -> None:
    found = Score.of([Verdict(MUTANT, "killed", asserted=True), Verdict(MUTANT, "killed"), Verdict(MUTANT, "survived")])
    assert (found.percent, found.asserted_percent) == (66.6, 33.3)


def test_without_mutants_there_is_no_score() -> None:
    assert score().percent is None
    assert score("not run").percent is None


def test_what_was_not_judged_widens_the_range_and_not_the_score() -> None:
    found = score("killed", "not run")
    assert (found.percent, found.range) == (100.0, (50.0, 100.0))


def test_one_survivor_of_a_line_is_shown() -> None:
    verdicts = [Verdict(mutant, "survived") for mutant in (MUTANT, *OTHERS)]
    assert [each.mutant.line for each in weakest_first(verdicts)] == [1, 2]
    assert weakest_first(verdicts + verdicts, every=True) == verdicts + verdicts


def test_survivors_within_a_statement_that_survived_are_counted_and_not_shown() -> None:
    text = b"def f(a):\n    a.b(\n        1 + 2)\n    return a\n"
    mutants = mutants_of(Source(Path("a.py"), "a.py", text), ["arithmetic", "delete_statement", "boundary"])
    verdicts = [Verdict(mutant, "survived") for mutant in mutants]
    outer = next(each for each in mutants if each.operator == "delete_statement")
    assert [each.mutant for each in weakest_first(verdicts)] == [outer]
    assert {name: len(found) for name, found in inside(verdicts).items()} == {outer.id: len(mutants) - 1}
    assert weakest_first(verdicts, every=True) == verdicts


def test_rates_begin_with_the_weakest() -> None:
    words: list[tuple[Word, str]] = [
        ("killed", "a"),
        ("survived", "b"),
        ("killed", "c"),
        ("survived", "c"),
        ("dead", "d"),
    ]
    verdicts = [Verdict(MUTANT, word, note) for word, note in words]
    found = rates(verdicts, lambda verdict: verdict.killer)
    assert [(name, score.percent) for name, score in found] == [("b", 0.0), ("c", 50.0), ("a", 100.0), ("d", None)]


def test_a_sample_says_where_the_score_of_all_lies() -> None:
    found = Score(detected=80, undetected=20, uncovered=0, not_run=0)
    assert found.interval(100) is None
    assert found.interval(1_000_000) == (71.1, 86.7)
    assert found.interval(200) == (73.9, 85.0)
    assert score().interval(10) is None


TEXT = b"""
def total(prices) -> int:
    return sum(prices)


def is_big(n) -> bool:
    return n > 9


def log(text):
    print(text)
"""
SOURCE = Source(Path("shop.py"), "shop.py", TEXT)
MUTANTS = mutants_of(SOURCE, BODY_OPERATORS)


def judged(*words: Word) -> list[Verdict]:
    return [Verdict(mutant, word, tests=2) for mutant, word in zip(MUTANTS, words, strict=True)]


def test_each_function_gets_the_bodies_of_its_type() -> None:
    assert [each.replacement for each in MUTANTS] == [
        *("return None", "return 0", "return 1"),
        *("return None", "return True", "return False"),
        "return None",
    ]


def test_a_function_is_as_tested_as_its_bodies_are_noticed() -> None:
    verdicts = judged("killed", "killed", "survived", "killed", "timeout", "killed", "survived")
    found = functions_of([SOURCE], verdicts)
    assert [(each.name, each.word) for each in found] == [
        *(("total", "partially tested"), ("is_big", "tested"), ("log", "pseudo-tested"))
    ]
    text = mutation_text([SOURCE], Judgement(verdicts))
    assert "PARTIALLY TESTED  shop.py:3  total  nobody notices `return 1` in its place\n" in text
    assert "PSEUDO-TESTED     shop.py:11  log  2 tests ran it, and none needs what it does\n" in text
    assert "3 functions  tested 1  partially tested 1  pseudo-tested 1\n" in text


def test_what_no_test_runs_is_not_covered_and_what_was_judged_in_part_has_no_word() -> None:
    verdicts = judged("uncovered", "uncovered", "uncovered", "survived", "survived", "not run", "survived")
    assert [(each.name, each.word) for each in functions_of([SOURCE], verdicts)] == [
        *(("total", "not covered"), ("log", "pseudo-tested"))
    ]

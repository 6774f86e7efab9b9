"""The words for functions whose whole bodies are exchanged."""

from __future__ import annotations

from pathlib import Path

from ordeal._report.mutation import mutation_text
from ordeal._tools.mutation.extreme import functions_of
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import BODY_OPERATORS
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict, Word

TEXT = b"""
def total(prices) -> int:
    return sum(prices)


def is_big(n):
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

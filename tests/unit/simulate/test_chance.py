"""The chance of a simulation depends on its seed and on what was drawn before, and on nothing else."""

from __future__ import annotations

import copy
import random

import pytest

from ordeal._base.buggify_state import enter_run, leave_run
from ordeal.simulate.chance import Chance


class Answers:
    """Decides all alike, and counts."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked = 0

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        assert (probability, is_point) == (0.5, True)
        self.asked += 1
        return self.answer


def numbers(chance: Chance, count: int = 20) -> list[int]:
    return [chance.up_to(1000) for _ in range(count)]


def test_a_seed_decides_all() -> None:
    drawn = numbers(Chance(1))
    random.random()
    assert numbers(Chance(1)) == drawn
    assert numbers(Chance(2)) != drawn
    assert len(set(drawn)) > 10


@pytest.mark.parametrize("most", [0, 1, 2, 7, 8])
def test_a_number_keeps_its_range_and_has_both_ends(most: int) -> None:
    chance = Chance(5)
    assert {chance.up_to(most) for _ in range(400)} == set(range(most + 1))


def test_contents_have_their_size_and_differ() -> None:
    chance = Chance(1)
    first, second = chance.content(40), chance.content(40)
    assert len(first) == len(second) == 40
    assert first != second
    assert chance.content(0) == b""


def test_a_copy_goes_on_alike_and_on_its_own() -> None:
    chance = Chance(3)
    numbers(chance)
    copied = copy.deepcopy(chance)
    assert numbers(copied) == numbers(chance)


def test_in_a_run_the_run_decides() -> None:
    for answer, expected in ((False, 0), (True, 7)):
        answers = Answers(answer)
        before = enter_run(answers, 0.1)
        try:
            assert Chance(1).up_to(7) == expected
            assert answers.asked == 3, "a decision for each bit"
        finally:
            leave_run(before)


def test_a_content_takes_as_many_decisions_whatever_its_size() -> None:
    answers = Answers(False)
    before = enter_run(answers, 0.1)
    try:
        Chance(1).content(1)
        Chance(1).content(10_000)
    finally:
        leave_run(before)
    assert answers.asked == 32

"""Limits: on which calls a fault acts, and that chance decides the same again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import MultiPatchFault, PatchFault, io, randomness, timing

from ..samples.shop import shop_app

CHARGE = "shop_app.api.charge"


@pytest.fixture
def api() -> Iterator[Any]:
    with shop_app() as modules:
        yield modules.api


def acted(api: Any, fault: MultiPatchFault, calls: int) -> list[int]:
    """The numbers of those calls, from 1, that were answered with None."""
    with fault:
        return [number for number in range(1, calls + 1) if api.charge(number) is None]


@pytest.mark.parametrize(
    ("calls", "numbers"),
    [((1, 1), [1]), ((2, 3), [2, 3]), ((4, None), [4, 5, 6]), ((7, 9), []), (None, [*range(1, 7)])],
)
def test_a_window_of_calls(api: Any, calls: Any, numbers: list[int]) -> None:
    fault = io.return_empty(CHARGE).limited(calls=calls)
    assert acted(api, fault, 6) == numbers
    assert fault.observation_hits == 6
    fault.reset()
    assert acted(api, fault, 6) == numbers


def test_a_window_goes_on_over_switching_and_resuming(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(calls=(3, 4))
    assert acted(api, fault, 2) == []
    assert acted(api, fault, 2) == [1, 2]
    fault.resume(3)
    assert acted(api, fault, 2) == [1]


def test_a_probability_is_met_about_as_often_and_the_same_in_every_run(api: Any) -> None:
    fault = io.return_empty(CHARGE).limited(probability=0.25)
    fault.reset()
    first = acted(api, fault, 400)
    assert 60 < len(first) < 140
    fault.reset()
    assert acted(api, fault, 400) == first


def test_a_given_source_decides(api: Any) -> None:
    expected, source = random.Random(5), random.Random(5)
    before = randomness.set_random(source)
    try:
        numbers = acted(api, io.return_empty(CHARGE).limited(probability=0.5), 20)
    finally:
        randomness.set_random(before)
    assert numbers == [number for number in range(1, 21) if expected.random() < 0.5]


def test_chance_is_asked_inside_the_window_only(api: Any) -> None:
    source = random.Random(5)
    before = randomness.set_random(source)
    try:
        acted(api, io.return_empty(CHARGE).limited(probability=0.5, calls=(3, 4)), 20)
    finally:
        randomness.set_random(before)
    expected = random.Random(5)
    assert [expected.random(), expected.random(), expected.random()][2] == source.random()


@pytest.mark.parametrize(("probability", "count"), [(0, 0), (0.0, 0), (1, 5), (1.0, 5), (None, 5)])
def test_never_and_always(api: Any, probability: Any, count: int) -> None:
    assert len(acted(api, io.return_empty(CHARGE).limited(probability=probability), 5)) == count


@pytest.mark.parametrize(
    ("limits", "suffix"),
    [
        ({}, ""),
        ({"probability": 0.1}, "[p=0.1]"),
        ({"calls": (2, 5)}, "[calls 2..5]"),
        ({"calls": (2, None)}, "[calls 2..]"),
        ({"calls": (1, None)}, ""),
        ({"probability": 0.5, "calls": (1, 3)}, "[p=0.5, calls 1..3]"),
    ],
)
def test_the_name_tells_the_limits(limits: Any, suffix: str) -> None:
    fault = timing.timeout(CHARGE).limited(calls=(9, 9)).limited(**limits)
    assert fault.name == f"timeout({CHARGE}, 30.0s){suffix}"


@pytest.mark.parametrize("probability", [-0.1, 1.5, float("nan"), "often", True])
def test_a_probability_that_is_none(probability: Any) -> None:
    text = f"fault 'timeout({CHARGE}, 30.0s)' got the probability {probability!r}\nhint: write a number from 0 to 1"
    with pytest.raises(FaultError) as caught:
        timing.timeout(CHARGE).limited(probability=probability)
    assert str(caught.value) == text


@pytest.mark.parametrize("calls", [(0, 3), (3, 2), 4, (1,), (1, 2, 3), (None, 2), ("1", 2), (True, 2)])
def test_a_window_that_is_none(calls: Any) -> None:
    with pytest.raises(FaultError, match=r"got the calls .*\nhint: write the first and the last call"):
        timing.timeout(CHARGE).limited(calls=calls)


def test_limits_are_set_while_it_is_off(api: Any) -> None:
    fault = timing.timeout(CHARGE)
    with fault, pytest.raises(FaultError, match=r"is on\nhint: set its limits before"):
        fault.limited(probability=0.5)
    assert fault.name == f"timeout({CHARGE}, 30.0s)"


def test_a_patch_lets_the_original_be_called(api: Any) -> None:
    fault = PatchFault(CHARGE, lambda original: lambda amount: original(amount) * 10).limited(calls=(2, 2))
    with fault:
        assert [api.charge(1), api.charge(1), api.charge(1)] == [1, 10, 1]

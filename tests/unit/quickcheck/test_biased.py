"""Biased strategies: boundaries come often, bounds hold, and wrong ones are refused with what to write."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordeal.errors import ConfigError
from ordeal.quickcheck import biased

from .draws import QUICK, found

pytestmark = pytest.mark.slow


def has_length(wanted: int, value: Any) -> bool:
    return len(value) == wanted


INTEGERS = [0, 1, -1, 2, -2, 10, -10, 100, -100, 255, 256, 2**15, -(2**15), 2**31, -(2**31), 2**63, -(2**63)]


def frequent(strategy: st.SearchStrategy[Any], count: int = 600) -> list[str]:
    """What is drawn in so many draws, as texts, since NaN and -0.0 do not compare."""
    drawn: list[str] = []

    @given(value=strategy)
    @settings(QUICK, max_examples=count)
    def draw(value: Any) -> None:
        drawn.append(repr(value))

    draw()
    return drawn


def test_integers_are_often_boundaries() -> None:
    drawn = frequent(biased.integers())
    assert {repr(value) for value in INTEGERS} <= set(drawn)


def test_integers_keep_their_range_and_have_its_ends() -> None:
    drawn = set(map(int, frequent(biased.integers(17, 1000))))
    assert {17, 18, 999, 1000, 100, 255, 256} <= drawn
    assert all(17 <= value <= 1000 for value in drawn)
    assert set(map(int, frequent(biased.integers(5, 5), 10))) == {5}


def test_floats_are_often_boundaries_and_finite_unless_allowed() -> None:
    drawn = set(frequent(biased.floats()))
    assert {repr(v) for v in (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-10, -1e-10, 1e10, -1e10)} <= drawn
    assert not {"nan", "inf", "-inf"} & drawn
    assert {"nan", "inf"} <= set(frequent(biased.floats(allow_nan=True, allow_infinity=True)))
    assert all(2.5 <= float(value) <= 3.5 for value in frequent(biased.floats(2.5, 3.5), 300))


def test_texts_bytes_and_lists_have_the_shortest_and_the_longest() -> None:
    for strategy in (biased.strings(2, 9), biased.bytes_(2, 9), biased.lists(biased.integers(), 2, 9)):
        for wanted in (2, 3, 9):
            assert found(strategy, partial(has_length, wanted))
    assert found(biased.strings(), lambda text: len(text) == 100)
    assert found(biased.lists(st.integers()), lambda xs: len(xs) == 50)


def test_items_of_a_repeated_list_are_their_own() -> None:
    rows = found(biased.lists(st.lists(st.integers(), min_size=1)), lambda rows: len(rows) == 50)
    assert len({id(row) for row in rows}) == 50


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (
            lambda: biased.integers(3, 1),
            "integers(3, 1): the lower bound is above the upper bound",
            "write integers(1, 3)",
        ),
        (
            lambda: biased.integers(0.5),  # type: ignore[arg-type]
            "integers(0.5, None): 0.5 is not a bound",
            "write numbers, or leave a bound out",
        ),
        (
            lambda: biased.floats(math.nan),
            "floats(nan, None): nan is not a bound",
            "write numbers, or leave a bound out",
        ),
        (
            lambda: biased.strings(3, 1),
            "strings: the smallest size, 3, is above the largest, 1",
            "swap the two",
        ),
        (lambda: biased.bytes_(-1), "bytes_: -1 is not a size", "write whole numbers from 0"),
        (
            lambda: biased.lists(int),  # type: ignore[arg-type]
            "lists(<class 'int'>): the elements are not a strategy",
            "write lists(integers())",
        ),
    ],
)
def test_wrong_bounds(make: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert (caught.value.message, caught.value.hint) == (message, hint)

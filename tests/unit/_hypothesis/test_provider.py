"""Hypothesis takes its choices from the tape, also with ``settings(backend="ordeal")``, which draws as the Explorer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS
from hypothesis.internal.intervalsets import IntervalSet

from ordeal._hypothesis.provider import INT64_MAX, INT64_MIN, WIDE_MAX, TapeDraws
from ordeal._hypothesis.register import NAME, register_backend
from ordeal._native import Redraw

ANYTHING: st.SearchStrategy[Any] = st.lists(st.integers() | st.text() | st.floats() | st.booleans() | st.binary())


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The backend is there, whether ordeal is installed or runs from its sources."""
    before = dict(AVAILABLE_PROVIDERS)
    register_backend()
    yield
    AVAILABLE_PROVIDERS.clear()
    AVAILABLE_PROVIDERS.update(before)


def drawn(strategy: st.SearchStrategy[Any], backend: str = NAME, seeded: int = 1, count: int = 300) -> list[Any]:
    """What a test function was called with."""
    values: list[Any] = []

    @seed(seeded)
    @settings(backend=backend, max_examples=count, database=None, deadline=None)
    @given(strategy)
    def test(value: Any) -> None:
        values.append(value)

    test()
    return values


ANYTHING = st.one_of(st.integers(), st.text(), st.floats(allow_nan=False), st.binary(), st.lists(st.booleans()))


def test_a_seed_decides_all_that_is_drawn() -> None:
    assert drawn(ANYTHING, seeded=1) == drawn(ANYTHING, seeded=1)
    assert drawn(ANYTHING, seeded=1) != drawn(ANYTHING, seeded=2)


def test_a_derandomized_test_draws_the_same_every_time() -> None:
    values: list[int] = []

    @settings(backend=NAME, derandomize=True, max_examples=50, database=None)
    @given(st.integers())
    def test(value: int) -> None:
        values.append(value)

    test()
    first = list(values)
    values.clear()
    test()
    assert values == first


@pytest.mark.parametrize(
    "strategy",
    [
        st.integers(-(2**100), 2**100),
        st.integers(min_value=2**64),
        st.text(alphabet="abc", min_size=2, max_size=4),
        st.text(max_size=10**30),
        st.binary(max_size=10**30),
        st.floats(1.5, 1.75),
        st.dates(),
        st.recursive(st.none() | st.booleans(), st.lists),
    ],
    ids=repr,
)
def test_strategies_of_all_kinds_draw_from_it(strategy: st.SearchStrategy[Any]) -> None:
    assert len(drawn(strategy, count=50)) > 1


def test_hypothesis_shrinks_what_it_found() -> None:
    seen: list[list[int]] = []

    @settings(backend=NAME, database=None, deadline=None, max_examples=2000)
    @given(st.lists(st.integers(0, 10_000)))
    def test(numbers: list[int]) -> None:
        seen.append(numbers)
        assert sum(numbers) < 1000

    with pytest.raises(AssertionError):
        test()
    assert sum(seen[-1]) == 1000


LETTERS = IntervalSet.from_string("abcxyz")
HUGE = 2**200


def live(seed: int = 1) -> tuple[Redraw, TapeDraws]:
    source = Redraw(seed)
    return source, TapeDraws(source.source)  # the first is kept: the source writes to its tape


def replaying(*choices: int) -> tuple[Redraw, TapeDraws]:
    redraw = Redraw(choices)
    return redraw, TapeDraws(redraw.source)


BOUNDS = [
    (0, 5),
    (0, 10**6),
    (-5, 5),
    (INT64_MIN, INT64_MAX),
    (-WIDE_MAX, WIDE_MAX),
    (2**64, 2**65),
    (-HUGE, HUGE),
    (HUGE, HUGE),
    (HUGE, None),
    (None, -HUGE),
    (3, None),
    (None, 3),
    (None, None),
]


@pytest.mark.parametrize("value", [-(2**length) for length in range(63, 200)])
def test_a_negative_power_of_two_has_one_form(value: int) -> None:
    again, draws = replaying(value)
    assert draws.draw_integer(-HUGE, HUGE) == value
    assert again.matches


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_integers_keep_their_bounds_and_come_again(low: int | None, high: int | None) -> None:
    kept, draws = live()
    values = [draws.draw_integer(low, high) for _ in range(200)]
    assert kept is not None
    assert all((low is None or low <= value) and (high is None or value <= high) for value in values)
    if low is None or low != high:
        assert len(set(values)) > 3
    again, draws = replaying(*values)
    assert [draws.draw_integer(low, high) for _ in range(200)] == values
    assert again.matches


@pytest.mark.parametrize(
    ("recorded", "low", "high", "value"),
    [(9, 0, 5, 5), (-9, 0, 5, 0), (HUGE, HUGE + 1, None, HUGE + 1), (-HUGE, None, -HUGE - 1, -HUGE - 1)],
)
def test_a_recorded_integer_that_fits_no_longer_becomes_the_nearest(
    recorded: int, low: int | None, high: int | None, value: int
) -> None:
    again, draws = replaying(recorded)
    assert draws.draw_integer(low, high) == value
    assert not again.matches


@pytest.mark.parametrize(
    ("bounds", "toward", "value"),
    [((None, None), 0, 0), ((5, None), 0, 5), ((None, -HUGE), 0, -HUGE), ((0, 10), 7, 7), ((-HUGE, HUGE), 3, 3)],
)
def test_without_a_record_an_integer_is_the_simplest(
    bounds: tuple[int | None, int | None], toward: int, value: int
) -> None:
    _, draws = replaying()
    assert draws.draw_integer(*bounds, shrink_towards=toward) == value


def test_weights_decide() -> None:
    kept, draws = live()
    values = [draws.draw_integer(0, 2, weights={1: 0.9, 2: 0.1}) for _ in range(300)]
    assert kept is not None
    assert values.count(1) > 200
    assert 2 in values
    assert 0 not in values


@pytest.mark.parametrize(
    ("draw", "fits"),
    [
        (lambda d: d.draw_float(min_value=1.5, max_value=2, allow_nan=False, smallest_nonzero_magnitude=5e-324),
         lambda v: 1.5 <= v <= 2),
        (lambda d: d.draw_float(allow_nan=False, smallest_nonzero_magnitude=1.0), lambda v: v == 0 or abs(v) >= 1),
        (lambda d: d.draw_string(LETTERS, min_size=1, max_size=4), lambda v: 0 < len(v) < 5 and not v.strip("abcxyz")),
        (lambda d: d.draw_bytes(2, 3), lambda v: type(v) is bytes and 2 <= len(v) <= 3),
        (lambda d: d.draw_bytes(0, 10**30), lambda v: type(v) is bytes),
        (lambda d: d.draw_boolean(0.0), lambda v: v is False),
        (lambda d: d.draw_boolean(1.0), lambda v: v is True),
    ],
)  # fmt: skip
def test_others_keep_their_bounds(draw: Callable[[TapeDraws], Any], fits: Callable[[Any], bool]) -> None:
    kept, draws = live()
    assert all(fits(draw(draws)) for _ in range(200))
    assert kept is not None


def test_nan_comes_where_it_may() -> None:
    kept, draws = live()
    values = [draws.draw_float(smallest_nonzero_magnitude=5e-324) for _ in range(500)]
    assert kept is not None
    assert any(math.isnan(value) for value in values)
    assert any(math.isinf(value) for value in values)

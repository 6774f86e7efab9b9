"""Strategies drawn value by value: each once, the simplest first, and what has no end of them is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from ordeal._hypothesis.run_context import RunContext
from ordeal.errors import InfiniteStrategyError
from ordeal.exhaustive.enumerable import EnumerableSource, make_enumerable, nearest_integer


class Source(EnumerableSource):
    """Counts how often values were left out."""

    restricted = 0

    def restrict(self) -> None:
        self.restricted += 1


def every_case(strategy: st.SearchStrategy[Any], values: int | None = None) -> tuple[list[Any], int]:
    """What each sequence of choices makes of the strategy, and in how many of them values were left out."""
    found: list[Any] = []
    path: list[int] = []
    restricted = 0
    while True:
        sizes: list[int] = []

        def choose(size: int, sizes: list[int] = sizes) -> int:
            assert size > 0
            sizes.append(size)
            if len(sizes) > len(path):
                path.append(0)
            return path[len(sizes) - 1]

        source: Any = Source(choose, values)
        with RunContext(source) as run:
            make_enumerable(run, source)
            try:
                found.append(run.data.draw(strategy))
            except UnsatisfiedAssumption:
                found.append("refused")
        restricted += bool(source.restricted)
        del path[len(sizes) :]
        while path and path[-1] + 1 == sizes[len(path) - 1]:
            path.pop()
        if not path:
            return found, restricted
        path[-1] += 1


@pytest.mark.parametrize(
    ("strategy", "cases"),
    [
        (st.integers(2**70, 2**70 + 1), [2**70, 2**70 + 1]),
        (st.text("ab", max_size=2), ["", "a", "b", "aa", "ab", "ba", "bb"]),
        (st.text("", max_size=2), [""]),
        (st.integers(0, 3).filter(lambda n: n % 2), ["refused", 1, "refused", 3]),
        (st.sampled_from([1, 2]).filter(lambda n: n > 1).map(str), ["refused", "2"]),
    ],
)
def test_each_value_comes_the_simplest_first(strategy: st.SearchStrategy[Any], cases: list[Any]) -> None:
    assert every_case(strategy)[0] == cases


def test_bytes_of_one_place_are_all_bytes() -> None:
    found, _ = every_case(st.binary(min_size=1, max_size=1))
    assert found == [bytes([number]) for number in range(256)]


@pytest.mark.parametrize(
    ("strategy", "what"),
    [
        (st.integers(), "integers without a bound"),
        (st.integers(0), "integers without a bound"),
        (st.floats(), "floats"),
        (st.floats(0, 1), "floats"),
        (st.text(), "text of any size"),
        (st.text("ab"), "text of any size"),
        (st.binary(), "binary() of any size"),
        (st.lists(st.booleans()), "a collection of any size"),
        (st.recursive(st.none(), st.tuples), "recursive()"),
        (st.tuples(st.booleans(), st.integers()), "integers without a bound"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_has_no_end_of_values_is_refused(strategy: st.SearchStrategy[Any], what: str) -> None:
    with pytest.raises(InfiniteStrategyError) as caught:
        every_case(strategy)
    assert caught.value.message == f"it draws {what}, which are infinitely many"
    assert caught.value.hint == "give it bounds, a max_size or a sampled_from() of the values that matter"


@pytest.mark.parametrize(
    ("strategy", "cases"),
    [
        (st.integers(), [0, 1, -1]),
        (st.integers(7), [7, 8, 9]),
        (st.integers(max_value=-3), [-3, -4, -5]),
        (st.integers(0, 9), [0, 1, 2]),
        (st.floats(), [0.0, 1.0, -1.0]),
        (st.text(), ["", "0", "00"]),
        (st.binary(min_size=1), [b"\0", b"\0\0", b"\0\0\0"]),
    ],
    ids=repr,
)
def test_few_values_are_the_simplest_and_it_is_told_that_there_are_more(
    strategy: st.SearchStrategy[Any], cases: list[Any]
) -> None:
    assert every_case(strategy, values=3) == (cases, 3)


@pytest.mark.parametrize(
    "strategy", [st.integers(0, 2), st.booleans(), st.sampled_from("abcdef"), st.integers(4, 4)], ids=repr
)
def test_where_there_are_no_more_nothing_is_left_out(strategy: st.SearchStrategy[Any]) -> None:
    found, restricted = every_case(strategy, values=3)
    assert found == every_case(strategy)[0]
    assert restricted == 0


@pytest.mark.parametrize(
    "strategy",
    [st.text(max_size=0), st.binary(max_size=0), st.text("", max_size=9), st.text("a", max_size=2)],
    ids=repr,
)
def test_texts_of_which_there_are_no_more_leave_nothing_out(strategy: st.SearchStrategy[Any]) -> None:
    assert every_case(strategy, values=3)[1] == 0


def test_floats_keep_their_bounds_and_none_comes_twice() -> None:
    found, _ = every_case(st.floats(0.25, 1.5), values=20)
    assert sorted(found) == [0.25, 0.5, 1.0, 1.5]
    everything, _ = every_case(st.floats(), values=20)
    assert sum(map(math.isnan, everything)) == 1
    numbers = [value for value in everything if value == value]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(
    ("low", "high", "toward", "order"),
    [
        (-2, 3, 0, [0, 1, -1, 2, -2, 3]),
        (-3, 1, 0, [0, 1, -1, -2, -3]),
        (0, 3, 3, [3, 2, 1, 0]),
        (4, 4, 4, [4]),
        (0, 4, 1, [1, 2, 0, 3, 4]),
    ],
)
def test_integers_go_away_from_the_simplest_in_turn(low: int, high: int, toward: int, order: list[int]) -> None:
    assert [nearest_integer(number, low, high, toward) for number in range(high - low + 1)] == order


@pytest.mark.parametrize(("p", "cases"), [(0.0, [False]), (1.0, [True]), (0.3, [False, True])])
def test_a_boolean_that_is_certain_is_no_choice(p: float, cases: list[bool]) -> None:
    asked: list[int] = []

    def chosen(answer: int) -> Callable[[int], int]:
        def choose(size: int) -> int:
            asked.append(size)
            return answer

        return choose

    assert sorted({EnumerableSource(chosen(answer)).boolean(p) for answer in (0, 1)}) == cases
    assert len(asked) == (2 if len(cases) == 2 else 0)

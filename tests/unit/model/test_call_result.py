"""What came of an operation: how it is compared, described and handed to two sides."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque, namedtuple
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordeal.model.call_result import (
    ITEMS_MAX,
    SHOWN_MAX,
    CallEnd,
    Sides,
    agree,
    awaited,
    for_two,
    materialized,
    outcome_of,
    same,
    shown,
)

Point = namedtuple("Point", "x y")


nan = float("nan")


class Store(dict[Any, Any]):
    """A dictionary by another name."""


class Folded(list[str]):
    """A list with an equality of its own."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and [s.lower() for s in self] == [s.lower() for s in other]

    __hash__ = None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (nan, float("nan")),
        ([nan], [float("nan")]),
        (1, 1.0),
        ({1: (nan,)}, {1: (float("nan"),)}),
        (Point(nan, 1), Point(float("nan"), 1)),
        (deque([nan]), deque([float("nan")])),
        (Store(a=nan), {"a": float("nan")}),
        (Folded(["A"]), ["a"]),
        (np.array([nan, 1]), np.array([float("nan"), 1])),
        (np.array([]), np.array([])),
        (np.int64(1), 1),
        (np.float64("nan"), nan),
        (np.True_, True),
        (np.array([None, "a"]), np.array([None, "a"])),
    ],
    ids=repr,
)
def test_these_are_the_same(ours: Any, theirs: Any) -> None:
    assert same(ours, theirs)
    assert same(theirs, ours) or isinstance(ours, Folded)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (1, True),
        ([1], (1,)),
        ({1: 0}, {1: False}),
        ([1], [1, 2]),
        (nan, 1),
        (deque([1]), [1]),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1, 2]), np.array([1, 2, 3])),
        (np.array([1, 2]), [1, 2]),
        (np.True_, 1),
        (np.array([1]), None),
        ({1: np.array([1])}, {1: np.array([2])}),
    ],
    ids=repr,
)
def test_these_are_not_the_same(ours: Any, theirs: Any) -> None:
    assert not same(ours, theirs)
    assert not same(theirs, ours)


def counting(end: int, error: Exception | None = None) -> Iterator[int]:
    yield from range(end)
    if error is not None:
        raise error


def test_an_outcome_is_a_result_or_what_was_raised_instead() -> None:
    assert str(outcome_of(lambda: 3, ())) == "returned 3"
    assert str(outcome_of(lambda: int("x"), ())).startswith("raised ValueError: invalid literal")
    assert str(CallEnd(None, KeyError())) == "raised KeyError"


def test_errors_that_are_passed_on_are_no_outcome() -> None:
    with pytest.raises(ZeroDivisionError):
        outcome_of(lambda: 1 / 0, (ZeroDivisionError,))


def test_an_iterator_is_what_it_gave_before_it_raised() -> None:
    outcome = outcome_of(lambda: counting(2, LookupError("gone")), ())
    assert outcome.result == [0, 1]
    assert str(outcome) == "gave [0, 1] and then raised LookupError: gone"
    assert outcome_of(lambda: counting(0, LookupError()), ()).result is None


def test_an_iterator_without_an_end_is_cut() -> None:
    assert len(outcome_of(itertools.count, ()).result) == ITEMS_MAX
    assert len(materialized((itertools.count(), 1))[0]) == ITEMS_MAX


def test_views_and_iterators_become_lists_also_inside_of_a_tuple() -> None:
    items = {1: "a"}
    assert materialized((items.keys(), (items.values(),), items.items(), iter("b"), [2])) == (
        [1],
        (["a"],),
        [(1, "a")],
        ["b"],
        [2],
    )


@pytest.mark.parametrize(
    "value",
    [[1, [2]], ({"a": [1]},), {"a": {1}}, bytearray(b"a"), deque([1]), BytesIO(b"ab"), np.zeros(2)],
    ids=lambda value: type(value).__name__,
)
def test_what_one_side_changes_the_other_does_not_see(value: Any) -> None:
    one, other = for_two(value)
    assert one is not other
    assert one is not value
    assert type(one) is type(other) is type(value)


def test_inner_collections_are_copied_too() -> None:
    (one, other) = for_two([{"a": [1]}])
    one[0]["a"].append(2)
    assert other == [{"a": [1]}]


def test_an_iterator_is_split_and_an_open_file_is_shared(tmp_path: Path) -> None:
    one, other = for_two(counting(3))
    assert list(one) == list(other) == [0, 1, 2]
    with (tmp_path / "file").open("w") as file:
        assert for_two(file) == (file, file)
    assert for_two("text") == ("text", "text")


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        (
            {1: "a", 2: "b"},
            {1: "c", 3: "d"},
            ["[1]: 'a', in the model 'c'", "[2]: only the system has it, 'b'", "[3]: only the model has it, 'd'"],
        ),
        ([1, 2], [1, 3, 4], ["2 items, in the model 3", "[1]: 2, in the model 3"]),
        ([1], (1,), ["a list, in the model a tuple"]),
        ({1, 2}, {2, 3}, ["only the system has 1", "only the model has 3"]),
        ([0] * 9, [1] * 9, [*(f"[{at}]: 0, in the model 1" for at in range(5)), "and 4 more"]),
        ("ab", "ac", []),
        (1, 2, []),
    ],
)
def test_a_difference_says_in_which_places(ours: Any, theirs: Any, lines: list[str]) -> None:
    sides = Sides("the system", "the model", "in the model")
    assert sides.describe_difference(ours, theirs) == "".join(f"\n  {line}" for line in lines)


def test_sides_go_by_the_names_that_they_are_given() -> None:
    sides = Sides("impl", "other", "in other")
    assert sides.describe_difference({1: 2, 3: 4}, {3: 5}) == "\n  [1]: only impl has it, 2\n  [3]: 4, in other 5"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (CallEnd(1), CallEnd(1), True),
        (CallEnd(1), CallEnd(None, KeyError()), False),
        (CallEnd(None, KeyError()), CallEnd(None, LookupError()), True),
        (CallEnd(None, LookupError()), CallEnd(None, KeyError()), False),
        (CallEnd(None, OSError()), CallEnd(None, KeyError()), True),
        (CallEnd([1], OSError()), CallEnd([2], OSError()), False),
    ],
)
def test_outcomes_agree_by_results_errors_and_what_was_given_before(
    ours: CallEnd, theirs: CallEnd, expected: bool
) -> None:
    assert agree(ours, theirs, same, {OSError: KeyError}) is expected


def test_what_is_shown_is_cut_and_a_broken_repr_is_named() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shown("x" * SHOWN_MAX).endswith("...")
    assert len(shown("x" * 10_000)) == SHOWN_MAX + 3
    assert shown("x" * (SHOWN_MAX - 2)) == repr("x" * (SHOWN_MAX - 2))
    assert shown(Broken()) == "<Broken, whose repr raises RuntimeError>"


def test_an_asynchronous_iterator_is_what_it_gives() -> None:
    async def numbers() -> AsyncIterator[int]:
        for number in itertools.count():
            yield number

    async def number() -> int:
        return 3

    assert len(asyncio.run(awaited(numbers()))) == ITEMS_MAX
    assert asyncio.run(awaited(number())) == 3

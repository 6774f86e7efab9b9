"""What came of an operation: how it is compared, described and handed to two sides."""

from __future__ import annotations

from collections import deque, namedtuple
from typing import Any

import numpy as np
import pytest

from ordeal.model.call_result import (
    CallEnd,
    Sides,
    agree,
    same,
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


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        ([1], (1,), ["a list, in the model a tuple"]),
        ("ab", "ac", []),
        (1, 2, []),
    ],
)
def test_a_difference_says_in_which_places(ours: Any, theirs: Any, lines: list[str]) -> None:
    sides = Sides("the system", "the model", "in the model")
    assert sides.describe_difference(ours, theirs) == "".join(f"\n  {line}" for line in lines)


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

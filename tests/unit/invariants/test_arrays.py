"""Invariants on vectors and matrices: each holds, fails, and meets what is not an array of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ordeal.errors import ConfigError
from ordeal.invariants import Invariant, orthonormal, positive_semi_definite, rank_bounded, symmetric, unit_normalized

from .violations import each, violation

NAN, INF = math.nan, math.inf


HOLD: list[tuple[Invariant, Any]] = [
    *each(unit_normalized(), [1.0, 0.0], [[0.6, 0.8], [0.0, -1.0]], [1j, 0]),
    *each(orthonormal(), np.eye(3), np.empty((0, 0)), [[0, 1], [1, 0]]),
    *each(symmetric(), [[1, 2], [2, 1]], np.empty((0, 0)), [[1, INF], [INF, 1]]),
    *each(positive_semi_definite(), np.eye(2), [[1, 1], [1, 1]], np.empty((0, 0)), [[0]]),
    *each(rank_bounded(1, 1), [[1, 2], [2, 4]], [[5]]),
    (rank_bounded(), np.empty((0, 0))),
]


VIOLATED: list[tuple[Invariant, Any, str]] = [
    (unit_normalized(), [3.0, 4.0], "the vector has length 5.0, not 1"),
    (unit_normalized(), [[1.0, 0.0], [2.0, 0.0]], "value[1] has length 2.0, not 1"),
    (unit_normalized(), [NAN], "the vector has length nan, not 1"),
    (unit_normalized(), [], "an array of shape (0,) holds no vector"),
    (unit_normalized(), "abc", "'abc', of type str, is not an array of numbers"),
    (orthonormal(), [[2, 0], [0, 1]], "the square of column 0's length is 4.0, not 1"),
    (orthonormal(), [[1, 1], [0, 0]], "the product of columns 0 and 1 is 1.0, not 0"),
    (orthonormal(), [], "an array of shape (0,) is not a matrix"),
    (orthonormal(), None, "None, of type NoneType, is not an array of numbers"),
    (symmetric(), [[1, 2], [3, 1]], "value[0, 1] is 2.0 but value[1, 0] is 3.0"),
    (symmetric(), [[1, 2, 3]], "an array of shape (1, 3) is not a square matrix"),
    (symmetric(), [], "an array of shape (0,) is not a square matrix"),
    (symmetric(), [[1, 2], [3]], "[[1, 2], [3]] is not an array: its rows have different lengths"),
    (positive_semi_definite(), [[-1, 0], [0, 1]], "its smallest eigenvalue is -1.0"),
    (positive_semi_definite(), [[1, 2], [3, 1]], "value[0, 1] is 2.0 but value[1, 0] is 3.0"),
    (positive_semi_definite(), [[INF]], "it has entries that are not finite"),
    (positive_semi_definite(), [], "an array of shape (0,) is not a square matrix"),
    (positive_semi_definite(), "abc", "'abc', of type str, is not an array of numbers"),
    (rank_bounded(2), [[1, 2], [2, 4]], "its rank is 1, below 2"),
    (rank_bounded(max_rank=1), np.eye(2), "its rank is 2, above 1"),
    (rank_bounded(), [[NAN]], "it has entries that are not finite, so it has no rank"),
    (rank_bounded(), [], "an array of shape (0,) is not a matrix"),
    (rank_bounded(), "abc", "'abc', of type str, is not an array of numbers"),
]


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str, str]] = [
    (
        unit_normalized,
        ([1, 0],),
        {},
        "unit_normalized(tol=[1, 0]): the tolerance is not a number from 0",
        "write unit_normalized()(value) to check a value, unit_normalized(tol=1e-9) to be stricter",
    ),
    (
        rank_bounded,
        (2, 1),
        {},
        "rank_bounded(2, 1): the lowest rank is above the highest",
        "write rank_bounded(1, 2)",
    ),
    (rank_bounded, (-1,), {}, "rank_bounded(-1, None): -1 is not a rank", "write whole numbers from 0"),
]


@pytest.mark.parametrize(("check", "value"), HOLD)
def test_holds(check: Invariant, value: Any) -> None:
    assert check(value) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(("check", "value", "reason"), VIOLATED)
def test_is_violated(check: Invariant, value: Any, reason: str) -> None:
    assert violation(check, value) == f"Invariant {check.name!r} violated: {reason}"


@pytest.mark.parametrize(("make", "args", "kwargs", "message", "hint"), WRONG)
def test_wrong_use(make: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(*args, **kwargs)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_the_tolerance_decides() -> None:
    unit_normalized(0.1)([1.05])
    assert "has length 1.05" in violation(unit_normalized(), [1.05])
    assert symmetric(tol=2.0)([[1, 2], [3, 1]]) is None

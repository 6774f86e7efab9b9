"""Each invariant on numbers, collections and arrays holds, fails, and meets empty and wrong values."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ordeal.errors import ConfigError
from ordeal.invariants import (
    Invariant,
    bounded,
    finite,
    mean_bounded,
    monotonic,
    no_inf,
    no_nan,
    non_empty,
    orthonormal,
    positive_semi_definite,
    rank_bounded,
    symmetric,
    unique,
    unit_normalized,
    variance_bounded,
)

from .violations import each, violation

NAN, INF = math.nan, math.inf
NO_NUMBER = "value is 'abc', of type str, which is not a number"


HOLD: list[tuple[Invariant, Any]] = [
    # -- numbers
    *each(no_nan, 1.0, INF, [], {}, [1, [2.5, {"a": 3}]], Decimal(1), 1 + 2j, np.ones(3), 10**400),
    *each(no_inf, 1, NAN, [], Decimal("NaN"), np.array([NAN]), Fraction(1, 3), (0.0,)),
    *each(finite, 1, [], np.zeros((2, 2)), np.float32(2), iter([1, 2]), np.array([True])),
    *each(bounded(0, 1), 0, 1, 0.5, [], [[0.2], [0.4]], np.array([0, 1]), {"a": Fraction(1, 2)}),
    *each(mean_bounded(0, 1), [0, 1], 0.5, np.array([[0.0, 1.0]]), [1e308, -1e308]),
    (mean_bounded(0, INF), [1.7e308, 1.7e308]),
    *each(variance_bounded(0, 1), [1, 1, 1], [0, 2], 5),
    # -- collections
    *each(monotonic(), [], [1], [1, 1, 2], "abc", np.array([1.0, 2.0]), iter([1, 2])),
    (monotonic(strict=True), [1, 2, 3]),
    *each(unique(), [], [1, 2], [[1], [2]], "abc", np.array([[1, 2], [2, 1]]), [(1, [2]), (1, [3])]),
    (unique(key=len), ["a", "bb"]),
    *each(non_empty(), [0], "a", {"a": 1}, np.zeros(1)),
    # -- arrays
    *each(unit_normalized(), [1.0, 0.0], [[0.6, 0.8], [0.0, -1.0]], [1j, 0]),
    *each(orthonormal(), np.eye(3), np.empty((0, 0)), [[0, 1], [1, 0]]),
    *each(symmetric(), [[1, 2], [2, 1]], np.empty((0, 0)), [[1, INF], [INF, 1]]),
    *each(positive_semi_definite(), np.eye(2), [[1, 1], [1, 1]], np.empty((0, 0)), [[0]]),
    *each(rank_bounded(1, 1), [[1, 2], [2, 4]], [[5]]),
    (rank_bounded(), np.empty((0, 0))),
]


VIOLATED: list[tuple[Invariant, Any, str]] = [
    # -- numbers
    (no_nan, NAN, "value is nan"),
    (no_nan, [1, {"a": (2, NAN)}], "value[1]['a'][1] is nan"),
    (no_nan, np.array([[1.0, NAN]]), "value[0][1] is nan"),
    (no_nan, Decimal("sNaN"), "value is Decimal('sNaN')"),
    (no_nan, "abc", NO_NUMBER),
    (no_nan, None, "value is None, of type NoneType, which is not a number"),
    (no_nan, [1, b"x"], "value[1] is b'x', of type bytes, which is not a number"),
    (no_nan, np.array(["x"]), "value[0] is 'x', of type str, which is not a number"),
    (no_inf, [-INF], "value[0] is -inf"),
    (no_inf, complex(0, INF), "value is infj"),
    (no_inf, "abc", NO_NUMBER),
    (finite, [1, NAN], "value[1] is nan"),
    (finite, np.array([1, INF]), "value[1] is inf"),
    (finite, "abc", NO_NUMBER),
    (bounded(0, 1), [0, 3], "value[1] is 3, above 1"),
    (bounded(0, 1), -0.5, "value is -0.5, below 0"),
    (bounded(0, 1), NAN, "value is nan, not in 0 to 1"),
    (bounded(0, 1), np.array([0.5, NAN]), "value[1] is nan, not in 0 to 1"),
    (bounded(0, 1), 1j, "value is 1j, which cannot be ordered"),
    (bounded(0, 1), np.array([1j]), "value[0] is 1j, which cannot be ordered"),
    (bounded(0, 1), "abc", NO_NUMBER),
    (mean_bounded(0, 1), [4, 2], "the mean of 2 numbers is 3.0, above 1"),
    (mean_bounded(0, 1), [], "[] has no numbers, so it has no mean"),
    (mean_bounded(0, 1), [INF, -INF], "the mean of 2 numbers is nan, not in 0 to 1"),
    (mean_bounded(0, 1), [1j], "value[0] is 1j, which is not a real number"),
    (mean_bounded(0, 1), "abc", NO_NUMBER),
    (mean_bounded(0, 1), 10**400, "the mean of 1 numbers is inf, above 1"),
    (variance_bounded(0, 1), [0, 4], "the variance of 2 numbers is 4.0, above 1"),
    (variance_bounded(0, 1), [1e300, -1e300], "the variance of 2 numbers is inf, above 1"),
    (variance_bounded(0, 1), [], "[] has no numbers, so it has no variance"),
    (variance_bounded(0, 1), "abc", NO_NUMBER),
    # -- collections
    (monotonic(), [1, 3, 2], "value[2], 2, is below the item before it, 3"),
    (monotonic(), [1, NAN], "value[1], nan, is not comparable with the item before it, 1"),
    (monotonic(strict=True), [1, 1], "value[1], 1, is not above the item before it, 1"),
    (monotonic(), [1, "a"], "value[1], 'a', cannot be ordered after 1"),
    (monotonic(), 5, "5 is of type int, which is not a collection"),
    (unique(), [1, 2, 1], "value[2] repeats value[0]: 1"),
    (unique(), [[1], [2], [1]], "value[2] repeats value[0]: [1]"),
    (unique(key=len), ["a", "b"], "value[1] repeats value[0]: 1 of 'b'"),
    (unique(), None, "None is of type NoneType, which is not a collection"),
    (non_empty(), [], "[] is empty"),
    (non_empty(), 5, "5 is of type int, which has no length"),
    # -- arrays
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
    # -- numbers
    (bounded, (3, 1), {}, "bounded(3, 1): the lower bound is above the upper bound", "write bounded(1, 3)"),
    (bounded, ("a", 1), {}, "bounded('a', 1): 'a' is not a bound", "write for example bounded(0, 1)"),
    (bounded, (0, NAN), {}, "bounded(0, nan): nan is not a bound", "write for example bounded(0, 1)"),
    (
        mean_bounded,
        (3, 1),
        {},
        "mean_bounded(3, 1): the lower bound is above the upper bound",
        "write mean_bounded(1, 3)",
    ),
    (
        variance_bounded,
        (0, None),
        {},
        "variance_bounded(0, None): None is not a bound",
        "write for example variance_bounded(0, 1)",
    ),
    # -- collections
    (unique, (), {"key": 3}, "unique(key=3): the key cannot be called", 'write for example key=itemgetter("id")'),
    # -- arrays
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
    # -- invariants of one's own
    (Invariant, ("", len), {}, "the name of an invariant is ''", 'write a text, as in Invariant("even", is_even)'),
    (
        Invariant,
        ("even", 2),
        {},
        "the check of the invariant 'even' is 2, which cannot be called",
        "give a function of one value that returns whether the invariant holds",
    ),
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

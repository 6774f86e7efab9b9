"""Invariants on numbers, and on whatever holds them: each holds, fails, and meets empty and wrong values."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ordeal.errors import ConfigError
from ordeal.invariants import Invariant, bounded, finite, mean_bounded, no_inf, no_nan, variance_bounded

from .violations import each, violation

NAN, INF = math.nan, math.inf
NO_NUMBER = "value is 'abc', of type str, which is not a number"


HOLD: list[tuple[Invariant, Any]] = [
    *each(no_nan, 1.0, INF, [], {}, [1, [2.5, {"a": 3}]], Decimal(1), 1 + 2j, np.ones(3), 10**400),
    *each(no_inf, 1, NAN, [], Decimal("NaN"), np.array([NAN]), Fraction(1, 3), (0.0,)),
    *each(finite, 1, [], np.zeros((2, 2)), np.float32(2), iter([1, 2]), np.array([True])),
    *each(bounded(0, 1), 0, 1, 0.5, [], [[0.2], [0.4]], np.array([0, 1]), {"a": Fraction(1, 2)}),
    *each(mean_bounded(0, 1), [0, 1], 0.5, np.array([[0.0, 1.0]]), [1e308, -1e308]),
    (mean_bounded(0, INF), [1.7e308, 1.7e308]),
    *each(variance_bounded(0, 1), [1, 1, 1], [0, 2], 5),
]


VIOLATED: list[tuple[Invariant, Any, str]] = [
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
]


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str, str]] = [
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

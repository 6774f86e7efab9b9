"""Invariants of one's own: what counts as violated, what the message says, and how they are joined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ordeal.invariants import Invariant, bounded, finite, mean_bounded, monotonic, no_nan, non_empty, unique

from .violations import violation

NAN = math.nan


def test_own_checks_say_it_in_any_of_three_ways() -> None:
    def asserts(value: int) -> None:
        assert value > 0, "not positive"

    assert violation(Invariant("p", lambda v: v > 0), -1) == "Invariant 'p' violated: -1"
    assert violation(Invariant("p", lambda v: np.False_), -1) == "Invariant 'p' violated: -1"
    assert violation(Invariant("p", lambda v: "too low"), -1) == "Invariant 'p' violated: too low"
    assert violation(Invariant("p", asserts), -1).startswith("Invariant 'p' violated: not positive")
    for check in (asserts, lambda v: True, lambda v: None, lambda v: 1):
        Invariant("p", check)(1)


def test_both_are_checked_in_order_and_the_message_names_the_one_that_fails() -> None:
    both = finite & bounded(0, 1) & monotonic()
    assert both.name == "finite & bounded(0, 1) & monotonic()"
    both([0, 1])
    assert violation(both, [NAN, 5]) == "Invariant 'finite' violated: value[0] is nan"
    assert violation(both, [0, 5]) == "Invariant 'bounded(0, 1)' violated: value[1] is 5, above 1"
    assert violation(both, [1, 0]).startswith("Invariant 'monotonic()' violated")


def test_only_invariants_can_be_joined() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        finite & len  # type: ignore[operator]


pandas: Any = pytest.importorskip("pandas")


def complaint(invariant: Invariant, value: Any) -> str:
    try:
        invariant(value)
    except AssertionError as error:
        return str(error)
    return ""


def test_of_numbers() -> None:
    good = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    for invariant in (finite, no_nan, bounded(0, 2), mean_bounded(1, 2)):
        assert complaint(invariant, good) == ""
        assert complaint(invariant, good["a"]) == ""
    bad = good.assign(b=[0.5, float("nan")])
    assert "value[1][1] is nan" in complaint(finite, bad)
    assert "value[1] is nan" in complaint(no_nan, bad["b"])
    assert "value[1][0] is 2.0, above 1" in complaint(bounded(0, 1), good)


def test_of_rows() -> None:
    frame = pandas.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]})
    assert complaint(unique(), frame) == ""
    assert complaint(monotonic(), frame) == ""
    assert "repeats value[0]" in complaint(unique(), pandas.concat([frame, frame]))
    assert complaint(monotonic(), frame["b"]) == ""
    assert complaint(non_empty(), frame) == ""
    assert "is empty" in complaint(non_empty(), frame.iloc[:0])

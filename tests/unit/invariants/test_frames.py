"""Frames and series of pandas are data: invariants look at their values."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal.invariants import Invariant, bounded, finite, mean_bounded, monotonic, no_nan, non_empty, unique

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
    assert "value['b'][1] is nan" in complaint(finite, bad)
    assert "value[1] is nan" in complaint(no_nan, bad["b"])
    assert "value['a'][1] is 2, above 1" in complaint(bounded(0, 1), good)


def test_of_numbers_that_are_missing() -> None:
    frame = pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")})
    assert "value['a'][1] is nan" in complaint(finite, frame)


def test_of_rows() -> None:
    frame = pandas.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]})
    assert complaint(unique(), frame) == ""
    assert complaint(monotonic(), frame) == ""
    assert "repeats value[0]" in complaint(unique(), pandas.concat([frame, frame]))
    assert complaint(monotonic(), frame["b"]) == ""
    assert complaint(non_empty(), frame) == ""
    assert "is empty" in complaint(non_empty(), frame.iloc[:0])

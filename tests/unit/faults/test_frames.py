"""Frames and series of pandas are data: each fault acts on their values, and none is a hit that changed nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from ordeal.faults import CallFault, numerical

from ..samples.shop import add_module, shop_app

pandas: Any = pytest.importorskip("pandas")
TARGET = "shop_app.table.load"


def frame() -> Any:
    return pandas.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5], "c": list("wxyz")}, index=list("jklm"))


def through(fault: CallFault, result: Any) -> tuple[Any, int]:
    """What the program gets with the fault on, and how many hits that is."""
    with shop_app():
        table: Any = add_module("table", "RESULT = None\ndef load(): return RESULT")
        table.RESULT = result
        with fault:
            return table.load(), fault.observed.hits


CASES: list[tuple[CallFault, Callable[[Any], Any]]] = [
    (numerical.nan_injection(TARGET), lambda f: f.assign(a=[math.nan] * 4, b=[math.nan] * 4)),
    (numerical.inf_injection(TARGET), lambda f: f.assign(a=[math.inf] * 4, b=[math.inf] * 4)),
    (numerical.wrong_shape(TARGET, (4, 3), (2, 1)), lambda f: pandas.DataFrame([[0.0], [0.0]])),
    (numerical.dtype_drift(TARGET), lambda f: f.assign(a=list("1234"), b=["0.5", "1.5", "2.5", "3.5"])),
    (numerical.partial_batch(TARGET), lambda f: f.iloc[:2]),
    (numerical.feature_order_drift(TARGET), lambda f: f[["b", "c", "a"]]),
    (numerical.missing_feature(TARGET), lambda f: f[["b", "c"]]),
    (numerical.missing_feature(TARGET, "b", fill=0), lambda f: f.assign(b=0)),
]


@pytest.mark.parametrize(("fault", "expected"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_on_a_frame(fault: CallFault, expected: Callable[[Any], Any]) -> None:
    before = frame()
    found, hits = through(fault, before)
    pandas.testing.assert_frame_equal(found, expected(frame()), check_dtype=False)
    pandas.testing.assert_frame_equal(before, frame())
    assert hits == 1


SERIES: list[tuple[CallFault, list[Any], list[str]]] = [
    (numerical.nan_injection(TARGET), [math.nan] * 3, list("xyz")),
    (numerical.dtype_drift(TARGET), ["1", "2", "3"], list("xyz")),
    (numerical.partial_batch(TARGET, 0.7), [1, 2], list("xy")),
    (numerical.feature_order_drift(TARGET), [2, 3, 1], list("yzx")),
    (numerical.missing_feature(TARGET, "y"), [1, 3], list("xz")),
]


@pytest.mark.parametrize(("fault", "items", "labels"), SERIES, ids=lambda case: getattr(case, "name", ""))
def test_on_a_series(fault: CallFault, items: list[Any], labels: list[str]) -> None:
    found, hits = through(fault, pandas.Series([1, 2, 3], index=list("xyz"), name="n"))
    pandas.testing.assert_series_equal(found, pandas.Series(items, index=labels, name="n"), check_dtype=False)
    assert hits == 1


@pytest.mark.parametrize(
    "fault",
    [
        numerical.nan_injection(TARGET),
        numerical.dtype_drift(TARGET),
        numerical.missing_feature(TARGET, "no such"),
        numerical.partial_batch(TARGET, 1.0),
        numerical.feature_order_drift(TARGET, shift=2),
    ],
    ids=lambda fault: fault.name,
)
def test_what_changes_nothing_is_no_hit(fault: CallFault) -> None:
    words = pandas.DataFrame({"c": ["x", "y"], "d": ["v", "w"]})
    assert through(fault, words) == (words, 0) or through(fault, words)[0] is words
    assert fault.observed.hits == 0
    assert fault.observed.calls > 0

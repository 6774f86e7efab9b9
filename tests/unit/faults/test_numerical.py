"""What the faults of numbers do to results, with arrays and without numpy."""

from __future__ import annotations

import array
import collections
import math
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from ordeal.faults import CallFault, numerical

from ..samples.shop import shop_app

CHARGE = "shop_app.api.charge"


class Point(NamedTuple):
    x: float
    label: str


@pytest.fixture
def changed() -> Iterator[Callable[[CallFault, Any], Any]]:
    """What a call returns under a fault that returned the value without it."""
    with shop_app() as modules:

        def call(fault: CallFault, value: Any) -> Any:
            with fault:
                return modules.api.charge(value)

        yield call


Changed = Callable[[CallFault, Any], Any]

# nan_injection, inf_injection


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "nan"),
        (Fraction(1, 3), "nan"),
        (Decimal(1), "Decimal('NaN')"),
        (1j, "(nan+0j)"),
        ([1, [2.5, "x"], None, True], "[nan, [nan, 'x'], None, True]"),
        (({"a": (1,)},), "({'a': (nan,)},)"),
        (Point(1.5, "a"), "Point(x=nan, label='a')"),
        (collections.OrderedDict(a=1), "OrderedDict({'a': nan})"),
        (array.array("d", [1, 2]), "[nan, nan]"),
        ("text", "'text'"),
        (None, "None"),
    ],
)
def test_nan_injection(changed: Changed, value: Any, text: str) -> None:
    before = repr(value)
    assert repr(changed(numerical.nan_injection(CHARGE), value)) == text
    assert repr(value) == before, "the result of the program itself is left as it is"


def test_a_kind_of_dict_stays_that_kind(changed: Changed) -> None:
    counts = changed(numerical.inf_injection(CHARGE), collections.defaultdict(list, a=1))
    assert (type(counts), counts["a"], counts["b"]) == (collections.defaultdict, math.inf, [])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.ones((2, 3)), np.float64),
        (np.ones((2, 0), dtype=np.float32), np.float32),
        (np.ones(4, dtype=np.float32), np.float32),
        (np.ones(4, dtype=np.int8), np.float64),
        (np.ones(4, dtype=np.complex64), np.complex64),
        (np.ones((), dtype=np.float32), np.float32),
        (np.array([1, 2.5], dtype=object), object),
    ],
)
def test_arrays_stay_arrays(changed: Changed, values: Any, dtype: Any) -> None:
    found = changed(numerical.nan_injection(CHARGE), values)
    assert (type(found), found.shape, found.dtype) == (np.ndarray, values.shape, dtype)
    assert all(item != item for item in found.ravel().tolist())
    assert not any(item != item for item in values.ravel().tolist())


@pytest.mark.parametrize("values", [np.array([True]), np.array(["a"]), np.array(["2026-01-01"], dtype="datetime64[D]")])
def test_arrays_of_other_things_are_left_alone(changed: Changed, values: Any) -> None:
    assert changed(numerical.inf_injection(CHARGE), values) is values


def test_numbers_of_numpy(changed: Changed) -> None:
    assert changed(numerical.inf_injection(CHARGE), [np.float32(1), np.int64(2)]) == [math.inf, math.inf]


# wrong_shape


def test_wrong_shape_with_numpy(changed: Changed) -> None:
    found = changed(numerical.wrong_shape(CHARGE, (2,), (2, 3)), [1, 2])
    assert (type(found), found.shape, found.any()) == (np.ndarray, (2, 3), False)


@pytest.mark.parametrize(("shape", "zeros"), [((), 0.0), ((2,), [0.0, 0.0]), ((2, 1), [[0.0], [0.0]]), ((0, 3), [])])
def test_wrong_shape_without_numpy(
    changed: Changed, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], zeros: Any
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert changed(numerical.wrong_shape(CHARGE, (9,), shape), 7) == zeros


# dtype_drift


@pytest.mark.parametrize(
    ("kind", "value", "drifted"),
    [
        ("str", [1, 2.5, "x", None], ["1", "2.5", "x", None]),
        ("int", [1.9, Decimal("2.5"), 3 + 4j], [1, 2, 3]),
        ("bool", {"a": 0, "b": 2.5}, {"a": False, "b": True}),
        ("object", (1, [2]), ({"value": 1}, [{"value": 2}])),
    ],
)
def test_dtype_drift(changed: Changed, kind: str, value: Any, drifted: Any) -> None:
    assert repr(changed(numerical.dtype_drift(CHARGE, kind), value)) == repr(drifted)


def test_a_number_that_is_no_int_stays(changed: Changed) -> None:
    assert repr(changed(numerical.dtype_drift(CHARGE, "int"), [math.nan, math.inf])) == "[nan, inf]"


@pytest.mark.parametrize(("kind", "dtype"), [("str", "U"), ("int", "i"), ("bool", "b"), ("object", "O")])
def test_the_type_of_an_array_drifts(changed: Changed, kind: str, dtype: str) -> None:
    found = changed(numerical.dtype_drift(CHARGE, kind), np.array([[1.5, 0.0]]))
    assert (found.shape, found.dtype.kind) == ((1, 2), dtype)


# partial_batch


@pytest.mark.parametrize(
    ("value", "fraction", "min_items", "kept"),
    [
        ([1, 2, 3, 4], 0.5, 1, [1, 2]),
        ((1, 2, 3), 0.5, 1, (1,)),
        ([1, 2, 3], 0.0, 1, [1]),
        ([1, 2, 3], 0.0, 0, []),
        ([1, 2], 0.5, 5, [1, 2]),
        ([], 0.5, 1, []),
        (array.array("i", [1, 2]), 0.5, 1, array.array("i", [1])),
        ("text", 0.5, 1, "text"),
        (Point(1, "a"), 0.5, 1, Point(1, "a")),
        ({"a": 1}, 0.5, 1, {"a": 1}),
    ],
)
def test_partial_batch(changed: Changed, value: Any, fraction: float, min_items: int, kept: Any) -> None:
    assert changed(numerical.partial_batch(CHARGE, fraction, min_items), value) == kept


def test_partial_batch_of_arrays(changed: Changed) -> None:
    fault = numerical.partial_batch(CHARGE)
    assert changed(fault, np.ones((4, 3))).shape == (2, 3)
    assert changed(fault, np.ones(())).shape == ()


# feature_order_drift


@pytest.mark.parametrize(
    ("value", "shift", "drifted"),
    [
        ([1, 2, 3], 1, "[2, 3, 1]"),
        ((1, 2, 3), -1, "(3, 1, 2)"),
        ([1, 2, 3], 5, "[3, 1, 2]"),
        ([], 1, "[]"),
        ([[1, 2], (3, 4), {"a": 1, "b": 2}], 1, "[[2, 1], (4, 3), {'b': 2, 'a': 1}]"),
        ({"a": 1, "b": 2, "c": 3}, 1, "{'b': 2, 'c': 3, 'a': 1}"),
        (Point(1, "a"), 1, "Point(x='a', label=1)"),
        (7, 1, "7"),
        ("text", 1, "'text'"),
    ],
)
def test_feature_order_drift(changed: Changed, value: Any, shift: int, drifted: str) -> None:
    assert repr(changed(numerical.feature_order_drift(CHARGE, shift=shift), value)) == drifted


def test_features_of_arrays_drift_in_each_row(changed: Changed) -> None:
    fault = numerical.feature_order_drift(CHARGE)
    assert changed(fault, np.array([[1, 2, 3], [4, 5, 6]])).tolist() == [[2, 3, 1], [5, 6, 4]]
    assert changed(fault, np.array([1, 2, 3])).tolist() == [2, 3, 1]
    assert changed(fault, np.array(7)).tolist() == 7


# missing_feature


@pytest.mark.parametrize(
    ("value", "key", "found"),
    [
        ({"a": 1, "b": 2}, None, {"b": 2}),
        ({"a": 1, "b": 2}, "b", {"a": 1}),
        ({"a": 1}, "z", {"a": 1}),
        ({}, None, {}),
        ([{"a": 1, "b": 2}, {"b": 3}, 7], "b", [{"a": 1}, {}, 7]),
        (({"a": 1},), None, ({},)),
        ("text", None, "text"),
    ],
)
def test_missing_feature(changed: Changed, value: Any, key: Any, found: Any) -> None:
    assert changed(numerical.missing_feature(CHARGE, key), value) == found


def test_a_missing_feature_can_be_filled(changed: Changed) -> None:
    fault = numerical.missing_feature(CHARGE, "b", fill=None)
    assert repr(changed(fault, {"a": 1, "b": 2, "c": 3})) == "{'a': 1, 'b': None, 'c': 3}"
    assert changed(fault, {"a": 1}) == {"a": 1}


# corrupted_floats


@pytest.mark.parametrize(
    ("kind", "value"),
    [("inf", math.inf), ("-inf", -math.inf), ("max", sys.float_info.max), ("min", math.ulp(0.0))],
)
def test_corrupted_floats(kind: str, value: float) -> None:
    fault = numerical.corrupted_floats(kind)
    assert fault.value() == 0.0
    with fault:
        assert fault.value() == value
    assert (fault.value(), fault.observation_hits) == (0.0, 1)

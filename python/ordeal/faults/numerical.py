"""Faults of numbers: results that are not numbers, or have another shape, type, order or size.

``target`` is the dotted path of the function whose result changes.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Complex, Number, Real
from typing import Any

from ordeal.errors import FaultError
from ordeal.faults.arguments import check_count, check_fraction
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import Fault, made_again

Change = Callable[[Any], Any]


__all__ = [
    "corrupted_floats",
    "dtype_drift",
    "feature_order_drift",
    "inf_injection",
    "missing_feature",
    "nan_injection",
    "partial_batch",
    "wrong_shape",
]


_CORRUPT_FLOATS = {
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "max": sys.float_info.max,
    "min": 5e-324,
}


class _Drop:
    """Stands for "no value": the feature is dropped."""

    def __repr__(self) -> str:
        return "<drop>"


_DROP = _Drop()


@made_again
def nan_injection(target: str) -> CallFault:
    """Turn every number in the result into NaN: in lists, tuples, dicts, arrays and what has a ``tolist()``."""
    return CallFault(target, f"nan_injection({target})", after=_replacing_numbers(math.nan))


@made_again
def inf_injection(target: str) -> CallFault:
    """Turn every number in the result into infinity: in lists, tuples, dicts, arrays, what has a ``tolist()``."""
    return CallFault(target, f"inf_injection({target})", after=_replacing_numbers(math.inf))


@made_again
def wrong_shape(target: str, expected: Sequence[int], actual: Sequence[int]) -> CallFault:
    """Call ``target``, and return zeros of the shape ``actual``, where ``expected`` is the right one.

    They are a numpy array where numpy is installed, else nested lists. Raises FaultError when one is not a shape.
    """
    right, wrong = _shape("expected", expected), _shape("actual", actual)

    def zeros(_result: Any) -> Any:
        if importlib.util.find_spec("numpy") is None:
            return _nested_zeros(wrong)
        # Imported late: programs without arrays must not wait for numpy.
        return importlib.import_module("numpy").zeros(wrong)

    return CallFault(target, f"wrong_shape({target}, {right}->{wrong})", after=zeros)


@made_again
def dtype_drift(target: str, kind: str = "str") -> CallFault:
    """Turn every number in the result into a ``str``, ``int``, ``bool``, or with ``object`` a ``{"value": number}``.

    A number that ``int`` cannot take, such as NaN, stays. Raises FaultError for another kind.
    """
    changes: dict[str, Change] = {"str": str, "int": _whole, "bool": bool, "object": lambda number: {"value": number}}
    if kind not in [*changes]:
        raise FaultError(f"dtype_drift() has no kind {kind!r}", hint=f"write one of {', '.join(changes)}")
    return CallFault(target, f"dtype_drift({target}, {kind})", after=lambda result: _with(result, changes[kind]))


@made_again
def partial_batch(target: str, fraction: float = 0.5, min_items: int = 1) -> CallFault:
    """Return only the first ``fraction`` of a list, tuple or array, but at least ``min_items`` of it.

    Raises FaultError when ``fraction`` is not between 0 and 1, or ``min_items`` is negative.
    """
    check_fraction("partial_batch", fraction)
    check_count("partial_batch", "min_items", min_items, least=0)

    def cut(result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            is_batch = not hasattr(result, "_make")
        else:
            looks = all(hasattr(result, name) for name in ("tolist", "__len__", "__getitem__"))
            is_batch = looks and getattr(result, "ndim", 1) != 0
        if not is_batch:
            return result
        count = max(min_items, int(len(result) * fraction))
        return result if count >= len(result) else result[:count]

    return CallFault(target, f"partial_batch({target}, fraction={fraction}, min_items={min_items})", after=cut)


@made_again
def feature_order_drift(target: str, *, shift: int = 1) -> CallFault:
    """Rotate the features of the result ``shift`` places to the left.

    They are the values of a list, tuple or array, and the keys of a dict, whose order changes.
    In a list of rows and in an array with more than one dimension they move in each row. Raises FaultError when
    ``shift`` is not a whole number.
    """
    check_count("feature_order_drift", "shift", shift)
    return CallFault(
        target, f"feature_order_drift({target}, shift={shift})", after=lambda result: _reordered(result, shift)
    )


@made_again
def missing_feature(target: str, key: Any = None, *, fill: Any = _DROP) -> CallFault:
    """Remove ``key`` (the first key when None) from a dict or a list of dicts, or put ``fill`` in its place.

    Dicts without the key are left alone.
    """
    return CallFault(
        target, f"missing_feature({target}, key={key!r})", after=lambda result: _without(result, key, fill)
    )


class CorruptedFloats(Fault):
    """A float with a special value while the fault is on; it patches nothing."""

    counts_calls = True

    def __init__(self, corrupt_type: str) -> None:
        super().__init__(f"corrupted_floats({corrupt_type})")
        self._corrupt = _CORRUPT_FLOATS[corrupt_type]

    def value(self) -> float:
        """Return the corrupt float while the fault is on, else 0.0."""
        if not self.active:
            return 0.0
        self.observe()
        self.observe_change()
        return self._corrupt

    def _do_activate(self) -> None:
        """Do nothing: being on is the whole effect."""

    def _do_deactivate(self) -> None:
        """Do nothing: nothing was put in place."""


@made_again
def corrupted_floats(corrupt_type: str = "nan") -> CorruptedFloats:
    """Make a fault whose ``value()`` is ``nan``, ``inf``, ``-inf``, ``max`` or ``min``, as ``corrupt_type`` says.

    ``max`` is the greatest float, ``min`` the least above 0.

    It patches nothing: the test passes the value on. When the fault is off, the value is 0.0. Raises FaultError for
    another type.
    """
    if corrupt_type not in [*_CORRUPT_FLOATS]:
        raise FaultError(
            f"corrupted_floats() has no type {corrupt_type!r}", hint=f"write one of {', '.join(_CORRUPT_FLOATS)}"
        )
    return CorruptedFloats(corrupt_type)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers anywhere in a result


def _replacing_numbers(value: float) -> Change:
    def replacement(number: Any) -> Any:
        if isinstance(number, Decimal):
            return Decimal(value)
        if isinstance(number, Complex) and not isinstance(number, Real):
            return complex(value)
        return number if number == value or (number != number and value != value) else value

    return lambda result: _with(result, replacement)


def _whole(number: Any) -> Any:
    real: Any = number if isinstance(number, (Real, Decimal)) else number.real
    return int(real) if math.isfinite(real) else number


def _with(value: Any, change: Change) -> Any:
    """Return ``value`` with all numbers changed, in new containers of the same kinds; itself if none changes."""
    if isinstance(value, bool):
        # A number only to Python.
        return value
    if isinstance(value, Number):
        return change(value)
    if isinstance(value, dict):
        items = {key: _with(item, change) for key, item in value.items()}
        return value if _are_same(items.values(), value.values()) else _like_dict(value, list(items.items()))
    if isinstance(value, (list, tuple)):
        made = [_with(item, change) for item in value]
        return value if _are_same(made, value) else _like_sequence(value, made)
    if not _is_array(value):
        return _with(value.tolist(), change) if hasattr(value, "tolist") else value
    if value.dtype.kind not in "iufcO":
        return value
    before = value.ravel().tolist()
    numbers = [_with(item, change) for item in before]
    if _are_same(numbers, before):
        return value
    numpy = sys.modules["numpy"]
    if value.dtype.kind == "O" or not numbers:
        array = numpy.empty(len(numbers), value.dtype)
        array[:] = numbers
    else:
        array = numpy.array(numbers)
        if array.dtype.kind == value.dtype.kind:
            array = array.astype(value.dtype)
    return array.reshape(value.shape)


def _are_same(items: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(item is other for item, other in zip(items, others, strict=True))


def _like_dict(original: dict[Any, Any], items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    # A copy keeps the kind of dict, and for example the factory of a defaultdict.
    made = copy.copy(original)
    made.clear()
    made.update(items)
    return made


def _like_sequence(original: Any, items: list[Any]) -> Any:
    if isinstance(original, list):
        return items
    return type(original)._make(items) if hasattr(original, "_make") else tuple(items)


# ---------------------------------------------------------------------------------------------------------------------
# Arrays and shapes


def _is_array(value: Any) -> bool:
    # An array of numpy exists only if numpy was imported.
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _shape(argument: str, shape: Sequence[int]) -> tuple[int, ...]:
    sizes: tuple[Any, ...] = tuple(shape) if isinstance(shape, (list, tuple)) else (None,)
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes):
        raise FaultError(f"wrong_shape() got {argument}={shape!r}", hint="write a tuple of sizes, such as (2, 3)")
    return sizes


def _nested_zeros(shape: tuple[int, ...]) -> Any:
    return [_nested_zeros(shape[1:]) for _ in range(shape[0])] if shape else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# Features


def _reordered(value: Any, shift: int) -> Any:
    if isinstance(value, dict):
        return _like_dict(value, _rotated(list(value.items()), shift)) if value and shift % len(value) else value
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(row, (list, tuple, dict)) or _is_array(row) for row in value):
            rows = [_reordered(row, shift) for row in value]
            return value if _are_same(rows, value) else _like_sequence(value, rows)
        return _like_sequence(value, _rotated(list(value), shift)) if value and shift % len(value) else value
    if _is_array(value) and value.ndim:
        return sys.modules["numpy"].roll(value, -shift, axis=-1)
    return value


def _rotated(items: list[Any], shift: int) -> list[Any]:
    start = shift % len(items) if items else 0
    return items[start:] + items[:start]


def _without(value: Any, key: Any, fill: Any) -> Any:
    if isinstance(value, (list, tuple)):
        rows = [_without(row, key, fill) if isinstance(row, dict) else row for row in value]
        return value if _are_same(rows, value) else _like_sequence(value, rows)
    if not isinstance(value, dict):
        return value
    missing = next(iter(value), None) if key is None else key
    if missing not in value:
        return value
    if fill is _DROP:
        return _like_dict(value, [(name, item) for name, item in value.items() if name != missing])
    return _like_dict(value, [(name, fill if name == missing else item) for name, item in value.items()])

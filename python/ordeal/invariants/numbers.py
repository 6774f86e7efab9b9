"""Invariants on numbers, alone or in collections of any depth: NaN, infinity, bounds, mean and variance."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from numbers import Number
from typing import Any

from ordeal.errors import ConfigError
from ordeal.invariants.check import Invariant, shown

Complaint = Callable[[Any], str | None]


def _is_nan(number: Any) -> bool:
    return number.is_nan() if isinstance(number, Decimal) else number != number


def _is_inf(number: Any) -> bool:
    if isinstance(number, complex):
        return math.isinf(number.real) or math.isinf(number.imag)
    return not _is_nan(number) and (number == math.inf or number == -math.inf)


def _every(name: str, complaint: Complaint, array_holds: Callable[[Any, Any], bool]) -> Invariant:
    """Return an invariant: no number has a ``complaint``. ``array_holds(numpy, array)`` is a quicker way to know it."""

    def check(value: Any) -> str | None:
        array = value.to_numpy() if hasattr(value, "to_numpy") else value
        numpy = sys.modules.get("numpy")  # without it in the program, nothing is an array
        is_array = numpy is not None and isinstance(array, numpy.ndarray) and array.dtype.kind in "biufc"
        if is_array and array_holds(numpy, array):
            return None
        for path, number in _numbers(value):
            said = complaint(number)
            if said is not None:
                return f"value{path} is {shown(number)}{said}"
        return None

    return Invariant(name, check)


no_nan = _every("no_nan", lambda n: "" if _is_nan(n) else None, lambda np, a: not np.isnan(a).any())
"""No number is NaN."""

no_inf = _every("no_inf", lambda n: "" if _is_inf(n) else None, lambda np, a: not np.isinf(a).any())
"""No number is infinite."""

finite = _every("finite", lambda n: "" if _is_nan(n) or _is_inf(n) else None, lambda np, a: np.isfinite(a).all())
"""Every number is finite."""


def bounded(lo: float, hi: float) -> Invariant:
    """Check that every number is from ``lo`` to ``hi``, both included; NaN is not.

    Raises ConfigError when the bounds are no numbers, or in the wrong order.
    """
    _check_bounds("bounded", lo, hi)

    def complaint(number: Any) -> str | None:
        return _outside(number, lo, hi)

    def array_holds(_np: Any, array: Any) -> bool:
        return array.dtype.kind != "c" and bool(((array >= lo) & (array <= hi)).all())

    return _every(f"bounded({lo!r}, {hi!r})", complaint, array_holds)


def mean_bounded(lo: float, hi: float) -> Invariant:
    """Check that the mean of all numbers is from ``lo`` to ``hi``; there must be one.

    Raises ConfigError as ``bounded`` does.
    """
    return _statistic("mean", lo, hi, _mean)


def variance_bounded(lo: float, hi: float) -> Invariant:
    """Check that the variance of all numbers, as a population, is from ``lo`` to ``hi``. There must be a number.

    Raises ConfigError as ``bounded`` does.
    """
    return _statistic("variance", lo, hi, _variance)


def _statistic(what: str, lo: float, hi: float, compute: Callable[[list[float]], float]) -> Invariant:
    _check_bounds(f"{what}_bounded", lo, hi)

    def check(value: Any) -> str | None:
        numbers = list[float]()
        for path, number in _numbers(value):
            if isinstance(number, complex):
                raise AssertionError(f"value{path} is {number!r}, which is not a real number")
            try:
                numbers.append(float(number))
            except OverflowError:
                numbers.append(math.inf if number > 0 else -math.inf)
        if not numbers:
            return f"{shown(value)} has no numbers, so it has no {what}"
        result = compute(numbers)
        said = _outside(result, lo, hi)
        return None if said is None else f"the {what} of {len(numbers)} numbers is {result!r}{said}"

    return Invariant(f"{what}_bounded({lo!r}, {hi!r})", check)


def _mean(numbers: list[float]) -> float:
    if not all(map(math.isfinite, numbers)):
        return sum(numbers)
    # Divided first: the sum of numbers that are finite need not be.
    return math.fsum(number / len(numbers) for number in numbers)


def _variance(numbers: list[float]) -> float:
    mean = _mean(numbers)
    try:
        return _mean([(number - mean) ** 2 for number in numbers])
    except OverflowError:
        return math.inf


# ---------------------------------------------------------------------------------------------------------------------
# Reading values


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number in ``value`` with the way to it; of a mapping, those of its values."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Number):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, f"{path}[{key!r}]")
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for at, item in enumerate(value):
            yield from _numbers(item, f"{path}[{at}]")
    else:
        raise AssertionError(f"value{path} is {shown(value)}, of type {type(value).__name__}, which is not a number")


def _outside(number: Any, lo: float, hi: float) -> str | None:
    if isinstance(number, complex):
        return ", which cannot be ordered"
    if _is_nan(number):
        return f", not in {lo!r} to {hi!r}"
    if number < lo:
        return f", below {lo!r}"
    return f", above {hi!r}" if number > hi else None


def _check_bounds(name: str, lo: Any, hi: Any) -> None:
    for bound in (lo, hi):
        if not isinstance(bound, Number) or isinstance(bound, bool | complex) or _is_nan(bound):
            raise ConfigError(
                f"{name}({lo!r}, {hi!r}): {bound!r} is not a bound", hint=f"write for example {name}(0, 1)"
            )
    if lo > hi:
        raise ConfigError(
            f"{name}({lo!r}, {hi!r}): the lower bound is above the upper bound", hint=f"write {name}({hi!r}, {lo!r})"
        )

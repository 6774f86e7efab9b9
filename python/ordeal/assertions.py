"""The assertions in a program: what always holds, what must happen sometimes, which places are reached and which never.

They may stay in production code. While nothing tracks them, a call that finds nothing wrong costs some ten nanoseconds.
``always(False, ...)`` and ``unreachable(...)`` always raise AssertionError; the others only count.

Arguments mean the same in all of them. ``name`` is a constant that belongs to one property, whose ``kind`` is the name
of the call. ``condition`` must be true, and ``passed`` is whether it was. ``operation`` and ``fault``, both or neither,
count the hit also for this operation under this fault. With ``mute=True`` a violation is counted, but not raised.
``details`` are values that are shown with a violation. ``distance`` is how far a comparison was from its limit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec.structs import asdict

from ordeal._base.fast_path import Idle, fast_path
from ordeal._base.outside import outside
from ordeal._base.property_text import say_observed
from ordeal._base.property_tracker import (
    PROPERTY_TYPES,
    PropertyReport,
    PropertyTracker,
    PropertyType,
    ReliabilityCell,
    ReliabilityCoverage,
    assertions_enabled,
    hit_counts,
    tracker,
)
from ordeal.errors import PropertyError

__all__ = [
    "PropertyReport",
    "PropertyTracker",
    "ReliabilityCell",
    "ReliabilityCoverage",
    "always",
    "always_ge",
    "always_gt",
    "always_le",
    "always_lt",
    "always_or_unreachable",
    "declare",
    "reachable",
    "report",
    "sometimes",
    "sometimes_all",
    "sometimes_ge",
    "sometimes_gt",
    "sometimes_le",
    "sometimes_lt",
    "tracker",
    "unreachable",
]

Condition = object | Callable[[], object]

LABELS = ("operation", "fault")

# ---------------------------------------------------------------------------------------------------------------------
# What holds whenever it is checked


@fast_path(assertions_enabled, "holds", labels=LABELS, counts=hit_counts, kind=PROPERTY_TYPES.index("always"))
def always(
    condition: object,
    name: str,
    *,
    mute: bool = False,
    operation: str | None = None,
    fault: str | None = None,
    **details: object,
) -> None:
    """Assert that ``condition`` is true whenever this is reached, which it must be at least once.

    ``mute`` only counts a violation. ``operation`` and ``fault``, given together, name the cell of the reliability
    coverage in which it counts. ``details`` are shown with a violation.

    Raises:
        AssertionError: the condition is false.
        PropertyError: only one of ``operation`` and ``fault`` is given, or a property of another type has the name.
    """
    __tracebackhide__ = True
    _check("always", bool(condition), name, mute, operation, fault, details)


@fast_path(
    assertions_enabled, "holds", labels=LABELS, counts=hit_counts, kind=PROPERTY_TYPES.index("always_or_unreachable")
)
def always_or_unreachable(
    condition: object,
    name: str,
    *,
    mute: bool = False,
    operation: str | None = None,
    fault: str | None = None,
    **details: object,
) -> None:
    """Assert like ``always``, in a place that need not be reached. Raises what ``always`` does."""
    __tracebackhide__ = True
    _check("always_or_unreachable", bool(condition), name, mute, operation, fault, details)


class AlwaysCompared(Protocol):
    """An ``always`` that compares two values."""

    def __call__(
        self,
        left: Any,
        right: Any,
        name: str,
        *,
        mute: bool = False,
        operation: str | None = None,
        fault: str | None = None,
        **details: object,
    ) -> None:
        """Assert the comparison."""


def _always_compared(idle: Idle, sign: str, compare: Callable[[Any, Any], Any]) -> AlwaysCompared:
    def always_compared(
        left: Any,
        right: Any,
        name: str,
        *,
        mute: bool = False,
        operation: str | None = None,
        fault: str | None = None,
        **details: object,
    ) -> None:
        __tracebackhide__ = True
        passed = bool(compare(left, right))
        distance = _distance(left, right) if passed else 0.0
        details = {"left": left, "right": right, **details}
        _check("always", passed, name, mute, operation, fault, details, distance)

    doc = f"Assert that ``left {sign} right``, like ``always``, and keep the smallest distance between them."
    return fast_path(assertions_enabled, idle)(_named(always_compared, f"always_{idle}", doc))


def _named[Function: Callable[..., None]](function: Function, name: str, doc: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


always_gt = _always_compared("gt", ">", operator.gt)
always_ge = _always_compared("ge", ">=", operator.ge)
always_lt = _always_compared("lt", "<", operator.lt)
always_le = _always_compared("le", "<=", operator.le)


def unreachable(
    name: str, *, mute: bool = False, operation: str | None = None, fault: str | None = None, **details: object
) -> None:
    """Assert that this place is never reached. With ``mute``, reaching it is only counted.

    Raises:
        AssertionError: it was reached.
        PropertyError: as ``always``.
    """
    __tracebackhide__ = True
    text = _text_of(details)
    _record("unreachable", name, False, operation, fault, None, text)
    if not mute:
        raise _violation(f"unreachable code reached: {name}", text)


# ---------------------------------------------------------------------------------------------------------------------
# What must happen in some run


@fast_path(
    assertions_enabled,
    "nothing",
    working=("attempts", "warn"),
    labels=LABELS,
    counts=hit_counts,
    kind=PROPERTY_TYPES.index("sometimes"),
)
def sometimes(
    condition: Condition,
    name: str,
    *,
    attempts: int | None = None,
    warn: bool = False,
    operation: str | None = None,
    fault: str | None = None,
    **details: object,
) -> None:
    """Note whether ``condition``, a value or a function without arguments, is true: it must be in at least one run.

    Only ``report()``, at the end, can tell that it was never true. With ``attempts``, a function is called here and
    now, up to that many times until it returns true. ``warn`` prints what was seen while no tracker records it.
    ``operation`` and ``fault`` are as in ``always``; ``details`` are kept from the first time that it was not true.

    Raises:
        AssertionError: none of ``attempts`` was true.
        PropertyError: as ``always``, or ``attempts`` is below 1 or without a function.
    """
    __tracebackhide__ = True
    if attempts is None:
        passed = bool(condition() if callable(condition) else condition)
    elif attempts < 1:
        raise PropertyError(f"attempts is {attempts!r}", hint="write a whole number, 1 or more")
    elif not callable(condition):
        raise PropertyError(
            "attempts needs a condition that can be asked again", hint="write for example `lambda: queue.empty()`"
        )
    else:
        passed = any(bool(condition()) for _ in range(attempts))
    _record("sometimes", name, passed, operation, fault, None, "" if passed else _text_of(details))
    if attempts is not None and not passed:
        raise AssertionError(f"sometimes: never true in {attempts} attempts: {name}")
    if warn and not tracker.active:
        say_observed(name, passed)


@fast_path(assertions_enabled, "nothing")
def sometimes_all(
    conditions: Mapping[str, object],
    name: str,
    *,
    operation: str | None = None,
    fault: str | None = None,
    **details: object,
) -> None:
    """Note whether all ``conditions`` are true at the same time: they must be in at least one run.

    The distance is the number of false ones. Raises PropertyError as ``always``.
    """
    false = [key for key, condition in conditions.items() if not condition]
    text = "" if not false else _text_of({"false": false, **details})
    _record("sometimes", name, not false, operation, fault, float(len(false)), text)


class SometimesCompared(Protocol):
    """A ``sometimes`` that compares two values."""

    def __call__(
        self,
        left: Any,
        right: Any,
        name: str,
        *,
        operation: str | None = None,
        fault: str | None = None,
        **details: object,
    ) -> None:
        """Note the comparison."""


def _sometimes_compared(name: str, sign: str, compare: Callable[[Any, Any], Any]) -> SometimesCompared:
    def sometimes_compared(
        left: Any, right: Any, name: str, *, operation: str | None = None, fault: str | None = None, **details: object
    ) -> None:
        passed = bool(compare(left, right))
        distance = 0.0 if passed else _distance(left, right)
        text = "" if passed else _text_of({"left": left, "right": right, **details})
        _record("sometimes", name, passed, operation, fault, distance, text)

    doc = f"Note whether ``left {sign} right``: it must be in at least one run. Keeps how near it came."
    return fast_path(assertions_enabled, "nothing")(_named(sometimes_compared, name, doc))


sometimes_gt = _sometimes_compared("sometimes_gt", ">", operator.gt)
sometimes_ge = _sometimes_compared("sometimes_ge", ">=", operator.ge)
sometimes_lt = _sometimes_compared("sometimes_lt", "<", operator.lt)
sometimes_le = _sometimes_compared("sometimes_le", "<=", operator.le)


@fast_path(assertions_enabled, "nothing", labels=LABELS, counts=hit_counts, kind=PROPERTY_TYPES.index("reachable"))
def reachable(name: str, *, operation: str | None = None, fault: str | None = None, **details: object) -> None:
    """Note that this place was reached: it must be in at least one run. Raises PropertyError as ``always``."""
    del details
    _record("reachable", name, True, operation, fault, None, "")


# ---------------------------------------------------------------------------------------------------------------------
# What is expected and what was seen


def declare(
    name: str, kind: PropertyType = "sometimes", *, operation: str | None = None, fault: str | None = None
) -> None:
    """Expect a ``sometimes`` or ``reachable`` property, so that it fails even if no run comes near it.

    With ``operation`` and ``fault`` a property of any type can be expected in that cell of the reliability coverage.

    Raises:
        PropertyError: as ``always``, or that type cannot be declared.
    """
    _check_labels(operation, fault)
    if operation is None and kind not in ("sometimes", "reachable"):
        raise PropertyError(
            f"{name!r} cannot be declared as {kind!r} without a cell",
            hint='write "sometimes" or "reachable", or pass operation= and fault=',
        )
    tracker.declare(name, kind, operation=operation, fault=fault)


def report() -> PropertyReport:
    """Return True if each property that was seen or declared passed.

    A row has name, type, hits, passes, failures, status, evidence_status, summary and details.
    ``reliability_coverage`` is included when operations and faults were named.
    """
    passed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for result in tracker.results:
        (passed if result.status == "PASS" else failed).append(asdict(result))
    cells = tracker.cells
    if not cells:
        return {"passed": passed, "failed": failed}
    counts = {"PASS": 0, "FAIL": 0, "NOT EXERCISED": 0}
    for cell in cells:
        counts[cell.status] += 1
    return {
        "passed": passed,
        "failed": failed,
        "reliability_coverage": {
            "dimensions": ["operation", "fault"],
            "rows": [asdict(cell) for cell in cells],
            "summary": {
                "cells": len(cells),
                "passed": counts["PASS"],
                "failed": counts["FAIL"],
                "not_exercised": counts["NOT EXERCISED"],
            },
        },
    }


# ---------------------------------------------------------------------------------------------------------------------


def _check(
    kind: PropertyType,
    passed: bool,
    name: str,
    mute: bool,
    operation: str | None,
    fault: str | None,
    details: dict[str, object],
    distance: float | None = None,
) -> None:
    __tracebackhide__ = True
    if passed:
        _record(kind, name, True, operation, fault, distance, "")
        return
    text = _text_of(details)
    _record(kind, name, False, operation, fault, distance, text)
    if not mute:
        raise _violation(f"always violated: {name}", text)


def _violation(what: str, details: str) -> AssertionError:
    """Return the error to raise. It fails the step also where the program catches it."""
    error = AssertionError(f"{what}{details and f' | {details}'}")
    outside.violated(error)
    return error


def _record(
    kind: PropertyType,
    name: str,
    passed: bool,
    operation: str | None,
    fault: str | None,
    distance: float | None,
    details: str,
) -> None:
    if operation is not fault:
        _check_labels(operation, fault)
    tracker.record(kind, name, passed, operation=operation, fault=fault, distance=distance, details=details)


def _check_labels(operation: str | None, fault: str | None) -> None:
    if (operation is None) != (fault is None):
        given, missing = ("operation", "fault") if fault is None else ("fault", "operation")
        raise PropertyError(f"{given}= is given without {missing}=", hint="a cell needs both: pass both, or neither")


def _distance(left: Any, right: Any) -> float | None:
    """Return how far apart two values are; None where that is not a number."""
    try:
        distance = abs(float(left - right))
    except (TypeError, ValueError, ArithmeticError):
        return None
    return None if math.isnan(distance) else distance


def _text_of(details: dict[str, object]) -> str:
    """Return the details as text, even if a ``repr`` raises: a violation must not turn into another error."""
    if not details:
        return ""
    try:
        return str(details)
    except BaseException as error:
        # The repr is code of the user's, which may raise anything.
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"<details whose repr raises {type(error).__name__}>"

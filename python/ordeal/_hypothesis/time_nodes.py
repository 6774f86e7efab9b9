"""Compiled nodes for dates, times, datetimes and timedeltas."""

from __future__ import annotations

import datetime
from typing import Any

from hypothesis.strategies._internal import datetime as time_strategies
from hypothesis.strategies._internal.lazy import unwrap_strategies
from hypothesis.strategies._internal.misc import JustStrategy

import ordeal._native as _native

_MICROSECOND = datetime.timedelta(microseconds=1)
_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
_FIRST_OF_TIME = 3


def time_node(strategy: Any) -> _native.StrategyNode | None:
    """Return the node of a strategy for dates or times without a timezone, or None."""
    low, high = strategy.min_value, strategy.max_value
    kind = type(low)
    if type(high) is not kind or kind is not _KINDS[type(strategy)]:
        return None
    if kind is datetime.timedelta:
        return _native.timedelta_node(kind, _timedelta_parts(low), _timedelta_parts(high))
    if kind is datetime.date:
        end = _FIRST_OF_TIME
        return _native.calendar_node(kind, _parts(low), _parts(high), first=0, end=end, has_fold=False)
    if not _is_none(strategy.tz_strat) or low.tzinfo is not None or high.tzinfo is not None:
        return None
    if kind is datetime.time:
        first = _FIRST_OF_TIME
        return _native.calendar_node(kind, _parts(low), _parts(high), first=first, end=len(_PARTS), has_fold=True)
    return _datetime_node(strategy)


def _datetime_node(strategy: Any) -> _native.StrategyNode | None:
    low, high = _parts(strategy.min_value), _parts(strategy.max_value)
    make = datetime.datetime
    if not getattr(strategy, "tricky_possible", False):
        return _native.calendar_node(make, low, high, first=0, end=len(_PARTS), has_fold=True)
    instants, nearest = time_strategies._interesting_instants(None, *strategy.instant_window)
    return _native.calendar_node(
        make,
        low,
        high,
        first=0,
        end=len(_PARTS),
        has_fold=True,
        tricky_p=time_strategies._TRICKY_P,
        instants=[_parts(instant) for instant in instants],
        simplest=nearest,
        widths_us=[width // _MICROSECOND for width in time_strategies._TRICKY_WIDTHS],
    )


def _is_none(timezones: Any) -> bool:
    plain: Any = unwrap_strategies(timezones)  # type: ignore[no-untyped-call]
    return type(plain) is JustStrategy and plain.elements[0] is None and not plain._transformations


def _parts(moment: Any) -> tuple[int, ...]:
    return tuple(getattr(moment, part, 1 if place < _FIRST_OF_TIME else 0) for place, part in enumerate(_PARTS))


def _timedelta_parts(delta: datetime.timedelta) -> tuple[int, int, int]:
    return delta.days, delta.seconds, delta.microseconds


_KINDS: dict[type, type] = {
    time_strategies.DateStrategy: datetime.date,
    time_strategies.TimeStrategy: datetime.time,
    time_strategies.DatetimeStrategy: datetime.datetime,
    time_strategies.TimedeltaStrategy: datetime.timedelta,
}
TIME_STRATEGIES = tuple(_KINDS)

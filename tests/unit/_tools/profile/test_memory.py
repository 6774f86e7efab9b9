"""Leaks are found with the line that made what stays, and what only looks like one is not reported."""

from __future__ import annotations

import itertools
from collections import deque
from functools import lru_cache
from typing import Any

from ordeal._tools.profile.memory import leaks, trace_memory

KEPT: list[Any] = []
NUMBERS = itertools.count(1000)
LAST: deque[Any] = deque(maxlen=50)


@lru_cache(maxsize=50)
def bounded(number: int) -> list[int]:
    return [number]


def keep() -> None:
    KEPT.append([next(NUMBERS)])


def keep_error() -> None:
    try:
        raise ValueError
    except ValueError as error:
        KEPT.append(error)


def keep_closure() -> None:
    held = [1, 2, 3]
    KEPT.append(lambda: held)


def own_only() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    bounded(next(NUMBERS))
    LAST.append([1])
    KEPT.append(1)
    KEPT.pop()


def places(*kinds: Any) -> list[tuple[str, int]]:
    def run() -> None:
        for _ in range(20):
            for kind in kinds:
                kind()

    trace_memory()
    for each in (KEPT, LAST):
        each.clear()
    bounded.cache_clear()
    return [(each.place.rpartition("/")[2], each.objects) for each in leaks(run)]


def line(function: Any, offset: int) -> str:
    return f"test_memory.py:{function.__code__.co_firstlineno + offset}"


def test_what_stays_is_found_where_it_is_made() -> None:
    found = dict(places(keep, keep_error, keep_closure, own_only))
    assert found[line(keep, 1)] >= 20
    assert found[line(keep_error, 2)] >= 20
    assert found[line(keep_closure, 1)] >= 20
    assert not any(each in found for each in (line(own_only, offset) for offset in range(8)))


def test_what_is_taken_back_bounded_or_collected_is_no_leak() -> None:
    assert places(own_only) == []

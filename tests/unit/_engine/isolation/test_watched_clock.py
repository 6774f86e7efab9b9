"""The clock of those who wait goes on with the real one, and not while nobody looks."""

from __future__ import annotations

import pytest

from ordeal._engine.isolation import watched_clock
from ordeal._engine.isolation.watched_clock import GAP_SECONDS_MAX, WatchedClock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [50.0]
    monkeypatch.setattr(watched_clock, "monotonic", lambda: now[0])
    return now


def test_it_begins_at_zero_and_goes_on_with_the_real_one(now: list[float]) -> None:
    clock = WatchedClock()
    seen = [clock.seconds()]
    for _ in range(4):
        now[0] += 0.125
        seen.append(clock.seconds())
    assert seen == [0.0, 0.125, 0.25, 0.375, 0.5]


def test_it_goes_on_a_little_for_a_long_time_without_a_look(now: list[float]) -> None:
    clock = WatchedClock()
    now[0] += 3_600.0
    assert clock.seconds() == GAP_SECONDS_MAX
    now[0] += 0.125
    assert clock.seconds() == GAP_SECONDS_MAX + 0.125

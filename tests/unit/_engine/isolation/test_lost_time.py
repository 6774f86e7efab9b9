"""Time is lost while this process cannot run: not while its C code runs, nor while it waits for something."""

from __future__ import annotations

import pytest

from ordeal._engine.isolation import lost_time
from ordeal._engine.isolation.lost_time import LostTime


def lost(monkeypatch: pytest.MonkeyPatch, gap: float, *, tick: float = 1.0, cpu: float = 0.0, waits: int = 0) -> float:
    """What counts as lost of a gap between two alarms in which so much CPU time went by, and the process waited."""
    used = (5.0, 70)
    monkeypatch.setattr(lost_time, "_used", lambda: used)
    measured = LostTime()
    measured.begin(100.0)
    used = (5.0 + cpu, 70 + waits)
    return measured.until(100.0 + gap, tick)


@pytest.mark.parametrize("gap", [0.001, 1.0, 2.0])
def test_nothing_is_lost_while_alarms_come_in_time(monkeypatch: pytest.MonkeyPatch, gap: float) -> None:
    assert lost(monkeypatch, gap) == 0.0


def test_where_the_machine_stops_all_but_one_tick_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost(monkeypatch, 3_600.0, waits=1) == 3_599.0


def test_what_others_take_is_lost_and_what_c_code_takes_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost(monkeypatch, 10.0, cpu=10.0) == 0.0
    assert lost(monkeypatch, 10.0, cpu=4.0) == 6.0


def test_what_wakes_at_each_alarm_and_goes_on_waiting_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost(monkeypatch, 10.0, waits=10) == 0.0


def test_threads_may_take_more_than_the_time_that_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost(monkeypatch, 10.0, cpu=30.0) == 0.0


def test_each_call_measures_from_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_time, "_used", lambda: (0.0, 0))
    measured = LostTime()
    measured.begin(0.0)
    assert [measured.until(now, 1.0) for now in (5.0, 6.0, 9.0)] == [4.0, 0.0, 2.0]

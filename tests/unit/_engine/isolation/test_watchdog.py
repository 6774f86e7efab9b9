"""A step that takes too long is ended; everything else is left alone."""

from __future__ import annotations

import asyncio
import gc
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._base import interrupts
from ordeal._base.rule_timeout import RuleTimeoutError, call_with_timeout
from ordeal._engine.isolation import watchdog as watchdogs
from ordeal._engine.isolation.hangs import ends_within
from ordeal._engine.isolation.watchdog import OutOfTime, Watchdog
from ordeal._engine.replay.crash_replayer import SLACK_SECONDS
from ordeal._native import ALARM_SIGNAL, ring_in, rings_in


class TooLongError(Exception):
    """What the watchdogs of these tests raise."""


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def burn(seconds: float) -> None:
    """Take so much CPU time, however long that takes beside others."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Clock:
    """Time that passes when it is told to, and the alarms that ring in it: stands for the modules of both."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.late = 0.0  # the next alarm alone
        self._rings_at, self._every = math.inf, 0.0
        self._handler: Callable[[int, FrameType | None], object] = lambda number, frame: None

    def monotonic(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> Any:
        return getattr(signal, name)

    def getsignal(self, number: int) -> object:
        return self._handler if number == ALARM_SIGNAL else signal.getsignal(number)

    def signal(self, number: int, handler: Any) -> object:
        if number != ALARM_SIGNAL:
            return signal.signal(number, handler)
        before, self._handler = self._handler, handler
        return before

    def ring_in(self, seconds: float, interval: float) -> tuple[float, float]:
        before = (0.0 if self._rings_at == math.inf else self._rings_at - self.now, self._every)
        self._rings_at, self._every = (self.now + seconds if seconds else math.inf), interval
        return before

    def spin(self, seconds: float) -> None:
        """Let so much time pass, with the alarms that ring in it."""
        end = self.now + seconds
        while self._rings_at <= end:
            self.now = self._rings_at + self.late
            self._rings_at = self.now - self.late + self._every if self._every else math.inf
            self.late = 0.0
            self._handler(ALARM_SIGNAL, None)
        self.now = end

    def stand_still(self, seconds: float) -> None:
        """Let so much time pass in which no alarm comes through, but one at its end."""
        self.now += seconds
        self._rings_at = self.now + self._every
        self._handler(ALARM_SIGNAL, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of watchdogs."""
    made = Clock()
    monkeypatch.setattr(sys.modules[Watchdog.__module__], "monotonic", made.monotonic)
    monkeypatch.setattr(_native, "monotonic", made.monotonic)
    monkeypatch.setattr(_native, "ring_in", made.ring_in)
    monkeypatch.setattr(interrupts, "signal", made)
    return made


def collect_and_spin() -> None:
    gc.collect()
    spin(10)


pytestmark = pytest.mark.usefixtures("alarm_left_as_found")


def test_a_step_is_ended_after_its_limit() -> None:
    watchdog = Watchdog(0.1, TooLongError)
    watchdog.step += 1
    watchdog.armed = True
    with watchdog.watching(), pytest.raises(TooLongError):
        spin(10)


@pytest.mark.parametrize("limit", [0.4, 4.0, 30.0])
def test_a_step_that_can_be_interrupted_has_ended_when_others_take_it_for_one_that_cannot(
    clock: Clock, limit: float
) -> None:
    watchdog = Watchdog(limit, TooLongError)
    with watchdog.watching():
        watchdog.armed = True
        watchdog.step += 1
        began, clock.late = clock.now, 0.01
        with pytest.raises(TooLongError):
            clock.spin(100)
    assert clock.now - began < ends_within(limit) + SLACK_SECONDS


def test_steps_below_the_limit_go_on_however_many(clock: Clock) -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.armed = True
        for _ in range(200):
            watchdog.step += 1
            clock.spin(0.15)


def test_a_lower_limit_ends_a_step_sooner_and_a_higher_one_not_later(clock: Clock) -> None:
    watchdog = Watchdog(4.0, TooLongError)
    limit = [0.1]
    with watchdog.watching():
        watchdog.lower(lambda: limit[0], 0.05)
        watchdog.armed = True
        watchdog.step += 1
        clock.spin(0.09)
        watchdog.step += 1
        began = clock.now
        with pytest.raises(TooLongError):
            clock.spin(10)
        assert clock.now - began < 0.2
        limit[0] = 100.0
        watchdog.step += 1
        clock.spin(3.9)
        with watchdog.until(clock.now + 50), pytest.raises(TooLongError):
            clock.spin(10)


def test_what_is_done_between_the_parts_of_a_step_takes_its_time(clock: Clock) -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = True
        clock.spin(0.15)
        with watchdog.disarmed():
            clock.spin(0.4)
        clock.spin(0.15)
        with pytest.raises(TooLongError):
            clock.spin(10)


def test_nothing_is_ended_outside_of_user_code(clock: Clock) -> None:
    watchdog = Watchdog(0.05, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = False
        clock.spin(30)


def test_no_limit_means_no_timer() -> None:
    with Watchdog(0.0, TooLongError).watching():
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_has_no_timer_and_no_error() -> None:
    errors: list[BaseException] = []

    def watched() -> None:
        try:
            with Watchdog(0.05, TooLongError).watching():
                spin(0.2)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells
            errors.append(error)

    thread = threading.Thread(target=watched)
    thread.start()
    thread.join()
    assert errors == []


def test_the_timer_of_an_outer_call_comes_back() -> None:
    rung: list[int] = []
    before = signal.signal(ALARM_SIGNAL, lambda *_: rung.append(1))
    ring_in(30.0, 0.0)
    try:
        with Watchdog(1.0, TooLongError).watching():
            pass
        assert rings_in()[0] > 0
    finally:
        ring_in(0.0, 0.0)
        signal.signal(ALARM_SIGNAL, before)


def test_a_step_is_ended_at_a_deadline_before_its_limit(clock: Clock) -> None:
    watchdog = Watchdog(30.0, TooLongError)
    watchdog.armed = True
    started = clock.now
    with watchdog.watching():
        with pytest.raises(OutOfTime), watchdog.until(started + 1.3):
            clock.spin(10)
        assert clock.now - started == pytest.approx(1.3)


def test_an_alarm_of_the_system_ends_a_step_at_its_deadline() -> None:
    watchdog = Watchdog(0.0, TooLongError)
    watchdog.armed = True
    with pytest.raises(OutOfTime), watchdog.until(time.monotonic() + 0.05):
        spin(10)


def test_a_deadline_ends_nothing_outside_of_user_code_and_nothing_later(clock: Clock) -> None:
    watchdog = Watchdog(5.0, TooLongError)
    with watchdog.watching():
        with watchdog.until(clock.now + 0.05):
            clock.spin(0.2)
        watchdog.armed = True
        clock.spin(4.5)


def test_what_a_step_catches_is_raised_again() -> None:
    watchdog = Watchdog(0.05, TooLongError)
    watchdog.step += 1
    watchdog.armed = True
    with watchdog.watching():
        with pytest.raises(TooLongError):
            spin(10)
        with pytest.raises(TooLongError):
            spin(10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("limited_by", ["limit", "deadline"])
def test_what_is_raised_inside_a_callback_of_the_collector_is_raised_again(limited_by: str) -> None:
    lost: list[object] = []
    during: list[str] = []

    def slow(phase: str, _info: dict[str, int]) -> None:
        # As Hypothesis' own, which measures the time that collecting takes.
        if phase == "start" and not during:
            during.append(phase)
            spin(10)

    watchdog = Watchdog(0.05 if limited_by == "limit" else 60, TooLongError)
    hook, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append(told.exc_type)
    gc.callbacks.append(slow)
    try:
        with watchdog.watching(), watchdog.until(time.monotonic() + (60 if limited_by == "limit" else 0.05)):
            watchdog.step += 1
            watchdog.armed = True
            with pytest.raises((TooLongError, OutOfTime)) as raised:
                collect_and_spin()
    finally:
        gc.callbacks.remove(slow)
        sys.unraisablehook = hook
    assert set(lost) == {raised.type}


def test_an_alarm_that_arrives_in_a_short_callback_of_the_collector_ends_the_step_after_it() -> None:
    lost: list[object] = []

    def meets_alarm(phase: str, _info: dict[str, int]) -> None:
        # The collector is in C, and what rings meanwhile arrives in the first function that is in Python.
        if phase == "stop":
            # Not a blocked signal: another thread of the test runner might take it.
            ring_in(0.0, 0.0)
            burn(0.05)
            signal.raise_signal(ALARM_SIGNAL)

    watchdog = Watchdog(0.02, TooLongError)
    hook, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append(told.exc_type)
    gc.callbacks.append(meets_alarm)
    try:
        with watchdog.watching():
            watchdog.step += 1
            watchdog.armed = True
            spin(0.01)  # until the first tick has seen the step
            with pytest.raises(TooLongError):
                collect_and_spin()
    finally:
        gc.callbacks.remove(meets_alarm)
        sys.unraisablehook = hook
    assert lost == []


def test_a_step_after_the_one_that_was_ended_has_its_own_time(clock: Clock) -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = True
        with pytest.raises(TooLongError):
            clock.spin(10)
        watchdog.step += 1
        clock.spin(0.15)
        watchdog.armed = False


@pytest.mark.parametrize("limited_by", ["watchdog", "rule timeout"])
def test_a_coroutine_that_an_alarm_kept_from_beginning_does_not_complain(limited_by: str) -> None:
    async def unused() -> None: ...

    def interrupted() -> None:
        # The coroutine is on the stack, where it ends with the call.
        asyncio.run(unused(), debug=not time.sleep(10))  # type: ignore[func-returns-value]

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        filters = list(warnings.filters)
        pending = unused()
        if limited_by == "watchdog":
            watchdog = Watchdog(0.02, TooLongError)
            watchdog.step += 1
            watchdog.armed = True
            with watchdog.watching(), pytest.raises(TooLongError):
                interrupted()
            watchdog.forget()
        else:
            with pytest.raises(RuleTimeoutError):
                call_with_timeout("wait", 0.02, interrupted)
        assert warnings.filters == filters
        del pending
    assert len(told) == 1, "what never began without an alarm is told of as ever"


def test_a_machine_that_stops_takes_no_time_from_a_step(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdogs, "_used", lambda: (0.0, 0))
    watchdog = Watchdog(1.0, TooLongError)
    with watchdog.watching():
        watchdog.armed = True
        watchdog.step += 1
        clock.spin(0.6)
        clock.stand_still(3_600.0)
        clock.spin(0.3)
        with pytest.raises(TooLongError):
            clock.spin(0.6)
        watchdog.armed = False


def test_a_step_that_c_code_kept_from_alarms_is_ended_at_the_next(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdogs, "_used", lambda: (clock.now, 0))
    watchdog = Watchdog(1.0, TooLongError)
    with watchdog.watching():
        watchdog.armed = True
        watchdog.step += 1
        clock.spin(0.3)
        with pytest.raises(TooLongError):
            clock.stand_still(1.0)
        watchdog.armed = False

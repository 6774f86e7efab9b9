"""A step that takes too long is ended; everything else is left alone."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from ordeal._engine.isolation.watchdog import OutOfTime, Watchdog


class TooLongError(Exception):
    """What the watchdogs of these tests raise."""


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def collect_and_spin() -> None:
    gc.collect()
    spin(10)


@pytest.fixture(autouse=True)
def alarm_left_as_found() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_step_is_ended_after_its_limit() -> None:
    watchdog = Watchdog(0.1, TooLongError)
    watchdog.step += 1
    watchdog.armed = True
    with watchdog.watching(), pytest.raises(TooLongError):
        spin(10)


def test_steps_below_the_limit_go_on_however_many() -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.armed = True
        for _ in range(20):
            watchdog.step += 1
            spin(0.02)


def test_what_is_done_between_the_parts_of_a_step_takes_its_time() -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = True
        spin(0.15)
        with watchdog.disarmed():
            spin(0.4)
        spin(0.15)
        with pytest.raises(TooLongError):
            spin(10)


def test_steps_that_are_counted_elsewhere_go_on_as_well() -> None:
    watchdog = Watchdog(0.2, TooLongError)
    taken = [0]

    def take() -> int:
        taken[0], now = 0, taken[0]
        return now

    watchdog.taken = take
    with watchdog.watching():
        watchdog.armed = True
        for _ in range(20):
            taken[0] += 1
            spin(0.02)
        with pytest.raises(TooLongError):
            spin(10)


def test_nothing_is_ended_outside_of_user_code() -> None:
    watchdog = Watchdog(0.05, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = False
        spin(0.3)


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


def test_the_timer_of_somebody_else_comes_back() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 30.0)
    try:
        with Watchdog(1.0, TooLongError).watching():
            pass
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_step_is_ended_at_the_deadline_without_a_limit_of_its_own() -> None:
    watchdog = Watchdog(0.0, TooLongError)
    watchdog.armed = True
    started = time.monotonic()
    with pytest.raises(OutOfTime), watchdog.until(started + 0.2):
        spin(10)
    assert 0.2 <= time.monotonic() - started < 0.5


def test_a_step_is_ended_at_a_deadline_before_its_limit() -> None:
    watchdog = Watchdog(30.0, TooLongError)
    watchdog.armed = True
    started = time.monotonic()
    with watchdog.watching():
        with pytest.raises(OutOfTime), watchdog.until(started + 1.3):
            spin(10)
        assert 1.3 <= time.monotonic() - started < 1.6


def test_a_step_is_ended_after_its_limit_before_a_deadline() -> None:
    watchdog = Watchdog(0.1, TooLongError)
    watchdog.armed = True
    with watchdog.watching(), watchdog.until(time.monotonic() + 10), pytest.raises(TooLongError):
        spin(10)


def test_a_deadline_ends_nothing_outside_of_user_code_and_nothing_later() -> None:
    watchdog = Watchdog(5.0, TooLongError)
    with watchdog.watching():
        with watchdog.until(time.monotonic() + 0.05):
            spin(0.2)
        watchdog.armed = True
        spin(1.5)


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


def test_a_step_after_the_one_that_was_ended_has_its_own_time() -> None:
    watchdog = Watchdog(0.2, TooLongError)
    with watchdog.watching():
        watchdog.step += 1
        watchdog.armed = True
        with pytest.raises(TooLongError):
            spin(10)
        watchdog.step += 1
        spin(0.15)
        watchdog.armed = False

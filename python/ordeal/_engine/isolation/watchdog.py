"""Ends a step that runs too long, at no cost for the steps that do not."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from ordeal._base import interrupts
from ordeal._base.interrupts import Alarm, without_complaints
from ordeal._engine.isolation.hangs import TICK_SECONDS_MAX, TICKS_PER_LIMIT
from ordeal._native import monotonic

if sys.platform != "win32":
    from resource import RUSAGE_SELF, getrusage

# setitimer() takes 0 for "never".
TICK_SECONDS_MIN = 1e-3


def _used() -> tuple[float, int]:
    """Return the CPU time of this process, and its number of voluntary context switches."""
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_nvcsw


class LostTime:
    """Measures, between two alarms that ring in turn, the time that this process could not use.

    An alarm comes late where C code runs that Python cannot interrupt, and where the process has no turn. The first
    takes CPU time, or wakes at each alarm and goes on waiting. The second does neither.
    """

    __slots__ = ("_at", "_cpu", "_waits")

    def __init__(self) -> None:
        self._at, self._cpu, self._waits = 0.0, 0.0, 0

    def begin(self, now: float) -> None:
        """Measure from ``now`` on, where alarms begin, also in a fork."""
        self._at = now
        self._cpu, self._waits = _used()

    def until(self, now: float, tick: float) -> float:
        """Return the seconds lost since the last call, with an alarm due every ``tick`` seconds."""
        gap, cpu, waits = now - self._at, self._cpu, self._waits
        self.begin(now)
        # A few alarms are late wherever others run. What waits in C and goes on waiting is woken by at least half of
        # the missed ones; a process that is kept from running wakes once, in the end.
        if gap <= 2 * tick or self._waits - waits > 0.5 * gap / tick:
            return 0.0
        return max(0.0, gap - max(tick, self._cpu - cpu))


class OutOfTime(BaseException):
    """The deadline of ``Watchdog.until`` has passed. Like KeyboardInterrupt, not an error of the code under test."""


class Watchdog:
    """Raises ``expired()`` inside the step that has run longer than ``limit`` seconds.

    One repeating timer checks a counter that the driver increments with every step, so a step costs an increment
    instead of two system calls for a timer. A step ends between ``limit`` and ``ends_within(limit)`` seconds;
    seconds in which the process had no turn do not count.
    If it continues, the error is raised again at every tick: the step may have caught it, or Python may have dropped it
    in a finalizer or a callback of the garbage collector. Works in the main thread of a POSIX process; elsewhere, and
    with ``limit <= 0``, it does nothing.

    Attributes:
        step: incremented by the driver before each step.
        armed: true only while user code runs; an alarm at any other time is ignored.
        taken: returns the steps taken since its last call that ``step`` does not count.
        running: returns the name of what runs in the current step.
        ended_in: the name of what ran when the deadline came.
        ended: what was raised last to end a step, until ``forget``: the step may have raised another error then.
    """

    __slots__ = (
        "_alarm",
        "_deadline",
        "_ended_step",
        "_ending",
        "_expired",
        "_limit",
        "_limit_now",
        "_lost",
        "_muted",
        "_seen_at",
        "_seen_step",
        "_tick",
        "_tick_max",
        "armed",
        "ended",
        "ended_in",
        "running",
        "step",
        "taken",
    )

    def __init__(self, limit: float, expired: Callable[[], BaseException]) -> None:
        self.step = 0
        self.armed = False
        self.taken: Callable[[], int] = int
        self.running: Callable[[], str] = str
        self.ended_in = ""
        self.ended: BaseException | None = None
        self._muted = ExitStack()
        self._limit = limit
        self._limit_now: Callable[[], float] | None = None
        self._expired = expired
        self._seen_step = -1
        self._seen_at = 0.0
        self._lost = LostTime()
        self._alarm: Alarm | None = None
        self._deadline = math.inf
        self._tick = 0.0  # seconds between alarms; 0 when there are none
        self._tick_max = math.inf
        self._ended_step = -1  # the step that was to end last, and with which error
        self._ending = expired

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs, then restore the previous handler and timer.

        Watches Ctrl-C as well: see ``interrupts``.
        """
        with interrupts.watched():
            if self._limit <= 0:
                yield
                return
            with self._ticking(min(self._limit / TICKS_PER_LIMIT, TICK_SECONDS_MAX)):
                yield

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Raise OutOfTime during the block, in the step that is running at ``deadline`` (by ``time.monotonic()``).

        It is raised only inside a step: between steps, the caller checks the time itself. Where no alarm works, steps
        are not interrupted.
        """
        self._deadline = deadline
        try:
            with self._ticking(self._tick or TICK_SECONDS_MAX):
                yield
        finally:
            self._deadline = math.inf

    @contextmanager
    def disarmed(self) -> Iterator[None]:
        """Suspend the limit during the block: it is not the user's code, and must not count towards a step."""
        armed, self.armed = self.armed, False
        try:
            yield
        finally:
            self.step += 1
            self.armed = armed

    @contextmanager
    def _ticking(self, seconds: float) -> Iterator[None]:
        seconds = min(seconds, self._tick_max)
        alarm = Alarm(self._ending_of_step)
        self._lost.begin(monotonic())
        if not alarm.set(seconds, seconds):
            yield
            return
        before, self._tick, self._alarm = (self._tick, self._alarm), seconds, alarm
        self._ring_again()
        try:
            yield
        finally:
            alarm.clear()
            self._tick, self._alarm = before
            self._ring_often()

    def restart(self) -> None:
        """Set the timer again, in a forked process, which does not inherit it."""
        self._lost.begin(monotonic())
        self._ring_again()

    def _ring_again(self) -> None:
        if self._alarm is not None:
            left = self._deadline - monotonic()
            # At the next tick, or at the deadline if that is sooner.
            self._alarm.ring_in(max(left, TICK_SECONDS_MIN) if 0 < left < self._tick else self._tick, self._tick)

    def _ending_of_step(self) -> Callable[[], BaseException] | None:
        """Return what makes the error that has to end the running step, if anything has to."""
        now = monotonic()
        self._seen_at += self._lost.until(now, self._tick)
        self.step += self.taken()
        if now < self._deadline < now + self._tick:
            self._ring_again()
        if not self.armed:
            return None
        if self.step == self._ended_step:
            return partial(self._end_with, self._ending)
        if now >= self._deadline:
            return partial(self._end_with, OutOfTime)
        if self.step != self._seen_step:
            self._seen_step, self._seen_at = self.step, now
            if self._alarm is not None:
                self._alarm.waits = 0
        elif self._limit > 0:
            limit = self._limit if self._limit_now is None else min(self._limit, self._limit_now())
            if now - self._seen_at >= limit:
                return partial(self._end_with, self._expired)
        return None

    def lower(self, limit_now: Callable[[], float], seconds_min: float) -> None:
        """Let each step from now on take what ``limit_now`` returns, from ``seconds_min`` to its limit."""
        self._limit_now = limit_now
        if self._limit > 0:
            self._tick_max = max(min(self._limit, seconds_min) / TICKS_PER_LIMIT, TICK_SECONDS_MIN)
            self._ring_often()

    def _ring_often(self) -> None:
        if self._tick > self._tick_max:
            self._tick = self._tick_max
            self._ring_again()

    def _end_with(self, ending: Callable[[], BaseException]) -> BaseException:
        """Return the error that ends the running step, and raise it again at each tick: it may not get through."""
        if ending is OutOfTime:
            self._deadline = math.inf
            self.ended_in = self.running()
        self._ended_step, self._ending = self.step, ending
        if self.ended is None:
            self._muted.enter_context(without_complaints())
        self.ended = ending()
        return self.ended

    def forget(self) -> None:
        """Forget what was raised last to end a step: the run that it belongs to is over."""
        self.ended = None
        self._muted.close()

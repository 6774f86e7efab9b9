"""Ends a step that runs too long, at no cost for the steps that do not."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ordeal._engine import interrupts
from ordeal._native import monotonic

TICKS_PER_LIMIT = 4
TICK_SECONDS_MAX = 1.0
# setitimer() takes 0 for "never".
TICK_SECONDS_MIN = 1e-3


class OutOfTime(BaseException):
    """The time set with ``Watchdog.until`` is over. Like KeyboardInterrupt, no error of the code it goes through."""


class Watchdog:
    """Raises ``expired()`` inside the step that has run longer than ``limit`` seconds.

    One repeating timer looks at a counter that the driver moves on with every step, so a step costs an increment
    where a timer of its own would cost two system calls. A step ends between ``limit`` and 1.25 x ``limit`` seconds.
    One that goes on all the same hears of it at every tick: it may have caught what was raised, or that was raised in
    a callback of the garbage collector, where Python drops it. Works in the main thread of a POSIX process; elsewhere,
    and with ``limit <= 0``, it does nothing.

    Attributes:
        step: moved on by the driver before each step.
        armed: true only while user code runs; an alarm at any other time is ignored.
        taken: how many steps were taken, since this was asked last, that ``step`` was not moved on with.
    """

    __slots__ = (
        "_deadline",
        "_ended_step",
        "_ending",
        "_expired",
        "_limit",
        "_seen_at",
        "_seen_step",
        "_tick",
        "armed",
        "step",
        "taken",
    )

    def __init__(self, limit: float, expired: Callable[[], BaseException]) -> None:
        self.step = 0
        self.armed = False
        self.taken: Callable[[], int] = int
        self._limit = limit
        self._expired = expired
        self._seen_step = -1
        self._seen_at = 0.0
        self._deadline = math.inf
        self._tick = 0.0  # seconds between alarms; 0 when there are none
        self._ended_step = -1  # the one that was to end last, and with what
        self._ending = expired

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs; the previous handler and timer come back afterwards.

        Ctrl-C is watched as well: see ``interrupts``.
        """
        with interrupts.watched():
            if self._limit <= 0:
                yield
                return
            with self._ticking(min(self._limit / TICKS_PER_LIMIT, TICK_SECONDS_MAX)):
                yield

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Raise OutOfTime in the step that is running at ``deadline``, by ``time.monotonic()``, during the block.

        It is raised in one step, and not between steps: who runs them looks at the time as well. Where no alarm works,
        a step is not interrupted.
        """
        self._deadline = deadline
        try:
            with self._ticking(self._tick or TICK_SECONDS_MAX):
                yield
        finally:
            self._deadline = math.inf

    @contextmanager
    def disarmed(self) -> Iterator[None]:
        """Let the block take its time: it is not the user's code, and no step is to answer for it."""
        armed, self.armed = self.armed, False
        try:
            yield
        finally:
            self.step += 1
            self.armed = armed

    @contextmanager
    def _ticking(self, seconds: float) -> Iterator[None]:
        usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if not usable:
            yield
            return
        before, self._tick = self._tick, seconds
        handler = signal.signal(signal.SIGALRM, self._on_alarm)
        timer = signal.setitimer(signal.ITIMER_REAL, self._next_alarm(monotonic()), seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)
            self._tick = before

    def restart(self) -> None:
        """Set the timer again, in a forked process: such a process does not inherit it."""
        if self._tick:
            signal.setitimer(signal.ITIMER_REAL, self._next_alarm(monotonic()), self._tick)

    def _next_alarm(self, now: float) -> float:
        """Seconds until the timer must ring: at the next tick, or at the deadline when that comes before."""
        left = self._deadline - now
        return max(left, TICK_SECONDS_MIN) if 0 < left < self._tick else self._tick

    def _on_alarm(self, _signum: int, _frame: FrameType | None) -> None:
        now = monotonic()
        self.step += self.taken()
        if self.armed and self.step == self._ended_step:
            raise self._ending()
        if now >= self._deadline and self.armed:
            self._deadline = math.inf
            raise self._end_with(OutOfTime)
        if now < self._deadline < now + self._tick:
            signal.setitimer(signal.ITIMER_REAL, self._next_alarm(now), self._tick)
        if not self.armed:
            return
        if self.step != self._seen_step:
            self._seen_step, self._seen_at = self.step, now
        elif self._limit > 0 and now - self._seen_at >= self._limit:
            raise self._end_with(self._expired)

    def _end_with(self, ending: Callable[[], BaseException]) -> BaseException:
        """What the running step is to end with. Until it does, it is raised again: nobody says that it got through."""
        self._ended_step, self._ending = self.step, ending
        return ending()

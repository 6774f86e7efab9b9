"""Ends a rule that runs too long, at no cost for the steps that do not."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

TICKS_PER_LIMIT = 4
TICK_SECONDS_MAX = 1.0


class Watchdog:
    """Raises ``expired()`` inside the step that has run longer than ``limit`` seconds.

    One repeating timer looks at a counter that the driver moves on with every step, so a step costs an increment
    where a timer of its own would cost two system calls. A step ends between ``limit`` and 1.25 x ``limit`` seconds.
    Works in the main thread of a POSIX process; elsewhere, and with ``limit <= 0``, it does nothing.

    Attributes:
        step: moved on by the driver before each step.
        armed: true only while user code runs; an alarm at any other time is ignored.
    """

    __slots__ = ("_expired", "_limit", "_seen_at", "_seen_step", "armed", "step")

    def __init__(self, limit: float, expired: Callable[[], BaseException]) -> None:
        self.step = 0
        self.armed = False
        self._limit = limit
        self._expired = expired
        self._seen_step = -1
        self._seen_at = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs; the previous handler and timer come back afterwards."""
        usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._limit <= 0 or not usable:
            yield
            return
        tick = min(self._limit / TICKS_PER_LIMIT, TICK_SECONDS_MAX)
        handler = signal.signal(signal.SIGALRM, self._on_alarm)
        timer = signal.setitimer(signal.ITIMER_REAL, tick, tick)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)

    def _on_alarm(self, _signum: int, _frame: FrameType | None) -> None:
        if not self.armed:
            return
        now = time.monotonic()
        if self.step != self._seen_step:
            self._seen_step, self._seen_at = self.step, now
        elif now - self._seen_at >= self._limit:
            self.armed = False
            raise self._expired()

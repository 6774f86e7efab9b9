"""Clock: time that moves only when a test says so, with timers, for code that sleeps, waits and compares dates."""

from __future__ import annotations

import copy
import functools
import heapq
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import Any

from ordeal.simulate.clock_functions import replace_clock_functions
from ordeal.simulate.errors import SimulationError

#: One ``advance`` fires at most this many timers; a timer that restarts without a delay must not hang the run.
TIMERS_PER_ADVANCE_MAX = 100_000


class Clock:
    """A simulated clock, in seconds. It starts at ``start`` and stands still until ``advance`` or ``sleep``.

    ``with clock.patch():`` makes it the clock of the program. It belongs in the machine, and is copied with it at
    checkpoints, including timers. Not thread-safe: threads may read the time, but only one moves it.
    """

    def __init__(self, start: float = 0.0) -> None:
        """Raises SimulationError, a ValueError, when ``start`` is not a finite number."""
        self._now = _seconds("start", start)
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self._timers_set = 0
        self._patches = 0

    def time(self) -> float:
        """Return the present time, in seconds."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Advance the clock: whoever sleeps makes the time pass."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass. Due timers fire in the order of their deadlines, each at its own time.

        A timer may set others, which fire in the same call if they become due in it, and may advance the clock too.
        This call raises an error of a timer; the time is then that timer's, and the timer is gone.

        Raises SimulationError, a ValueError, when ``seconds`` is negative or not a finite number.
        """
        until = self._now + _not_negative("seconds", seconds)
        fired = 0
        while self._timers and self._timers[0][0] <= until:
            if fired >= TIMERS_PER_ADVANCE_MAX:
                raise SimulationError(
                    f"{fired} timers fired within one advance({seconds!r})",
                    hint="a timer that sets itself again needs a delay above 0, and the time a smaller step",
                )
            deadline, _, callback = heapq.heappop(self._timers)
            self._now = max(self._now, deadline)
            callback()
            fired += 1
        self._now = max(self._now, until)

    def set_timer(self, delay: float, callback: Callable[[], object]) -> int:
        """Call ``callback()`` once ``delay`` seconds have passed; return the number of the timer.

        Timers with equal deadlines fire in the order in which they were set. With a delay of 0, a timer fires at the
        next ``advance``, even by 0 seconds.

        Pass a bound method, or a ``functools.partial`` of one. A lambda works too, but refers to the machine in which
        it was written: a machine with one pending cannot be copied, so its checkpoints are slow.

        Raises SimulationError, a ValueError, when ``delay`` is negative or not a finite number.
        """
        deadline = self._now + _not_negative("delay", delay)
        self._timers_set += 1
        heapq.heappush(self._timers, (deadline, self._timers_set, callback))
        return self._timers_set

    def cancel_timer(self, timer: int) -> bool:
        """Cancel a timer by its number; False when it has fired already, or was never set."""
        kept = [each for each in self._timers if each[1] != timer]
        was_pending = len(kept) < len(self._timers)
        heapq.heapify(kept)
        self._timers = kept
        return was_pending

    @property
    def pending_timers(self) -> int:
        """Return how many timers are set and have not fired."""
        return len(self._timers)

    def patch(self) -> AbstractContextManager[Clock]:
        """Make this the clock of the program during a ``with`` block.

        It answers ``time.time``, ``monotonic``, ``perf_counter`` and their ``_ns`` forms, ``datetime.now``, ``utcnow``
        and ``today``, ``date.today``, and ``gmtime``, ``localtime``, ``ctime`` and ``strftime`` without an argument;
        ``time.sleep`` advances it. Code that did ``from time import sleep`` is reached as well. The test runner, and
        code that waits for threads and event loops, keep the real time. Blocks nest: the innermost clock counts.
        """
        return replace_clock_functions(self, self._count_patches)

    def _count_patches(self, change: int) -> None:
        self._patches += change

    def __deepcopy__(self, memo: dict[int, Any]) -> Clock:
        if self._patches:
            raise SimulationError(
                "a clock cannot be copied inside of its patch()",
                hint="enter patch() in each rule, not once for the whole machine",
            )
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        attributes = dict(self.__dict__)
        timers = attributes.pop("_timers")
        copied.__dict__.update(copy.deepcopy(attributes, memo))
        copied._timers = [(deadline, timer, _copied(callback, memo)) for deadline, timer, callback in timers]
        return copied

    def __repr__(self) -> str:
        return f"<Clock at {self._now!r} s, {len(self._timers)} timers>"


def _seconds(name: str, value: object) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SimulationError(f"{name} must be a finite number of seconds, got {value!r}", hint="write it like 1.5")
    return float(value)


def _not_negative(name: str, value: float) -> float:
    seconds = _seconds(name, value)
    if seconds < 0:
        raise SimulationError(
            f"{name} must not be negative, got {value!r}",
            hint="a clock only goes forward: make another Clock(start=...) for an earlier time",
        )
    return seconds


def _copied(callback: Any, memo: dict[int, Any]) -> Any:
    """Return the callback that does to the copy what ``callback`` does to the original.

    Raises SimulationError for a function that refers to the original, where no copy can reach it.
    """
    if isinstance(callback, functools.partial):
        arguments = [_copied(each, memo) for each in callback.args]
        named = {name: _copied(each, memo) for name, each in callback.keywords.items()}
        return functools.partial(_copied(callback.func, memo), *arguments, **named)
    if isinstance(callback, BuiltinMethodType) and not isinstance(callback.__self__, ModuleType | None):
        # A method such as `self.waiting.clear`; deepcopy() would leave it bound to the original.
        return getattr(copy.deepcopy(callback.__self__, memo), callback.__name__)
    if isinstance(callback, FunctionType) and (
        callback.__closure__ or callback.__defaults__ or callback.__kwdefaults__
    ):
        raise SimulationError(
            f"the timer with {callback!r} cannot be copied with its machine",
            hint="set the timer with a bound method, or functools.partial of one, in place of a lambda",
        )
    return copy.deepcopy(callback, memo)

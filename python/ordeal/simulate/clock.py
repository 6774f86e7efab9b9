"""Clock: time that moves only when a test says so, with timers, for code that sleeps, waits and compares dates."""

from __future__ import annotations

import copy
import datetime as datetime_module
import functools
import heapq
import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import Any

from ordeal.simulate.errors import SimulationError
from ordeal.simulate.replacement import MACHINERY, BoundPlaces, Replacement, package_of

# Code that blocks in the operating system must measure real time, or it waits for ever.
_WAITS_FOR_REAL = MACHINERY | {
    "asyncio", "concurrent", "multiprocessing", "queue", "select", "selectors", "signal", "socket", "socketserver",
    "subprocess", "threading",
}  # fmt: skip


#: The clocks of the blocks and runs that are in progress, the innermost last. Each has ``time()`` and ``sleep(s)``; it
#: may have an ``epoch``, the date at its beginning, and ``packages``, what it serves of the standard library.
clocks: list[Any] = []


def _clock_for(caller: str) -> Any:
    """Return the clock for a module, or None if it must see the real time."""
    if not clocks:
        return None
    clock, package = clocks[-1], package_of(caller)
    # A fault that sleeps does so on behalf of the program, and so does the loop that runs a job.
    if package in _WAITS_FOR_REAL and not caller.startswith(("ordeal.faults", "ordeal.simulate.runtime")):
        return clock if package in getattr(clock, "packages", ()) else None
    return clock


def _caller() -> str:
    """Return the name of the module that called the replaced function."""
    return str(sys._getframe(2).f_globals.get("__name__", ""))


def _answering(
    real: Callable[[], Any], unit: Callable[[float], Any], seconds: Callable[[Any], float]
) -> Callable[[], Any]:
    def answer() -> Any:
        clock = _clock_for(_caller())
        return real() if clock is None else unit(seconds(clock))

    return answer


def _elapsed(clock: Any) -> float:
    return float(clock.time())


def _date(clock: Any) -> float:
    """Return the seconds since 1970."""
    return float(clock.time() + getattr(clock, "epoch", 0.0))


def _sleep(seconds: float, /) -> None:
    clock = _clock_for(_caller())
    if clock is None:
        _REAL_SLEEP(seconds)
    else:
        clock.sleep(seconds)


def _at(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a time, by default the present one."""

    def at(seconds: float | None = None, /) -> Any:
        clock = _clock_for(_caller())
        return real(seconds) if clock is None or seconds is not None else real(_date(clock))

    return at


def _strftime(pattern: str, moment: Any = None, /) -> str:
    clock = _clock_for(_caller())
    if moment is None and clock is not None:
        moment = _REAL_LOCALTIME(_date(clock))
    return _REAL_STRFTIME(pattern) if moment is None else _REAL_STRFTIME(pattern, moment)


_REAL_SLEEP = time.sleep
_REAL_LOCALTIME = time.localtime
_REAL_STRFTIME = time.strftime
_RealDate = datetime_module.date
_RealDatetime = datetime_module.datetime


class _LooksReal(type):
    """Makes the replaced class count as the real one: objects made before the block are instances of it too."""

    real: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.real)


class _Date(_RealDate, metaclass=_LooksReal):
    """Makes real dates. ``today`` of the real class asks ``time.time`` before Python 3.15 alone."""

    real = _RealDate

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _RealDate(*args, **kwargs)

    @classmethod
    def today(cls) -> Any:
        clock = _clock_for(_caller())
        return _RealDate.today() if clock is None else _RealDate.fromtimestamp(_date(clock))


class _Datetime(_RealDatetime, metaclass=_LooksReal):
    """Makes real datetimes, so that nothing of the simulation remains in the values of the program."""

    real = _RealDatetime

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _RealDatetime(*args, **kwargs)

    @classmethod
    def now(cls, tz: datetime_module.tzinfo | None = None) -> Any:
        clock = _clock_for(_caller())
        return _RealDatetime.now(tz) if clock is None else _RealDatetime.fromtimestamp(_date(clock), tz)

    @classmethod
    def today(cls) -> Any:
        clock = _clock_for(_caller())
        return _RealDatetime.now() if clock is None else _RealDatetime.fromtimestamp(_date(clock))

    @classmethod
    def utcnow(cls) -> Any:
        clock = _clock_for(_caller())
        seconds = time.time() if clock is None else _date(clock)
        return _RealDatetime.fromtimestamp(seconds, datetime_module.UTC).replace(tzinfo=None)


for _replaced in (_Date, _Datetime):
    _replaced.__name__ = _replaced.__qualname__ = _replaced.real.__name__
    _replaced.__module__ = "datetime"


def _asks_time(call: Callable[[], object]) -> bool:
    """Return True if a function of the standard library calls ``time.time``."""
    asked: list[bool] = []
    real = time.time

    def answer() -> float:
        asked.append(True)
        return real()

    time.time = answer
    try:
        call()
    finally:
        time.time = real
    return bool(asked)


_READ = {"time": _date, "monotonic": _elapsed, "perf_counter": _elapsed}
_SECONDS = {name: _answering(getattr(time, name), float, read) for name, read in _READ.items()}
_NANOSECONDS = {
    f"{name}_ns": _answering(getattr(time, f"{name}_ns"), lambda seconds: round(seconds * 1e9), read)
    for name, read in _READ.items()
}
_MOMENTS = {name: _at(getattr(time, name)) for name in ("gmtime", "localtime", "ctime")}
_OF_TIME: dict[str, Any] = {**_SECONDS, **_NANOSECONDS, **_MOMENTS, "sleep": _sleep, "strftime": _strftime}
CLOCK_PLACES = BoundPlaces(
    {
        **{(time, name): function for name, function in _OF_TIME.items()},
        (datetime_module, "datetime"): _Datetime,
        **({} if _asks_time(_RealDate.today) else {(datetime_module, "date"): _Date}),
    }
)


#: One ``advance`` fires at most this many timers; a timer that restarts without a delay must not hang the run.
TIMERS_PER_ADVANCE_MAX = 100_000


class Clock:
    """A simulated clock, in seconds. It starts at ``start`` and stands still until ``advance`` or ``sleep``.

    ``with clock.patch():`` makes it the clock of the program. It belongs in the machine, and is copied with it at
    checkpoints, including timers. Not thread-safe: threads may read the time, but only one moves it.
    """

    def __init__(self, start: float = 0.0) -> None:
        """Raise SimulationError, a ValueError, if ``start`` is not a finite number."""
        self._now = _seconds("start", start)
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self._timers_set = 0
        self.patches = 0

    def time(self) -> float:
        """Return the present time, in seconds."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Advance the clock by the time that the caller sleeps."""
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
        return Replacement(self, CLOCK_PLACES, clocks, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Clock:
        if self.patches:
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

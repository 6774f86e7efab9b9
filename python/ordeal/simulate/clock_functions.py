"""The functions of ``time`` and ``datetime`` that ask the simulated clock of the innermost patch."""

from __future__ import annotations

import datetime as datetime_module
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from ordeal.simulate.replacement import MACHINERY, Places, Replacement, package_of

# Code that blocks in the operating system must measure real time, or it waits for ever.
_WAITS_FOR_REAL = MACHINERY | {
    "asyncio", "concurrent", "multiprocessing", "queue", "select", "selectors", "signal", "socket", "socketserver",
    "subprocess", "threading",
}  # fmt: skip


class Timepiece(Protocol):
    """Provides the time for the functions below.

    The date is that many seconds after its ``epoch``, if it has one. ``packages`` is what it serves of the standard
    library besides the program, if anything.
    """

    def time(self) -> float:
        """Return the present time, in seconds."""

    def sleep(self, seconds: float) -> None:
        """Let ``seconds`` pass."""


_clocks: list[Timepiece] = []


def replace_clock_functions[Clock: Timepiece](clock: Clock, on_change: Callable[[int], None]) -> Replacement[Clock]:
    """Return a block in which ``clock`` answers; it calls ``on_change`` with +1 at its start and -1 at its end."""

    def change(by: int) -> None:
        if by > 0:
            _clocks.append(clock)
        else:
            _clocks.pop()
        on_change(by)

    return Replacement(clock, _PLACES, on_change=change)


def _clock_for(caller: str) -> Timepiece | None:
    """Return the clock for a module, or None if it must see the real time."""
    if not _clocks:
        return None
    clock, package = _clocks[-1], package_of(caller)
    # A fault that sleeps does so on behalf of the program, and so does the loop that runs a job.
    if package in _WAITS_FOR_REAL and not caller.startswith(("ordeal.faults", "ordeal.simulate.runtime")):
        return clock if package in getattr(clock, "packages", ()) else None
    return clock


def _caller() -> str:
    """Return the name of the module that called the replaced function."""
    return str(sys._getframe(2).f_globals.get("__name__", ""))


def _answering(
    real: Callable[[], Any], unit: Callable[[float], Any], seconds: Callable[[Timepiece], float]
) -> Callable[[], Any]:
    def answer() -> Any:
        clock = _clock_for(_caller())
        return real() if clock is None else unit(seconds(clock))

    return answer


def _elapsed(clock: Timepiece) -> float:
    return clock.time()


def _date(clock: Timepiece) -> float:
    """Return the seconds since 1970."""
    return clock.time() + float(getattr(clock, "epoch", 0.0))


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


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
_RealDatetime = datetime_module.datetime


class _LooksReal(type):
    """Makes the replaced class count as the real one: objects made before the block are instances of it too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _RealDatetime)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _RealDatetime)


class _Datetime(_RealDatetime, metaclass=_LooksReal):
    """Makes real datetimes, so that nothing of the simulation remains in the values of the program."""

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


_Datetime.__name__ = _Datetime.__qualname__ = "datetime"
_Datetime.__module__ = "datetime"


_READ = {"time": _date, "monotonic": _elapsed, "perf_counter": _elapsed}
_SECONDS = {name: _answering(getattr(time, name), float, read) for name, read in _READ.items()}
_NANOSECONDS = {
    f"{name}_ns": _answering(getattr(time, f"{name}_ns"), _nanoseconds, read) for name, read in _READ.items()
}
_MOMENTS = {name: _at(getattr(time, name)) for name in ("gmtime", "localtime", "ctime")}
_OF_TIME: dict[str, Any] = {**_SECONDS, **_NANOSECONDS, **_MOMENTS, "sleep": _sleep, "strftime": _strftime}
_PLACES = Places(
    {**{(time, name): function for name, function in _OF_TIME.items()}, (datetime_module, "datetime"): _Datetime},
    captured={},
)

"""Tells a Ctrl-C of the user from a KeyboardInterrupt of the code under test, and lets timers go on as found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

#: Both ask the exploration to end: the commands make SIGTERM raise KeyboardInterrupt too.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: ``setitimer`` takes 0 for "never".
_AT_ONCE_SECONDS = 1e-6


class _Watch:
    """The number of signals that this process received while they were watched, and of nested watchers."""

    def __init__(self) -> None:
        self.count = 0
        self.watchers = 0


_watch = _Watch()


def ringing(timer: tuple[float, float]) -> tuple[float, float]:
    """Return what sets a timer to go on as ``setitimer`` found it: the seconds until its alarm, and between alarms.

    Of a repeating timer that was due when it was found, nothing remains. Set to that, it would never ring again.
    """
    remaining, interval = timer
    return remaining or min(interval, _AT_ONCE_SECONDS), interval


def signal_count() -> int:
    """Return the number of signals received so far, for ``is_from_user``."""
    return _watch.count


def are_watched() -> bool:
    """Whether signals are being counted."""
    return bool(_watch.watchers)


def is_from_user(error: BaseException, signals_before: int) -> bool:
    """Return whether a signal caused ``error``; ``signals_before`` is an earlier ``signal_count()``.

    While signals are not watched, every KeyboardInterrupt counts as the user's.
    """
    if not isinstance(error, KeyboardInterrupt):
        return False
    return not _watch.watchers or _watch.count != signals_before


@contextmanager
def watched() -> Iterator[None]:
    """Count the signals that come while the block runs. Their handlers stay as they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ExitStack() as stack:
        for number in SIGNALS:
            found = signal.getsignal(number)
            if callable(found):
                stack.enter_context(_wrapped(number, found))
        knows = signal.getsignal(signal.SIGINT) is not None  # a handler set outside Python cannot be wrapped
        _watch.watchers += knows
        try:
            yield
        finally:
            _watch.watchers -= knows


@contextmanager
def _wrapped(number: signal.Signals, found: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    def count(signum: int, frame: FrameType | None) -> Any:
        _watch.count += 1
        return found(signum, frame)

    signal.signal(number, count)
    try:
        yield
    finally:
        # The code under test may have set its own handler.
        if signal.getsignal(number) is count:
            signal.signal(number, found)

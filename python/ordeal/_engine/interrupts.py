"""Tells Ctrl-C of the person from a KeyboardInterrupt that the code under test raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

#: Both mean that the exploration is to end: a command has SIGTERM raise KeyboardInterrupt too.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Heard:
    """How many such signals have come to this process while they were watched, and whether they are."""

    def __init__(self) -> None:
        self.count = 0
        self.watchers = 0


_heard = _Heard()


def heard() -> int:
    """How many signals have come so far; for ``is_of_person``."""
    return _heard.count


def are_watched() -> bool:
    """Whether somebody watches, and so can tell."""
    return bool(_heard.watchers)


def is_of_person(error: BaseException, heard_before: int) -> bool:
    """Whether ``error`` is a KeyboardInterrupt that a signal brought, ``heard_before`` of which had come before.

    Where nobody watches, every KeyboardInterrupt counts as one.
    """
    if not isinstance(error, KeyboardInterrupt):
        return False
    return not _heard.watchers or _heard.count != heard_before


@contextmanager
def watched() -> Iterator[None]:
    """Count the signals that come while the block runs. Their handlers stay what they are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ExitStack() as stack:
        for number in SIGNALS:
            found = signal.getsignal(number)
            if callable(found):
                stack.enter_context(_wrapped(number, found))
        knows = signal.getsignal(signal.SIGINT) is not None  # one that was set outside of Python is not seen
        _heard.watchers += knows
        try:
            yield
        finally:
            _heard.watchers -= knows


@contextmanager
def _wrapped(number: signal.Signals, found: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    def count(signum: int, frame: FrameType | None) -> Any:
        _heard.count += 1
        return found(signum, frame)

    signal.signal(number, count)
    try:
        yield
    finally:
        # The code under test may have set a handler of its own.
        if signal.getsignal(number) is count:
            signal.signal(number, found)

"""Tells a Ctrl-C of the user from a KeyboardInterrupt of the code under test, and where an alarm must not raise."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

#: Both ask the exploration to end: the commands make SIGTERM raise KeyboardInterrupt too.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: ``setitimer`` takes 0 for "never".
_AT_ONCE_SECONDS = 1e-6

#: How deep in a function that the interpreter calls an alarm may find the program.
_DEPTH_MAX = 16
#: Where the code of ordeal lies.
OWN_FOLDER = str(Path(__file__).absolute().parent.parent / "_")[:-1]
#: The methods of the standard library that make the callbacks of weak references, which drop what is collected.
_CALLBACK_MAKERS = (weakref.WeakSet.__init__, weakref.WeakValueDictionary.__init__, weakref.WeakKeyDictionary.__init__)
_CALLBACKS = frozenset(
    constant for maker in _CALLBACK_MAKERS for constant in maker.__code__.co_consts if isinstance(constant, CodeType)
)


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


def heed(handler: Callable[[int, FrameType | None], object] = signal.default_int_handler) -> None:
    """Have both signals reach a handler, also where whoever started this process blocked them or had it ignore them.

    Ray blocks SIGINT in all that it starts, and a shell has commands in the background ignore it.
    """
    for number in SIGNALS:
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


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


def is_lost_in(frame: FrameType | None) -> bool:
    """Return whether Python only prints what is raised in ``frame``: no caller in Python is there to receive it.

    That is so in callbacks of the garbage collector and of weak references, in finalisers, and in
    ``sys.unraisablehook``, as well as in what they call.
    """
    # Both are the program's: only plain functions are looked at.
    called = [code for function in (*gc.callbacks, sys.unraisablehook) if (code := _plain_code(function)) is not None]
    for _ in range(_DEPTH_MAX):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name == "__del__" or code in _CALLBACKS or any(code is other for other in called):
            return True
        frame = frame.f_back
    return False


def is_own(frame: FrameType | None) -> bool:
    """Return whether ``frame`` runs code of ordeal, which may just be making what an error would leave half made."""
    return frame is not None and frame.f_code.co_filename.startswith(OWN_FOLDER)


def _plain_code(function: object) -> CodeType | None:
    return function.__code__ if isinstance(function, FunctionType) else None


def without_complaints() -> AbstractContextManager[object]:
    """Return what keeps Python from telling of coroutines that never began, once entered: an alarm may come in between.

    The program has made such a coroutine, and has had no time to await it.
    """
    return warnings.catch_warnings(action="ignore", category=RuntimeWarning)

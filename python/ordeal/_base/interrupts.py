"""Interrupts code of the program that takes too long, and distinguishes its KeyboardInterrupt from the user's Ctrl-C.

``Alarm`` is the one use of a timer among what runs in the process of the program.
"""

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

#: How often it waits for either: a finaliser may never end, and ordeal's own code may be the slow part.
_LOST_WAITS_MAX, _OWN_WAITS_MAX = 1_000, 8

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
    """Return True while signals are counted."""
    return bool(_watch.watchers)


def is_from_user(error: BaseException, signals_before: int) -> bool:
    """Return True if a signal caused ``error``; ``signals_before`` is an earlier ``signal_count()``.

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
    """Return True if Python only prints what is raised in ``frame``: no caller in Python is there to receive it.

    That is so in callbacks of the garbage collector and of weak references, in finalisers, and in
    ``sys.unraisablehook``, as well as in what they call.
    """
    # Both are the program's: only plain functions are looked at.
    hooks: list[Any] = [*gc.callbacks, sys.unraisablehook]
    called = [function.__code__ for function in hooks if isinstance(function, FunctionType)]
    # How deep in a function that the interpreter calls an alarm may find the program.
    for _ in range(16):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name == "__del__" or code in _CALLBACKS or any(code is other for other in called):
            return True
        frame = frame.f_back
    return False


def is_own(frame: FrameType | None) -> bool:
    """Return True if ``frame`` runs code of ordeal, which may just be making what an error would leave half made."""
    return frame is not None and frame.f_code.co_filename.startswith(OWN_FOLDER)


def without_complaints() -> AbstractContextManager[object]:
    """Return a context that silences Python's warning of coroutines that never began: an alarm may come first.

    The program has made such a coroutine, and has had no time to await it.
    """
    return warnings.catch_warnings(action="ignore", category=RuntimeWarning)


class Alarm:
    """One use of the timer of ordeal by a call in the main thread: it finds and restores that of an outer call.

    Where POSIX has timers, SIGALRM and its timer are the program's: ordeal's rings in another signal.

    When it rings, ``due`` returns what makes the error to raise in the running code, or None to let it run. The error
    waits a little where it would do harm: see ``is_lost_in`` and ``is_own``.

    Attributes:
        waits: how often in a row an error waited; ``due`` sets it to 0 where another piece of code runs.
        ends_call: whether it rings for one limit, after which nothing else need ring.
    """

    def __init__(self, due: Callable[[], Callable[[], BaseException] | None], *, ends_call: bool = False) -> None:
        self.waits = 0
        self.ends_call = ends_call
        self._due = due
        self._interval = 0.0
        self._is_set = False
        self._found: Any = None
        self._found_timer = (0.0, 0.0)
        self._began = 0.0
        self._native: Any = None

    def set(self, seconds: float, interval: float) -> bool:
        """Ring after ``seconds``, then every ``interval`` seconds; return False where that is not possible.

        It needs the main thread, and no handler that was set outside Python: that could not be restored.
        """
        import ordeal._native as _native  # noqa: PLC0415 - the help of the commands needs no extension

        if threading.current_thread() is not threading.main_thread() or signal.getsignal(_native.ALARM_SIGNAL) is None:
            return False
        self._native = _native
        self._began, self._interval, self._is_set = self._native.monotonic(), interval, True
        self._found = signal.signal(self._native.ALARM_SIGNAL, self._ring)
        self._found_timer = self._native.ring_in(seconds, interval)
        return True

    def ring_in(self, seconds: float, interval: float) -> None:
        """Ring after ``seconds`` instead, and then every ``interval`` seconds."""
        self._interval = interval
        self._native.ring_in(seconds, interval)

    @property
    def seconds(self) -> float:
        """How long ago it was set."""
        return float(self._native.monotonic() - self._began)

    @contextmanager
    def every(self, seconds: float) -> Iterator[None]:
        """Ring every ``seconds`` during the block, where that is possible."""
        self.set(seconds, seconds)
        try:
            yield
        finally:
            self.clear()

    def clear(self) -> None:
        """Restore what was found; a timer that was running goes on as if it had run all the time."""
        if not self._is_set:
            return
        self._native.ring_in(0.0, 0.0)
        signal.signal(self._native.ALARM_SIGNAL, self._found)
        remaining, interval = self._found_timer
        if remaining or interval:  # of one that rang once and was due, nothing remains
            # The timer takes 0 for "never", so one that is already due gets a microsecond.
            self._native.ring_in(max(remaining - self.seconds, 1e-6), interval)
        self._is_set = False

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        were_lent = self._native.take_names()  # it interrupts the program, which may have replaced them
        try:
            self._end_if_due(frame)
        finally:
            if were_lent:
                self._native.lend_names()

    def _end_if_due(self, frame: FrameType | None) -> None:
        make = self._due()
        if make is None:
            return
        if self.waits < (_LOST_WAITS_MAX if is_lost_in(frame) else _OWN_WAITS_MAX if is_own(frame) else 0):
            self.waits += 1
            # It waits where its error would be lost, or would leave something of ordeal's half made.
            self._native.ring_in(0.001, self._interval)
            return
        raise make()


def ends_call_within(seconds: float) -> bool:
    """Return True if an alarm that ends a call, and does not only tick, will ring in less than ``seconds``."""
    import ordeal._native as _native  # noqa: PLC0415

    alarm = getattr(signal.getsignal(_native.ALARM_SIGNAL), "__self__", None)
    return isinstance(alarm, Alarm) and alarm.ends_call and 0 < _native.rings_in()[0] <= seconds

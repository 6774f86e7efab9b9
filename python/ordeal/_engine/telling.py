"""Asks objects of the program under test what they say of themselves, in bounded time and size, whatever they do.

The text of an exception, the chain of those that led to it, a source line, the name of a class: all of it comes from
code that may loop, raise what it likes, or be larger than the memory. A process of its own also tells its journal that
such code runs, so that who supervises it knows why it does not get on.
"""

from __future__ import annotations

import gc
import linecache
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ordeal._engine import interrupts

if TYPE_CHECKING:
    from ordeal._native import Journal

#: What one answer may take.
SECONDS_MAX = 1.0
#: It is asked to stop once more after so long: it may have caught that.
REPEAT_SECONDS = 0.1
#: A longer text is cut.
MESSAGE_CHARS_MAX = 100_000
TRACEBACK_CHARS_MAX = 1_000_000
NAME_CHARS_MAX = 200
LINE_CHARS_MAX = 2_000
#: So many exceptions of a chain are shown: the last one, and those that led to it most directly.
CHAIN_MAX = 100
#: So many frames are shown where there is no time for all.
FRAMES_MAX = 20

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"

# Of the classes themselves: a metaclass or a subclass may have others of these names.
_name_of = type.__dict__["__name__"].__get__
_qualname_of = type.__dict__["__qualname__"].__get__
_module_of = type.__dict__["__module__"].__get__
_cause_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__cause__"].__get__
_context_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__context__"].__get__
_suppresses_context: Callable[[BaseException], bool] = BaseException.__dict__["__suppress_context__"].__get__
_set_cause: Callable[[BaseException, BaseException | None], None] = BaseException.__dict__["__cause__"].__set__
_set_context: Callable[[BaseException, BaseException | None], None] = BaseException.__dict__["__context__"].__set__
_set_suppresses: Callable[[BaseException, bool], None] = BaseException.__dict__["__suppress_context__"].__set__
_traceback_of: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__


class _TooLongError(BaseException):
    """What is asked takes too long."""


class _Told:
    """Where this process tells that it asks, if it does."""

    journal: Journal | None = None


def tell_journal(journal: Journal | None) -> None:
    """Have ``journal`` say from now on when objects of the program are asked in this process."""
    _Told.journal = journal


def told[Answer](ask: Callable[[], Answer], otherwise: Callable[[BaseException | None], Answer]) -> Answer:
    """What ``ask`` returns. Where it does not, ``otherwise`` gets what it raised, or None if it took too long.

    Only Ctrl-C of the person gets out. Outside of the main thread nothing ends what takes too long.
    """
    if not interrupts.are_watched():
        with interrupts.watched():
            return _told(ask, otherwise)
    return _told(ask, otherwise)


def _told[Answer](ask: Callable[[], Answer], otherwise: Callable[[BaseException | None], Answer]) -> Answer:
    journal = _Told.journal
    before = None if journal is None else journal.begin_telling()
    heard = interrupts.heard()
    alarm = _Alarm()
    try:
        alarm.set()
        answer = ask()
        alarm.is_over = True
    except _TooLongError:
        raised = None
    except BaseException as error:
        alarm.is_over = True
        if interrupts.is_of_person(error, heard):
            raise
        raised = error
    else:
        return answer
    finally:
        alarm.clear()
        if journal is not None and before is not None:
            journal.end_telling(before)
    return otherwise(raised)


class _Alarm:
    """Raises ``_TooLongError`` in the main thread after a while, and again, until it ``is_over``."""

    def __init__(self) -> None:
        self.is_over = False
        self._found: Any = None
        self._timer = (0.0, 0.0)

    def set(self) -> None:
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return
        self._found = signal.getsignal(signal.SIGALRM)
        if self._found is None:
            return  # one that was set outside of Python could not be put back
        signal.signal(signal.SIGALRM, self._ring)
        self._timer = signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX, REPEAT_SECONDS)

    def _ring(self, _signum: int, frame: FrameType | None) -> None:
        # Python drops what is raised in a callback of the garbage collector (Hypothesis has one), and says so.
        if not self.is_over and not _is_collecting(frame):
            raise _TooLongError

    def clear(self) -> None:
        self.is_over = True
        if self._found is not None:
            signal.setitimer(signal.ITIMER_REAL, *self._timer)
            signal.signal(signal.SIGALRM, self._found)


def _is_collecting(frame: FrameType | None) -> bool:
    return frame is not None and any(getattr(call, "__code__", None) is frame.f_code for call in gc.callbacks)


# -- classes ----------------------------------------------------------------------------------------------------------


def type_name(kind: type) -> str:
    """``kind.__name__``, whatever its metaclass does."""
    return _plain(_name_of(kind), NAME_CHARS_MAX)


def full_name(kind: type) -> str:
    """``module.qualname`` of a class, or its name alone when it is a builtin one."""
    module = _module_of(kind)
    if module == "builtins" and type(module) is str:
        return type_name(kind)
    name = _plain(_qualname_of(kind), NAME_CHARS_MAX)
    return f"{_plain(module, NAME_CHARS_MAX)}.{name}" if isinstance(module, str) else name


def _plain(text: str, limit: int) -> str:
    """The characters of a text, of which only ``limit`` are kept; a subclass may have methods of its own."""
    return str.__getitem__(text, slice(0, limit))


def _why(raised: BaseException | None) -> str:
    # It may have a truth value of its own.
    return "takes too long" if raised is None else "raises"


# -- exceptions -------------------------------------------------------------------------------------------------------


def error_message(error: BaseException) -> str:
    """``str(error)``, cut where it is very long, or a stand-in where it says nothing."""
    return told(
        lambda: _plain(str(error), MESSAGE_CHARS_MAX),
        lambda raised: f"<{type_name(type(error))} whose text {_why(raised)}>",
    )


def traceback_text(error: BaseException, first: TracebackType | None) -> str:
    """The traceback of ``error`` from ``first`` on, with the exceptions that led to it, as Python prints them."""
    return told(lambda: _printed(error, first), lambda raised: _frames_only(error, first, raised))


def _printed(error: BaseException, first: TracebackType | None) -> str:
    chain = list(_chain(error))
    if len(chain) < CHAIN_MAX:
        return "".join(traceback.format_exception(type(error), error, first))[:TRACEBACK_CHARS_MAX]
    parts: list[str] = []
    left = TRACEBACK_CHARS_MAX
    for number, (each, relation) in enumerate(chain):
        text = "".join(_printed_alone(each, _traceback_of(each) if number else first))[:left]
        left -= len(text)
        parts[:0] = [text, relation]  # Python begins with the one that came first
        if not left:
            break
    return "".join(parts)


def _printed_alone(error: BaseException, tb: TracebackType | None) -> list[str]:
    """Its own lines. Also where it does not print them, Python looks at the whole chain: there must be none."""
    cause, context, suppresses = _cause_of(error), _context_of(error), _suppresses_context(error)
    _set_cause(error, None)
    _set_context(error, None)
    try:
        return traceback.format_exception(type(error), error, tb, chain=False)
    finally:
        _set_cause(error, cause)
        _set_context(error, context)
        _set_suppresses(error, suppresses)


def _frames_only(error: BaseException, first: TracebackType | None, raised: BaseException | None) -> str:
    frames = told(lambda: "".join(traceback.format_tb(first, limit=-FRAMES_MAX)), lambda _raised: "")
    return f"{frames}<{type_name(type(error))} whose text {_why(raised)}>\n"


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """``error`` and those that led to it, each with what Python prints between it and the one that it led to."""
    seen: set[int] = set()
    current: BaseException | None = error
    relation = ""
    while current is not None and id(current) not in seen and len(seen) < CHAIN_MAX:
        seen.add(id(current))
        yield current, relation
        cause = _cause_of(current)
        relation = _CONTEXT if cause is None else _CAUSE
        current = _context_of(current) if cause is None and not _suppresses_context(current) else cause


def remote_error(name: str, message: str) -> BaseException:
    """Stands for an exception of another process: its type by name only, and its text."""
    kind: type[Exception] = type(name, (Exception,), {"__module__": "builtins"})
    return kind(message)


def stand_in(error: BaseException) -> BaseException:
    """What is left of ``error`` where nothing of the user's may be kept."""
    return remote_error(type_name(type(error)), error_message(error))


def source_line(path: str, number: int) -> str:
    """A line of a source file, or nothing. What is in a file of that name may be anything."""
    known = linecache.cache.get(path)
    if known is not None and len(known) != 1:
        line = linecache.getline(path, number)
    else:
        line = told(lambda: linecache.getline(path, number), lambda _raised: "")
    return line[:LINE_CHARS_MAX].strip()

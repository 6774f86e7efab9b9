"""Reads texts of objects of the program under test, in bounded time and size.

An exception's message and chain, a source line, the name of a class: all of these come from code that may loop, raise
anything, or be larger than memory. A child process also marks in its journal that such code runs, so that its
supervisor knows why it makes no progress.
"""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Callable, Iterator
from types import NoneType, TracebackType
from typing import TYPE_CHECKING, NoReturn

from ordeal._base import interrupts
from ordeal._base.interrupts import Alarm
from ordeal._base.limits import (
    ITEMS_MAX,
    LINE_CHARS_MAX,
    LISTED_MAX,
    RECORDED_CHARS_MAX,
    TEXT_CHARS_MAX,
    TRACEBACK_CHARS_MAX,
)

if TYPE_CHECKING:
    from ordeal._native import Journal

#: The time limit of one call.
SECONDS_MAX = 1.0

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"

# Taken from the base classes: a metaclass or a subclass may define these names itself.
_name_of = type.__dict__["__name__"].__get__
_qualname_of = type.__dict__["__qualname__"].__get__
_module_of = type.__dict__["__module__"].__get__
_cause_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__cause__"].__get__
_context_of: Callable[[BaseException], BaseException | None] = BaseException.__dict__["__context__"].__get__
_suppresses_context: Callable[[BaseException], bool] = BaseException.__dict__["__suppress_context__"].__get__
_set_cause: Callable[[BaseException, BaseException | None], None] = BaseException.__dict__["__cause__"].__set__
_set_context: Callable[[BaseException, BaseException | None], None] = BaseException.__dict__["__context__"].__set__
_set_suppresses: Callable[[BaseException, bool], None] = BaseException.__dict__["__suppress_context__"].__set__
_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
traceback_of: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__


class _TooLongError(BaseException):
    """The call takes too long."""


class _State:
    """The journal of this process, if it has one."""

    journal: Journal | None = None


def use_journal(journal: Journal | None) -> None:
    """From now on, mark each bounded call of this process in ``journal``."""
    _State.journal = journal


def bounded_call[Result](call: Callable[[], Result], fallback: Callable[[BaseException | None], Result]) -> Result:
    """Return ``call()``, or ``fallback(error)`` when it raises ``error``, where None means that it took too long.

    Only the user's Ctrl-C propagates. Outside the main thread the time is not limited.
    """
    if not interrupts.are_watched():
        with interrupts.watched():
            return _bounded_call(call, fallback)
    return _bounded_call(call, fallback)


def _bounded_call[Result](call: Callable[[], Result], fallback: Callable[[BaseException | None], Result]) -> Result:
    journal = _State.journal
    before = None if journal is None else journal.begin_inspecting()
    signals_before = interrupts.signal_count()
    is_over = False
    # Before its time it is the alarm of another, which was on its way when this one was set.
    alarm = Alarm(lambda: None if is_over or alarm.seconds < SECONDS_MAX else _TooLongError)
    try:
        # The alarm repeats: the call may have caught the first one.
        alarm.set(SECONDS_MAX, SECONDS_MAX / 10)
        result = call()
        is_over = True
    except _TooLongError:
        is_over = True  # at once: the next ring may come before `clear` begins
        raised = None
    except BaseException as error:
        is_over = True
        if interrupts.is_from_user(error, signals_before):
            raise
        raised = error
    else:
        return result
    finally:
        alarm.clear()
        if journal is not None and before is not None:
            journal.end_inspecting(before)
    return fallback(raised)


# -- classes ----------------------------------------------------------------------------------------------------------


def type_name(kind: type) -> str:
    """Return ``kind.__name__``, bypassing the metaclass."""
    return _plain(_name_of(kind), LINE_CHARS_MAX)


def full_name(kind: type) -> str:
    """Return ``module.qualname`` of a class, or only its name when it is a builtin."""
    module = _module_of(kind)
    if module == "builtins" and type(module) is str:
        return type_name(kind)
    name = _plain(_qualname_of(kind), LINE_CHARS_MAX)
    return f"{_plain(module, LINE_CHARS_MAX)}.{name}" if isinstance(module, str) else name


def _plain(text: str, limit: int) -> str:
    """Return at most ``limit`` characters of a text as a plain ``str``, bypassing the methods of a subclass."""
    return str.__getitem__(text, slice(0, limit))


def _why(raised: BaseException | None) -> str:
    # Not `if raised`: the exception may define its own truth value.
    return "takes too long" if raised is None else "raises"


# -- exceptions -------------------------------------------------------------------------------------------------------


def error_message(error: BaseException) -> str:
    """Return ``str(error)``, cut when it is very long, or a placeholder when that raises or takes too long."""
    return bounded_call(
        lambda: _plain(str(error), TEXT_CHARS_MAX),
        lambda raised: f"<{type_name(type(error))} whose text {_why(raised)}>",
    )


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in a group, or the one that an error is."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves_of(each)
    else:
        yield error


def traceback_text(error: BaseException, first: TracebackType | None) -> str:
    """Return the traceback of ``error`` from ``first`` on, with the exceptions that led to it, as Python prints it."""

    def frames_only(raised: BaseException | None) -> str:
        frames = bounded_call(lambda: "".join(traceback.format_tb(first, limit=-LISTED_MAX)), lambda _raised: "")
        return f"{frames}<{type_name(type(error))} whose text {_why(raised)}>\n"

    return bounded_call(lambda: _printed(error, first), frames_only)


def _printed(error: BaseException, first: TracebackType | None) -> str:
    chain = list(_chain(error))
    if len(chain) < ITEMS_MAX:
        return "".join(traceback.format_exception(type(error), error, first))[:TRACEBACK_CHARS_MAX]
    parts: list[str] = []
    left = TRACEBACK_CHARS_MAX
    for number, (each, relation) in enumerate(chain):
        text = "".join(_printed_alone(each, traceback_of(each) if number else first))[:left]
        left -= len(text)
        parts[:0] = [text, relation]  # Python prints the earliest exception first
        if not left:
            break
    return "".join(parts)


def _printed_alone(error: BaseException, tb: TracebackType | None) -> list[str]:
    """Format ``error`` without its chain, detached for the while: Python walks it even when it does not print it."""
    cause, context, suppresses = _cause_of(error), _context_of(error), _suppresses_context(error)
    _set_cause(error, None)
    _set_context(error, None)
    try:
        return traceback.format_exception(type(error), error, tb, chain=False)
    finally:
        _set_cause(error, cause)
        _set_context(error, context)
        _set_suppresses(error, suppresses)


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """Yield ``error`` and the exceptions that led to it, each with the text that Python prints after it."""
    seen: set[int] = set()
    current: BaseException | None = error
    relation = ""
    while current is not None and id(current) not in seen and len(seen) < ITEMS_MAX:
        seen.add(id(current))
        yield current, relation
        cause = _cause_of(current)
        relation = _CONTEXT if cause is None else _CAUSE
        current = _context_of(current) if cause is None and not _suppresses_context(current) else cause


def release_frames(error: BaseException) -> None:
    """Drop the local variables of ``error`` and of those that led to it.

    Their finalisers may do anything. They do it now, in bounded time, and not when the garbage collector comes.
    """

    def clear() -> None:
        for each, _ in _chain(error):
            traceback.clear_frames(traceback_of(each))

    bounded_call(clear, lambda _raised: None)


def remote_error(name: str, message: str) -> BaseException:
    """Return an exception that stands for one of another process: a type of that name, and its message."""
    kind: type[Exception] = type(name, (Exception,), {"__module__": "builtins"})
    return kind(message)


def stand_in(error: BaseException) -> BaseException:
    """Return an exception with the type name and message of ``error`` that refers to no object of the user's."""
    return remote_error(type_name(type(error)), error_message(error))


#: What is read of an exception besides its text, with the type that each must have.
_READ: dict[str, type | tuple[type, ...]] = {
    "__class__": type,
    "__traceback__": (TracebackType, NoneType),
    "__cause__": (BaseException, NoneType),
    "__context__": (BaseException, NoneType),
    "__suppress_context__": bool,
}

_READ_OR_ASKED = frozenset({*_READ, "__getattribute__"})


def readable(error: BaseException) -> BaseException:
    """Return ``error``, or an exception that stands for it where its class lies about what it is, or does not say it.

    All readers of an error read the result. Only a class that defines one of these names itself is asked.
    """
    kind = type(error)
    bases: tuple[type, ...] = _mro_of(kind)
    if all(map(_READ_OR_ASKED.isdisjoint, map(_dict_of, bases[: bases.index(BaseException)]))):
        return error

    def unreadable() -> str:
        """Return what is wrong with the first detail that cannot be used, if anything. Raises what they raise."""
        for name, kinds in _READ.items():
            try:
                value = getattr(error, name)
            except Exception as raised:  # noqa: BLE001 - it is code of the program
                return f"`{name}` raises {type_name(type(raised))}"
            fits = value is kind if name == "__class__" else issubclass(type(value), kinds)
            if not fits:
                return (
                    f"`{name}` is of type {type_name(type(value))}" if name != "__class__" else "`__class__` is another"
                )
        return ""

    problem = bounded_call(unreadable, lambda raised: f"reading it {_why(raised)}")
    if not problem:
        return error
    name = type_name(kind)
    made = remote_error(name, f"raised {name}; its details could not be read ({problem})")
    return made.with_traceback(traceback_of(error))


def source_line(path: str, number: int) -> str:
    """Return a stripped line of a source file, or an empty string. The file may contain anything."""
    known = linecache.cache.get(path)
    if known is not None and len(known) != 1:
        line = linecache.getline(path, number)
    else:
        line = bounded_call(lambda: linecache.getline(path, number), lambda _raised: "")
    return line[:RECORDED_CHARS_MAX].strip()


class ExitRefused:
    """Has code in the block that calls ``os._exit`` raise SystemExit instead: it would end the reports of others.

    Each run from a copy is such a block, and a generator of contextlib would take four times as long.
    """

    __slots__ = ("_leave", "_refuse")

    def __enter__(self) -> None:
        process, leave = os.getpid(), os._exit

        def refuse(status: int) -> NoReturn:
            if os.getpid() != process:
                leave(status)  # a process that the code has forked
            raise SystemExit(f"os._exit({status})")

        self._leave, self._refuse = leave, refuse
        os._exit = refuse

    def __exit__(self, *_exc_info: object) -> None:
        if os._exit is self._refuse:
            os._exit = self._leave

"""Finds operations that wait until their time-out in the calm phase, though what they wait for is there.

A time-out hides that nothing wakes the caller: the program tries again, and goes on. What comes next shows the
difference: the same call from the same place, with the same arguments, goes through at once,
though nothing else has run in between and no other operation is left that could have had what was waited for.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.timeouts import Timeout
from collections.abc import Callable, Collection, Iterable
from types import CodeType, FrameType
from typing import Any

from ordeal._base.monitoring_tools import free_tool
from ordeal.simulate.runtime.sites import frames_of, locals_of
from ordeal.simulate.runtime.tasks import TaskRecord

_SLEEP = asyncio.sleep.__code__
_PLAIN = (int, float, str, bytes, bool, type(None))
_MONITORING = sys.monitoring
_EVENTS = _MONITORING.events.PY_START | _MONITORING.events.PY_YIELD | _MONITORING.events.PY_RETURN
_CODE_VARARGS, _CODE_VARKEYWORDS = 0x04, 0x08

#: Where a call is made: the code of each caller, from the outermost, with its line.
type _Place = tuple[tuple[CodeType, int | None], ...]


class LongWaits:
    """Watches the operations of one world from the beginning of its calm phase. Not thread-safe."""

    def __init__(
        self, loop: Any, operations: Collection[asyncio.Task[Any]], found: Callable[[TaskRecord, CodeType], object]
    ) -> None:
        """Calls ``found(record, code)`` for an operation and the function that it waited in."""
        self._loop = loop
        self._operations = operations
        self._found = found
        self._watched: _RepeatedCalls | None = None

    def look(self, handles: Iterable[asyncio.Handle]) -> None:
        """Take note of timers that are about to run."""
        for handle in handles:
            owner = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
            if type(owner) is not Timeout:
                continue
            task: Any = owner._task  # type: ignore[attr-defined]
            if [each for each in self._operations if not each.done()] != [task]:
                continue
            self.close()
            future = task._fut_waiter
            frames = list(frames_of(task.get_coro()))
            if future is None or future.done() or any(frame.f_code is _SLEEP for frame in frames):
                continue  # it goes on anyway, or for the time alone
            tool = free_tool()
            if tool is not None:
                self._watched = _RepeatedCalls(tool, self._loop, self._loop.record_of(task), frames, self._found)

    def close(self) -> None:
        """Watch nothing any more."""
        if self._watched is not None:
            self._watched.close()
            self._watched = None


class _RepeatedCalls:
    """Looks for calls that an operation repeats after its time-out."""

    def __init__(
        self,
        tool: int,
        loop: Any,
        record: TaskRecord,
        frames: list[FrameType],
        found: Callable[[TaskRecord, CodeType], object],
    ) -> None:
        self._tool = tool
        self._loop = loop
        self._record = record
        self._found = found
        self._steps, self._waits = loop.steps, record.waits
        # By the code of each function that waits: from where it was called, and with what.
        self._calls: dict[CodeType, tuple[_Place, list[Any]]] = {}
        place: _Place = ()
        for frame in frames:
            self._calls[frame.f_code] = place, _arguments(frame)
            place = (*place, (frame.f_code, frame.f_lineno))
        self._root = frames[0] if frames else None
        self._begun: FrameType | None = None
        _MONITORING.use_tool_id(tool, "ordeal long waits")
        for event, callback in (
            (_MONITORING.events.PY_START, self._start),
            (_MONITORING.events.PY_YIELD, self._suspend),
            (_MONITORING.events.PY_RETURN, self._return),
        ):
            _MONITORING.register_callback(tool, event, callback)
        for code in self._calls:
            _MONITORING.set_local_events(tool, code, _EVENTS)

    def close(self) -> None:
        for code in self._calls:
            _MONITORING.set_local_events(self._tool, code, 0)
        for event in (_MONITORING.events.PY_START, _MONITORING.events.PY_YIELD, _MONITORING.events.PY_RETURN):
            _MONITORING.register_callback(self._tool, event, None)
        _MONITORING.free_tool_id(self._tool)
        self._begun = None

    def _start(self, code: CodeType, _offset: int) -> None:
        frame = sys._getframe(1)
        place, arguments = self._calls[code]
        # Whether only the operation has run since its time-out was due. A sleep in it takes two steps.
        is_alone = self._loop.steps - self._steps <= 2 * (self._record.waits - self._waits + 1)
        is_repeated = self._begun is None and is_alone and self._is_called_from(frame, place)
        if not is_repeated:
            return
        now = _arguments(frame)
        if len(now) == len(arguments) and all(
            one is other or (type(one) is type(other) and type(one) in _PLAIN and one == other)
            for one, other in zip(now, arguments, strict=True)
        ):
            self._begun = frame

    def _suspend(self, _code: CodeType, _offset: int, _value: object) -> None:
        if sys._getframe(1) is self._begun:
            self._begun = None

    def _return(self, code: CodeType, _offset: int, _value: object) -> None:
        if self._begun is not None and sys._getframe(1) is self._begun:
            self._begun = None
            self._found(self._record, code)

    def _is_called_from(self, frame: FrameType, place: _Place) -> bool:
        caller = frame.f_back
        for code, line in reversed(place):
            if caller is None or caller.f_code is not code or caller.f_lineno != line:
                return False
            last, caller = caller, caller.f_back
        return bool(place) and last is self._root


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _CODE_VARARGS) + bool(code.co_flags & _CODE_VARKEYWORDS)
    values = locals_of(frame)
    return [values.get(name, _MONITORING) for name in code.co_varnames[:count]]

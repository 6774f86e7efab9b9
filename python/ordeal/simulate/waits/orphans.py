"""Which tasks wait for what nobody can bring about: nothing that can still run leads to it, or to the task.

As a garbage collector finds what is unreachable, but from the other end: from what a task waits for to whoever refers
to it, and on to those. What only tasks lead to that wait in the same way is out of reach for good.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import weakref
from collections.abc import Sequence
from types import BuiltinMethodType, ModuleType
from typing import Any

from ordeal.simulate.runtime.sites import FRAMES, frame_of, frames_of, is_own
from ordeal.simulate.runtime.tasks import TaskRecord

#: More tasks than these are not looked at: it is done once in a run, and should take less than a second.
_TASKS_MAX = 20
#: How many objects may refer to what a task waits for, on how long a way, before it counts as reachable.
_OBJECTS_MAX, _DEPTH_MAX = 100, 8


def orphaned(records: Sequence[TaskRecord], *, is_end: bool) -> list[TaskRecord]:
    """Return the tasks that wait for what none can reach but they and others of them; none where there are too many.

    Until the end of a run, who can reach a task counts as well: it may be cancelled.
    """
    waiting = [record for record in records if _future_of(record.task) is not None]
    if len(waiting) > _TASKS_MAX:
        return []
    gc.unfreeze()  # what is frozen is not listed as referring to anything
    gc.collect()  # and what is garbage already leads nowhere
    while waiting:
        search = _Search(waiting, is_end=is_end)
        left = [record for record in waiting if not search.is_reachable(record.task)]
        if len(left) == len(waiting):
            return left
        waiting = left
    return []


def _future_of(task: asyncio.Task[Any]) -> Any:
    return None if task.done() else getattr(task, "_fut_waiter", None)


class _Search:
    """Follows references backwards, and takes tasks that wait, and their frames, for such as do nothing any more."""

    def __init__(self, waiting: Sequence[TaskRecord], *, is_end: bool) -> None:
        self._is_end = is_end
        self._tasks = {id(record.task) for record in waiting}
        self._frames = {id(frame) for record in waiting for frame in frames_of(record.task.get_coro())}

    def is_reachable(self, task: asyncio.Task[Any]) -> bool:
        """Return whether something that may still run leads to what a task waits for, or to the task itself."""
        layer: list[Any] = [_future_of(task)] if self._is_end else [_future_of(task), task]
        seen = {id(each) for each in layer}
        for _ in range(_DEPTH_MAX):
            found: list[Any] = []
            for holder in gc.get_referrers(*layer):
                if id(holder) in seen or self._is_idle(holder) or holder is layer or _is_all_of(holder, layer):
                    continue
                if _may_run(holder, layer) or len(seen) > _OBJECTS_MAX:
                    return True
                seen.add(id(holder))
                if not _is_one(holder, asyncio.AbstractEventLoop):
                    found.append(holder)
            if not found:
                return False
            layer = found
        return True

    def _is_idle(self, holder: object) -> bool:
        """Return whether it is a task that has ended or waits as well, or belongs to one."""
        if type(holder) is BuiltinMethodType:
            holder = holder.__self__  # what wakes a task
        if _is_one(holder, asyncio.Task):
            task: Any = holder
            return id(task) in self._tasks or task.done()
        if _is_one(holder, TaskRecord) or type(holder).__name__ == "FutureIter":
            return True
        frame = frame_of(holder)
        if frame is not None:
            return id(frame) in self._frames or is_own(frame.f_code)
        return type(holder) in FRAMES  # it has ended


def _is_all_of(holder: object, layer: list[Any]) -> bool:
    """Return whether it holds just what is asked about, for the call that asks."""
    return type(holder) is tuple and len(holder) == len(layer) and all(map(operator.is_, holder, layer))


def _may_run(holder: object, targets: list[Any]) -> bool:
    """Return whether it is what runs code, or where such may look: a frame, a task, a callback, a module, the loop."""
    if _is_one(holder, asyncio.Handle):
        handle: Any = holder
        return not handle.cancelled()
    if _is_one(holder, asyncio.Task) or frame_of(holder) is not None:
        return True
    if _is_one(holder, asyncio.AbstractEventLoop):
        held = set(map(id, gc.get_referents(holder)))
        return any(id(each) in held and not _is_one(each, asyncio.Task) for each in targets)
    # Any code may look there, and the network may bring something.
    return _is_one(holder, ModuleType, type, asyncio.BaseTransport) or bool(weakref.getweakrefs(holder))


def _is_one(holder: object, *kinds: type) -> bool:
    """Return whether it is an instance, without asking it: it is the program's, and may answer anything."""
    return issubclass(type(holder), kinds)

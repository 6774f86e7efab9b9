"""Finds what the tasks of a run that cannot go on wait for, who has it, and whether any can still provide it."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from types import BuiltinMethodType, FrameType, ModuleType
from typing import Any

from ordeal._base.formatting import aligned, describe_error, one_line
from ordeal._base.limits import LINES_MAX
from ordeal.simulate.runtime.sites import (
    FRAMES,
    calling_site,
    frame_of,
    frames_of,
    is_asyncio,
    is_installed,
    is_own,
    is_program,
    locals_of,
    raised_at,
    site_in,
)
from ordeal.simulate.runtime.tasks import TaskRecord

_TOOK, _GAVE = "acquired", "released"
_WATCHED: dict[type, dict[str, str]] = {
    asyncio.Lock: {"acquire": _TOOK, "release": _GAVE},
    asyncio.Semaphore: {"acquire": _TOOK, "release": _GAVE},
    asyncio.Condition: {"notify": "last notified"},
    asyncio.Event: {"set": "last set", "clear": "last cleared"},
    asyncio.Queue: {"put_nowait": "last put", "get_nowait": "last got"},
}

#: For each object, by its id: the object itself, and who did what to it last and where.
_uses: dict[int, tuple[object, dict[str, str]]] = {}


@contextmanager
def watched_locks(name_of: Callable[[], str]) -> Iterator[None]:
    """Note in the block who uses locks; ``name_of()`` returns who runs."""
    originals = [(cls, method, vars(cls)[method]) for cls, methods in _WATCHED.items() for method in methods]
    for cls, method, original in originals:
        setattr(cls, method, _watching(original, _WATCHED[cls][method], name_of))
    try:
        yield
    finally:
        for cls, method, original in originals:
            setattr(cls, method, original)
        _uses.clear()


def _watching(original: Callable[..., Any], what: str, name_of: Callable[[], str]) -> Callable[..., Any]:
    def note(target: object) -> None:
        _, uses = _uses.setdefault(id(target), (target, {}))
        uses.pop(what, None)
        if what == _GAVE:
            uses.pop(_TOOK, None)
        uses[what] = f"{name_of()} at {calling_site().where}"

    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def acquire(self: object, *args: Any, **kwargs: Any) -> Any:
            result = await original(self, *args, **kwargs)
            note(self)
            return result

        return acquire

    @functools.wraps(original)
    def call(self: object, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        note(self)
        return result

    return call


#: What ``asyncio.wait`` waits in.
_WAIT = asyncio.tasks._wait.__code__  # type: ignore[attr-defined]
#: In what an object is looked for, besides attributes.
_HOLDERS = (list, tuple, set, frozenset, dict, deque)


def wait_lines(records: Sequence[TaskRecord]) -> list[str]:
    """Return a table: a line for each task that waits, and one for each that a fault has struck."""
    names = {id(record.task): record.name for record in records}
    waiting = [record for record in records if not record.task.done()]
    rows = [(record.name, *_wait(record, names)) for record in waiting[:LINES_MAX]]
    rows += [
        (f"{record.name} ended", "cancelled" if record.task.cancelled() else "", _strike(record))
        for record in records
        if record.task.done() and record.struck_at is not None
    ][:LINES_MAX]
    lines = [f"  {each}" for each in aligned(rows)]
    if len(waiting) > LINES_MAX:
        lines.append(f"  and {len(waiting) - LINES_MAX} more")
    return lines


def _strike(record: TaskRecord) -> str:
    if record.struck_at is None:
        return ""
    when = ", between its wake-up and its turn" if record.struck_in_window else ""
    return f"by the fault cancel at {record.struck_at.where}{when}"


def _wait(record: TaskRecord, names: dict[int, str]) -> tuple[str, str]:
    frames = [frame for frame in frames_of(record.task.get_coro()) if not is_own(frame.f_code)]
    what, target = _waited_for(record.task, frames, names)
    _, known = _uses.get(id(target), (None, {}))
    uses = [f"{done} by {who}" for done, who in known.items() if done != _GAVE]
    struck = [f"was cancelled {_strike(record)}"] if record.struck_at is not None else []
    # The error that an ``async with`` block ended with, while what cleans up after it waits.
    leaving = [locals_of(frame).values() for frame in frames if frame.f_code.co_name == "__aexit__"]
    given = chain.from_iterable(each if type(each) is tuple else [each] for values in leaving for each in values)
    for error in given:
        if _is_one(error, BaseException) and not _is_one(error, asyncio.CancelledError):
            uses.append(f"leaves with {describe_error(error)}{raised_at(error)}")
            break
    # Where it waits: in the program itself, and in the library that it has called, if any.
    where = record.site().where
    own = next((frame for frame in reversed(frames) if _is_of_user(frame)), None)
    called = "" if own is None else site_in(own.f_code, own.f_lasti).where
    where = where if called in ("", where) else f"{called}, in {where}"
    return f"waits for {what}", "; ".join(part for part in (where, *uses, *struck) if part)


def _is_of_user(frame: FrameType) -> bool:
    """Return True if a frame is neither Python's, nor ordeal's, nor that of an installed library."""
    return is_program(frame.f_code) and not is_installed(frame.f_code)


def waits_for_tasks(task: asyncio.Task[Any]) -> bool:
    """Return True if a task waits for the end of others, and not for a future that one of them would set."""
    future: Any = getattr(task, "_fut_waiter", None)
    return isinstance(future, asyncio.Task) or bool(getattr(future, "_children", None))


def _waited_for(task: asyncio.Task[Any], frames: Sequence[FrameType], names: dict[int, str]) -> tuple[str, Any]:
    """Return what a task waits for as text, and the object itself where it is a known one."""
    future: Any = getattr(task, "_fut_waiter", None)
    if future is not None and id(future) in names:
        return f"the end of {names[id(future)]}", None
    for outer, frame in zip([None, *frames], frames, strict=False):
        owner = _self_of(frame) if is_asyncio(frame.f_code) else None
        if owner is not None:
            return _call_text(owner, frames, outer), owner
    last = frames[-1] if frames else None
    given = locals_of(last) if last is not None and last.f_code is _WAIT else {}
    children = [child for child in (*getattr(future, "_children", ()), *given.get("fs", ())) if not child.done()]
    if children:
        which = "one" if given.get("return_when") == asyncio.FIRST_COMPLETED else "all"
        return f"{which} of {', '.join(sorted(names.get(id(child), 'a future') for child in children)[:5])}", None
    if last is not None and not is_program(last.f_code):
        return f"asyncio.{last.f_code.co_name}", None
    for outer, frame in pairwise(frames):
        owner = _self_of(frame) if _is_of_user(outer) and is_installed(frame.f_code) else None
        if owner is not None:
            return _call_text(owner, frames, outer), None
    name = _name_of(future, frames[-1:]) if future is not None else ""
    what = f"the future {name}" if name and not name.startswith("in ") else f"a future {name}".rstrip()
    return f"{what}, which nothing else holds" if future is not None and _is_lost(future, frames) else what, None


def _self_of(frame: FrameType) -> Any:
    """Return the object whose method a frame is of, None if it is of none."""
    return locals_of(frame).get("self")


def _call_text(owner: Any, frames: Sequence[FrameType], outer: FrameType | None) -> str:
    """Return which method of an object a task is in, and what ``outer``, which called it, calls that object."""
    methods = [each.f_code.co_name for each in frames if _self_of(each) is owner]
    method = next((name for name in reversed(methods) if not name.startswith("_")), methods[0])
    what = f"{type(owner).__name__}.{method}"
    name = _name_of(owner, [outer] if outer is not None else [])
    one = "one " if name.startswith("in ") else ""
    return f"{what} of {one}{name}" if name else what


def _is_lost(future: object, frames: Sequence[FrameType]) -> bool:
    """Return True if only its waiters refer to a future: it was dropped, and nothing can wake them."""
    waiting = {id(frame) for frame in frames}
    for holder in gc.get_referrers(future):
        if type(holder) is FrameType:
            leads = id(holder) not in waiting and not is_own(holder.f_code)
        elif type(holder) in FRAMES:
            leads = id(frame_of(holder)) not in waiting
        else:
            leads = not issubclass(type(holder), asyncio.Task) and type(holder).__name__ != "FutureIter"
        if leads:
            return False
    return True


def _name_of(target: object, frames: Sequence[FrameType]) -> str:
    """Return how the code of a frame calls an object; empty if it has no name there."""
    return next((one_line(name) for frame in frames for name in _names(target, frame)), "")


def _names(target: object, frame: FrameType) -> Iterator[str]:
    local = locals_of(frame)
    yield from (name for name, value in local.items() if value is target)
    for name, value in local.items():
        yield from (f"{name}.{key}" for key in _keys_of(target, value))
    known = {name: frame.f_globals.get(name) for name in frame.f_code.co_names}
    yield from (name for name, value in known.items() if value is target)
    for name, value in known.items():
        yield from (f"{name}.{key}" for key in _keys_of(target, value))
    for name, value in (local | known).items():
        yield from (f"in {inside}" for inside in _holders_of(target, name, value))


def _holders_of(target: object, name: str, value: object) -> Iterator[str]:
    """Yield how the lists, sets and tables are called that have an object in them: ``name``, or an attribute of it."""
    attributes = getattr(value, "__dict__", None)
    found = attributes if isinstance(attributes, dict) else {}
    named = [(f"{name}.{key}", each) for key, each in list(found.items()) if isinstance(key, str)]
    for called, holder in [(name, value), *named]:
        if type(holder) in _HOLDERS:
            items = holder.values() if isinstance(holder, dict) else holder
            if any(each is target for each in items):
                yield called


def _keys_of(target: object, holder: object) -> Iterator[str]:
    attributes = getattr(holder, "__dict__", None)
    if isinstance(attributes, dict):
        yield from (key for key, value in list(attributes.items()) if value is target and isinstance(key, str))


#: How many objects may refer to what a task waits for, on how long a way, before it counts as reachable.
_OBJECTS_MAX, _DEPTH_MAX = 100, 8


def orphaned(records: Sequence[TaskRecord], *, is_end: bool) -> list[TaskRecord]:
    """Return the tasks that wait for what none can reach but they and others of them; none where there are too many.

    Until the end of a run, who can reach a task counts as well: it may be cancelled.
    """
    waiting = [record for record in records if _future_of(record.task) is not None]
    # More tasks than these are not looked at: it is done once in a run, and should take less than a second.
    if len(waiting) > 20:
        return []
    gc.unfreeze()  # what is frozen is not listed as referring to anything
    gc.collect()  # and what is garbage already leads nowhere
    while waiting:
        search = _HolderSearch(waiting, is_end=is_end)
        left = [record for record in waiting if not search.is_reachable(record.task)]
        if len(left) == len(waiting):
            return left
        waiting = left
    return []


def _future_of(task: asyncio.Task[Any]) -> Any:
    return None if task.done() else getattr(task, "_fut_waiter", None)


class _HolderSearch:
    """Follows references backwards, and treats waiting tasks and their frames as dead ends."""

    def __init__(self, waiting: Sequence[TaskRecord], *, is_end: bool) -> None:
        self._is_end = is_end
        self._tasks = {id(record.task) for record in waiting}
        self._frames = {id(frame) for record in waiting for frame in frames_of(record.task.get_coro())}

    def is_reachable(self, task: asyncio.Task[Any]) -> bool:
        """Return True if something that may still run leads to what a task waits for, or to the task itself."""
        layer: list[Any] = [_future_of(task)] if self._is_end else [_future_of(task), task]
        seen = {id(each) for each in layer}
        for _ in range(_DEPTH_MAX):
            found: list[Any] = []
            for holder in gc.get_referrers(*layer):
                if id(holder) in seen or self._is_idle(holder) or holder is layer:
                    continue
                if type(holder) is tuple and len(holder) == len(layer) and all(map(operator.is_, holder, layer)):
                    continue  # the arguments of the call that asks
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
        """Return True if it is a task that has ended or waits as well, or belongs to one."""
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


def _may_run(holder: object, targets: list[Any]) -> bool:
    """Return True for what runs code, or what running code can see: a frame, a task, a callback, a module, the loop."""
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
    """Return True if it is an instance, without asking it: it is the program's, and may answer anything."""
    return issubclass(type(holder), kinds)

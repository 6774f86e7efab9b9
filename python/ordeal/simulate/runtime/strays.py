"""Cancellations that end a task which nothing has cancelled: a future that it shares with others was cancelled."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ordeal.simulate.errors import StrayCancellation
from ordeal.simulate.runtime.sites import innermost_site
from ordeal.simulate.runtime.tasks import SimulationTask, TaskRecord, is_cancellation


def stray_cancellation(records: Sequence[TaskRecord], main: asyncio.Task[Any] | None) -> StrayCancellation | None:
    """Return the message if a task other than the main one ended because another task was cancelled."""
    for record in records:
        task: Any = record.task
        is_asked = record.strikes or task is main or not record.is_living
        if not is_asked and task.done() and task.cancelled() and not task.cancelling():
            error = task._make_cancelled_error()
            owner = _owner(record, records)
            if owner is not None and not _is_awaited(record, owner):
                return _stray(record, owner, error)
    return None


def failure_of_main(
    error: asyncio.CancelledError, records: Sequence[TaskRecord], main: asyncio.Task[Any] | None
) -> BaseException | None:
    """Return the failure behind a CancelledError of the test; None if it awaited a task that a fault has struck."""
    stray = stray_cancellation(records, main)
    record = next((each for each in records if each.task is main), None)
    if stray is not None or record is None or record.task.cancelling():
        return stray or error
    owner = _owner(record, records)
    if owner is None and not any(each.strikes for each in records):
        return error  # no fault had a part in it
    return None if owner is not None and _is_awaited(record, owner) else _stray(record, owner, error)


def _owner(record: TaskRecord, records: Sequence[TaskRecord]) -> TaskRecord | None:
    """Return the task whose cancellation reached this one, as far as it is known."""
    others = [each for each in records if each is not record]
    if record.met is None:  # it awaited a plain future that was cancelled before
        return next((each for each in others if _has_shared(each)), None)
    futures = _cancelled_in(record.met)
    known = list(_records_of(futures))
    struck = next((each for each in known if each.strikes), None)
    if struck is not None:
        return struck
    for other in others:
        if any(one is future for one in other.owned or () for future in futures):
            return other
    return next((owner for each in known if (owner := _owner(each, records)) is not None), None)


def _has_shared(owner: TaskRecord) -> bool:
    """Return True if something still refers to a plain future that was cancelled with a task."""
    # Its owner's record refers to it through a list, and a variable and the call that counts do, too.
    return any(not isinstance(each, asyncio.Task) and sys.getrefcount(each) > 3 for each in owner.owned or ())


def _is_awaited(record: TaskRecord, owner: TaskRecord) -> bool:
    """Return True if a task awaited a struck task itself, or one that did: who does so asks for its cancellation."""
    if not owner.strikes or record.met is None:
        return False
    return any(each is owner or _is_awaited(each, owner) for each in _records_of(_cancelled_in(record.met)))


def _cancelled_in(met: Any) -> list[Any]:
    """Return the cancelled futures behind one that was met: itself, and what it gathers."""
    return [each for each in (met, *getattr(met, "_children", ())) if each.done() and is_cancellation(each)]


def _records_of(futures: Sequence[Any]) -> Iterator[TaskRecord]:
    yield from (each.record for each in futures if isinstance(each, SimulationTask) and each.record is not None)


def _stray(record: TaskRecord, owner: TaskRecord | None, error: asyncio.CancelledError) -> StrayCancellation:
    place = innermost_site(error.__traceback__)
    where = "" if place is None else f" at {place.where}: {place.name}"
    why = "the program cancelled the future that it awaited, or raised the error itself"
    if owner is not None:
        how = "was cancelled"
        if owner.struck_at is not None:
            how = f"was struck by the fault cancel at {owner.struck_at.where}"
        why = f"the future that it awaited was cancelled with {owner.name}, which awaited it too and {how}"
    failure = StrayCancellation(
        f"{record.name} ended with CancelledError{where}, and nothing has cancelled it\n{why}",
        site=record.name.rpartition("#")[0] if place is None else place.name,
    )
    return failure.with_traceback(error.__traceback__)

"""Tasks of a simulated run: their names in labels, and where which of them is cancelled."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any

import ordeal._native as _native
from ordeal.simulate.nodes.life import Life
from ordeal.simulate.runtime.decisions import CANCEL, DecisionSource, name_key
from ordeal.simulate.runtime.faults import CLIENTS, Cancel, SimulatedFault
from ordeal.simulate.runtime.sites import CodeSite, site_of

_NAME_CHARS_MAX = 100
#: The callback by which ``asyncio.shield`` watches a task.
_SHIELD = {code.co_name: code for code in asyncio.shield.__code__.co_consts if isinstance(code, CodeType)}.get(
    "_inner_done_callback"
)


class TaskRecord(_native.TaskState):
    """What the loop knows of a task: where it was cancelled by a fault, and what is read at each of its steps."""

    __slots__ = ()
    life: Life | None
    struck_at: CodeSite | None

    @property
    def is_living(self) -> bool:
        """Whether the node that it belongs to, if any, has not gone."""
        return self.life is None or not self.life.is_dead

    @property
    def is_waiting(self) -> bool:
        """Whether it has not ended, and may still do so."""
        return not self.task.done() and self.is_living

    @property
    def is_worth_telling(self) -> bool:
        """Whether a report may need it: it goes on, was struck, or ended with an error that nobody asked for."""
        if not self.task.done() or self.struck_at is not None:
            return True
        return not self.task.cancelled() and bool(self.task._log_traceback)

    def part(self) -> None:
        """Let the task and its record be freed at once.

        They refer to each other, and asyncio finds tasks by their hashes, which repeat in each run: they must not wait
        for the garbage collector.
        """
        if isinstance(self.task, SimulationTask):
            self.task.record = None

    def rename(self, name: str) -> None:
        """Give the task another name in the labels of its decisions."""
        self.name, self.key = name, name_key(name)

    def site(self) -> CodeSite:
        """Return where the task is suspended."""
        return site_of(self.task.get_coro())


_begin_task = asyncio.Task.__init__


class SimulationTask(_native.Numbered, asyncio.Task[Any]):
    """A stock task whose hash is its number, so that sets of tasks have the same order in every process."""

    __slots__ = ("number", "record")
    number: int
    record: TaskRecord | None

    @classmethod
    def begun(cls, coroutine: Coroutine[Any, Any, Any], number: int, **options: Any) -> SimulationTask:
        """Make a task. Starting eagerly runs its first step in here."""
        task = cls.__new__(cls)
        task.number, task.record = number, None  # asyncio asks for the hash at once
        _begin_task(task, coroutine, **options)
        return task

    def set_name(self, value: object) -> None:
        """Set the name of the task, and tell the loop."""
        super().set_name(value)
        loop: Any = self.get_loop()
        loop.renamed(self, str(value))


def is_shielded(task: asyncio.Task[Any]) -> bool:
    """Return whether the task is what ``asyncio.shield`` protects from the cancellation of whoever waits for it."""
    callbacks: Any = getattr(task, "_callbacks", None)
    return bool(callbacks) and any(getattr(each[0], "__code__", None) is _SHIELD for each in callbacks)


def base_name(coroutine: Any, given: str | None) -> str:
    """Return the name of a task as its decisions have it, without a number: its own, or that of its function."""
    return _short(given or getattr(coroutine, "__qualname__", None) or type(coroutine).__name__)


@functools.lru_cache(maxsize=4096)
def _short(name: str) -> str:
    return name.rpartition("<locals>.")[2][:_NAME_CHARS_MAX]


async def _nothing() -> None:
    await asyncio.sleep(0)


class _StepTypes(asyncio.AbstractEventLoop):
    """A loop for one task, that keeps the type of the callback for its first step."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def get_debug(self) -> bool:
        return False

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:  # type: ignore[override]
        del args, context
        self.seen.append(callback)


def _step_type() -> type:
    loop = _StepTypes()  # type: ignore[abstract]
    coroutine = _nothing()
    task = asyncio.Task(coroutine, loop=loop)
    coroutine.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    return type(loop.seen[0])


#: The type of the callback that runs the first step of a task.
STEP_TYPE = _step_type()


def stepped_task(callback: Any) -> asyncio.Task[Any] | None:
    """Return the task of which a callback of the loop runs a step; None if it does something else."""
    kind = type(callback)
    if kind is STEP_TYPE:
        return callback.__self__  # type: ignore[no-any-return]
    if kind is BuiltinMethodType and callback.__name__ == "task_wakeup":
        return callback.__self__  # type: ignore[no-any-return]
    if kind is MethodType and callback.__func__.__name__ in ("__step", "__wakeup"):
        owner = callback.__self__
        return owner if isinstance(owner, asyncio.Task) else None
    return None


#: Where a task is cancelled, as values of a decision. The first takes half of the draws.
IN_WINDOW, WHILE_WAITING, WHEN_IDLE = 1, 2, 3
_AIMS = 4
_START = CodeSite("before its first step", "its start")


class Interruptions:
    """The cancellations of one run, and where tasks waited."""

    def __init__(
        self,
        schedule: DecisionSource,
        faults: Sequence[SimulatedFault],
        call_soon: Callable[[Callable[[TaskRecord, int], object], TaskRecord, int], object],
    ) -> None:
        """Calls ``call_soon(function, record, waits)`` to have something done after what is ready now."""
        self._schedule = schedule
        self._call_soon = call_soon
        self._cancels = [fault for fault in faults if isinstance(fault, Cancel)]
        self._idle: list[tuple[TaskRecord, int]] = []
        self._sites: dict[TaskRecord, CodeSite] = {}
        self.waited: dict[str, int] = {}
        """How often tasks that may be cancelled waited at each site."""
        self.struck: dict[str, int] = {}
        """How many of them were cancelled there."""

    @property
    def has_any(self) -> bool:
        """Whether any task may be cancelled."""
        return bool(self._cancels)

    def strikes(self, name: str, is_client: bool) -> bool:
        """Return whether a task with this name may be cancelled."""
        return bool(self._cancels) and any(fault.strikes(name, is_client=is_client) for fault in self._cancels)

    def wants_clients(self) -> bool:
        """Return whether it matters which tasks are clients."""
        return any(fault.tasks == CLIENTS for fault in self._cancels)

    def aim_at_start(self, record: TaskRecord) -> None:
        """Decide whether a new task is cancelled before its first step."""
        self._decide(record, _START, IN_WINDOW + 1)

    def aim(self, record: TaskRecord) -> None:
        """Decide whether a task that was just suspended is cancelled during this wait, and when."""
        if record.struck_at is not None or record.task.cancelling() or self._is_spared(record):
            record.may_be_cancelled = False
            return
        aim = self._decide(record, record.site(), _AIMS)
        if aim == WHILE_WAITING:
            self._call_soon(self._strike_waiting, record, record.waits)
        elif aim == WHEN_IDLE:
            self._idle.append((record, record.waits))

    def _decide(self, record: TaskRecord, site: CodeSite, bound: int) -> int:
        self.waited[site.name] = self.waited.get(site.name, 0) + 1
        record.aim = self._schedule.decide(CANCEL, record.key, name_key(site.name), bound)
        if record.aim:
            self._sites[record] = site
        return record.aim

    def before_turn(self, record: TaskRecord) -> None:
        """Cancel a task that was woken and whose turn comes now, if that was decided."""
        aim, record.aim = record.aim, 0
        if aim == IN_WINDOW:
            record.struck_in_window = self._strike(record)

    def strike_idle(self) -> bool:
        """Cancel the tasks that are to be cancelled before time passes; return whether there was one."""
        idle, self._idle = self._idle, []
        struck = [self._strike_waiting(record, waits) for record, waits in idle]
        return any(struck)

    def _strike_waiting(self, record: TaskRecord, waits: int) -> bool:
        return record.waits == waits and record.aim != 0 and self._strike(record)

    def _strike(self, record: TaskRecord) -> bool:
        record.aim = 0
        task = record.task
        if not record.is_living or task.done() or task.cancelling() or self._is_spared(record) or not task.cancel():
            return False
        site = record.struck_at = self._sites[record]
        self.struck[site.name] = self.struck.get(site.name, 0) + 1
        return True

    def _is_spared(self, record: TaskRecord) -> bool:
        """Return whether a task is shielded, and nobody asked for it by name: who waits for it cannot cancel it."""
        return is_shielded(record.task) and not self.strikes(record.name, is_client=False)

    def forget(self) -> None:
        """Drop what is known of the tasks of a run that has ended."""
        self._idle.clear()
        self._sites.clear()

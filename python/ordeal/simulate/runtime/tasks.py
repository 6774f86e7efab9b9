"""Tasks of a simulated run: their names in labels, and where which of them is cancelled."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Generator, Sequence
from types import BuiltinMethodType, CodeType, MethodType, SimpleNamespace
from typing import Any

import ordeal._native as _native
from ordeal._base.limits import VALUE_CHARS_MAX
from ordeal.simulate.nodes.life import Life
from ordeal.simulate.runtime.decisions import CANCEL, DecisionSource, name_key, name_of
from ordeal.simulate.runtime.faults import CLIENTS, Cancel, SimulatedFault
from ordeal.simulate.runtime.sites import CodeSite, frames_of, is_program, locals_of, refers_to, site_of

#: The callback by which ``asyncio.shield`` watches a task.
_SHIELD = {code.co_name: code for code in asyncio.shield.__code__.co_consts if isinstance(code, CodeType)}.get(
    "_inner_done_callback"
)


class TaskRecord(_native.TaskState):
    """What the loop knows of a task: where a fault cancelled it, and what is read at each of its steps."""

    __slots__ = ()
    life: Life | None
    struck_at: CodeSite | None
    owned: list[asyncio.Future[Any]] | None
    """The futures that were cancelled with the task."""
    met: asyncio.Future[Any] | None
    """The cancelled future for which it waited before its present step."""

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
        """Whether a report may need it: it runs, was struck, or ended with an unhandled error."""
        if not self.task.done() or self.struck_at is not None or self.owned:
            return True
        return not self.task.cancelling() if self.task.cancelled() else bool(self.task._log_traceback)

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

    def cancel(self, msg: Any = None) -> bool:
        """Cancel the task, and note which futures are cancelled with it."""
        loop: Any = self.get_loop()
        return loop.interruptions.cancelling(self, super().cancel, msg)  # type: ignore[no-any-return]

    # These note who meets a task that is cancelled already.

    def __await__(self) -> Generator[None, None, Any]:
        """Wait for the task."""
        note_met(self)
        return super().__await__()

    def result(self) -> Any:
        """Return what the task returned, or raise its error."""
        note_met(self)
        return super().result()

    def exception(self) -> BaseException | None:
        """Return the error of the task, if it ended with one."""
        note_met(self)
        return super().exception()

    def set_name(self, value: object) -> None:
        """Set the name of the task, and tell the loop."""
        super().set_name(value)
        loop: Any = self.get_loop()
        loop.renamed(self, str(value))


def is_shielded(task: asyncio.Task[Any]) -> bool:
    """Return True if the task is protected by ``asyncio.shield`` from the cancellation of its waiters."""
    callbacks: Any = getattr(task, "_callbacks", None)
    return bool(callbacks) and any(getattr(each[0], "__code__", None) is _SHIELD for each in callbacks)


def base_name(coroutine: Any, given: str | None) -> str:
    """Return the name of a task as its decisions have it, without a number: its own, or that of its function."""
    name = _short(given or getattr(coroutine, "__qualname__", None) or type(coroutine).__name__)
    if not given and _has_digit(name) and (code := getattr(coroutine, "cr_code", None)) is not None:
        name = _short(code.co_qualname)  # the program may have given its function a name with a counter
    return name


@functools.lru_cache(maxsize=4096)
def _short(name: str) -> str:
    return name.rpartition("<locals>.")[2][:VALUE_CHARS_MAX]


@functools.lru_cache(maxsize=4096)
def _has_digit(name: str) -> bool:
    return any(map(str.isdigit, name))


def _step_type() -> type:
    """Return the type of the callback that a task gives its loop, which has no public name."""
    seen: list[Any] = []
    loop: Any = SimpleNamespace(get_debug=lambda: False, call_soon=lambda callback, **_: seen.append(callback))
    coroutine = asyncio.sleep(0)
    task: Any = asyncio.Task(coroutine, loop=loop)
    coroutine.close()
    task._log_destroy_pending = False
    return type(seen[0])


#: The type of the callback that runs the first step of a task.
STEP_TYPE = _step_type()


def stepped_task(callback: Any) -> asyncio.Task[Any] | None:
    """Return the task whose step a callback of the loop runs; None if it does something else."""
    kind = type(callback)
    if kind is STEP_TYPE:
        return callback.__self__  # type: ignore[no-any-return]
    if kind is BuiltinMethodType and callback.__name__ == "task_wakeup":
        return callback.__self__  # type: ignore[no-any-return]
    if kind is MethodType and callback.__func__.__name__ in ("__step", "__wakeup"):
        owner = callback.__self__
        return owner if isinstance(owner, asyncio.Task) else None
    return None


def is_cancellation(future: Any) -> bool:
    """Return True if a future that is done raises CancelledError: it was cancelled, or gathers what was."""
    return future.cancelled() or isinstance(getattr(future, "_exception", None), asyncio.CancelledError)


def note_met(future: Any) -> None:
    """Note that the present task asks for a future that is cancelled already."""
    if future.done() and is_cancellation(future):
        loop: Any = future.get_loop()
        present = asyncio.current_task(loop)
        if present is not None and isinstance(present, SimulationTask):
            loop.record_of(present).met = future


class Gathering(asyncio.tasks._GatheringFuture):  # type: ignore[name-defined, misc]
    """What ``asyncio.gather`` returns."""

    def __await__(self) -> Generator[None, None, Any]:
        """Wait for all; note who asks for what was cancelled before."""
        note_met(self)
        return super().__await__()  # type: ignore[no-any-return]


#: Where a task is cancelled, as values of a decision. The first takes half of the draws.
IN_WINDOW, WHILE_WAITING, WHEN_IDLE = 1, 2, 3
_AIMS = 4
START = "before its first step"
_START = CodeSite(START, "its start")


class Interruptions:
    """The cancellations of one run, and where tasks waited."""

    def __init__(
        self,
        schedule: DecisionSource,
        faults: Sequence[SimulatedFault],
        loop: Any,
    ) -> None:
        self._schedule = schedule
        self._loop = loop
        self._canceller: TaskRecord | None = None
        self._cancels = [fault for fault in faults if isinstance(fault, Cancel)]
        self._idle: list[tuple[TaskRecord, int]] = []
        self._sites: dict[TaskRecord, CodeSite] = {}
        self.waited: dict[str, int] = {}
        """How often tasks that may be cancelled waited at each site."""
        self.struck: dict[str, int] = {}
        """How many of them were cancelled there."""

    def strikes(self, name: str, is_client: bool) -> bool:
        """Return True if a task with this name may be cancelled."""
        return bool(self._cancels) and any(fault.strikes(name, is_client=is_client) for fault in self._cancels)

    def strikes_private(self) -> bool:
        """Return True if private tasks of the test are struck like all others."""
        return any(fault.private for fault in self._cancels) or all(fault.tasks != CLIENTS for fault in self._cancels)

    def aim_at_start(self, record: TaskRecord) -> None:
        """Decide whether a new task is cancelled before its first step."""
        if record.is_private and self._is_spared(record):
            record.may_be_cancelled = False
        else:
            self._decide(record, _START, IN_WINDOW + 1)

    def aim(self, record: TaskRecord) -> None:
        """Decide whether a task that was just suspended is cancelled during this wait, and when."""
        # A task is struck twice: again while it cleans up.
        if record.strikes == 2 or self._is_spared(record):
            record.may_be_cancelled = False
            return
        if record.task.cancelling() > record.strikes:
            return  # the program cancels it
        aim = self._decide(record, record.site(), _AIMS)
        if aim == WHILE_WAITING:
            self._loop.call_soon(self._strike_waiting, record, record.waits)
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
        if not record.is_living or task.done() or task.cancelling() > record.strikes or self._is_spared(record):
            return False
        site, before = self._sites[record], record.struck_at
        record.struck_at = site  # it is the first that reaches what is cancelled with it
        record.strikes += 1
        if not task.cancel():
            record.struck_at, record.strikes = before, record.strikes - 1
            return False
        self.struck[site.name] = self.struck.get(site.name, 0) + 1
        if self._loop.log is not None:
            where = [site.where] if site is not _START else []
            self._loop.note_cause("cancel", "", *where, of=(name_of(record.key), site.name))
            what = f"is cancelled{' again' if before is not None else ''} by the fault cancel"
            at = START if site is _START else f"at `{site.name}`"
            self._loop.log(self._loop.now, record.name, f"{what} {at}")
        return True

    def cancelling(self, task: SimulationTask, cancel: Callable[[Any], bool], message: Any) -> bool:
        """Cancel a task by ``cancel(message)``; what is cancelled in that call is cancelled with it."""
        outer = self._canceller
        owner = outer or task.record
        if owner is not None:
            waited: asyncio.Future[Any] | None = getattr(task, "_fut_waiter", None)
            with_it = [*([task] if outer is not None else []), *([] if waited is None else [waited])]
            owner.owned = [*(owner.owned or []), *with_it]
        self._loop._has_cancelled = True
        self._canceller = owner
        try:
            return cancel(message)
        finally:
            self._canceller = outer

    def meet(self, record: TaskRecord) -> None:
        """Note for which cancelled future a task waited that goes on now."""
        future: Any = getattr(record.task, "_fut_waiter", None)
        record.met = future if future is not None and is_cancellation(future) else None

    def _is_spared(self, record: TaskRecord) -> bool:
        """Return True if a task is shielded or private, and no fault names it: what waits for it cannot cancel it."""
        if record.is_private:
            # If the test itself refers to it, the test could cancel it.
            main: asyncio.Task[Any] | None = self._loop._main
            frames = [] if main is None else [each for each in frames_of(main.get_coro()) if is_program(each.f_code)]
            known = [value for frame in frames[:1] for value in locals_of(frame).values()]
            record.is_private = not any(refers_to(value, record.task) for value in known)
        if not (record.is_private or is_shielded(record.task)):
            return False
        return not self.strikes(record.name, is_client=False)

    def forget(self) -> None:
        """Drop what is known of the tasks of a run that has ended."""
        self._idle.clear()
        self._sites.clear()

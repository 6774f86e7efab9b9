"""The event loop of a simulated run: stock tasks and futures, time that is skipped, and an order that asyncio allows.

Each turn is one of asyncio: the timers that are due come after what is ready, and then exactly the callbacks that were
ready are run. ``call_soon`` is first in, first out. What asyncio leaves open is decided by the schedule of the
run: the order of timers with one deadline, how long a step takes, when the result of an executor arrives, and which
task is cancelled where.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import math
import sys
import weakref
from asyncio import events, format_helpers
from asyncio.timeouts import Timeout
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator, Iterable
from types import CodeType, CoroutineType
from typing import Any

import ordeal._native as _native
from ordeal.simulate.errors import (
    BlockedLoop,
    Deadlock,
    EscapedSimulation,
    LeakedTask,
    Livelock,
    OrphanedWait,
    SimulationFailure,
)
from ordeal.simulate.network.network_loop import NetworkLoop
from ordeal.simulate.nodes.life import LIFE, NOWHERE, Life, bury, bury_all, life_of
from ordeal.simulate.runtime.decisions import ORDER, STALL, DecisionSource, name_key
from ordeal.simulate.runtime.faults import Cancel, SimulatedFault, packet_latencies, stall_lengths
from ordeal.simulate.runtime.long_waits import LongWaits
from ordeal.simulate.runtime.sites import (
    calling_site,
    is_made_by_library,
    is_made_by_target,
    running_test,
    stack_of,
    traceback_to,
)
from ordeal.simulate.runtime.system_loop import LOOP_ACTOR
from ordeal.simulate.runtime.tasks import STEP_TYPE, Interruptions, SimulationTask, TaskRecord, base_name, stepped_task
from ordeal.simulate.runtime.waits import orphaned, wait_lines, waits_for_tasks

_WAKE = asyncio.futures._set_result_unless_cancelled  # type: ignore[attr-defined]


async def all_ended(tasks: list[asyncio.Task[Any]]) -> None:
    """Wait until tasks have ended, however they do."""
    await asyncio.gather(*tasks, return_exceptions=True)


def ignore(_loop: asyncio.AbstractEventLoop, _context: dict[str, Any]) -> None:
    """Handle errors that are of no interest any more."""


#: How many steps may pass while the time stands still.
STILL_STEPS_MAX = 100_000
#: How many steps, and how much simulated time, a run may take by default.
STEPS_MAX = 2_000_000
TIME_LIMIT_S = 86_400.0
#: How long a task may block the loop with ``time.sleep``.
BLOCKED_S_MAX = 0.05
_CREEP_S = 1e-6
#: Deadlines that differ by less fall due together, and their order is open.
_TIE_S = 1e-9
#: By how much what arrives a turn of the loop before a time-out is earlier: more than what falls due together.
TURN_S = 2 * _TIE_S
#: After this simulated time a run checks if its test waits for something that no other code can reach.
_ORPHANS_AFTER_S = 3_600.0
#: How many tasks are remembered at least, after they have ended.
_RECORDS_MIN = 256

#: The site of the decision which of several timers fires first.
TIMERS = "timers with one deadline"
_TIMER_SITE = name_key(TIMERS)
_STEP_SITE = name_key("step")
_native.set_task_types(SimulationTask, TaskRecord)
_native.set_loop_facts(
    handle_type=events.Handle,
    timer_type=events.TimerHandle,
    current_task=asyncio.current_task,
    heap_push=heapq.heappush,
    heap_pop=heapq.heappop,
    loop_actor=name_key(LOOP_ACTOR),
    nowhere=NOWHERE,
    step_type=STEP_TYPE,
    stepped_task=stepped_task,
    life=LIFE,
    life_of=life_of,
    name_key=name_key,
    base_name=base_name,
    stall=STALL,
    step_site=_STEP_SITE,
    order=ORDER,
    timer_site=_TIMER_SITE,
    still_steps_max=STILL_STEPS_MAX,
    steps_max=STEPS_MAX,
    tie_s=_TIE_S,
    creep_s=_CREEP_S,
)

type Timer = tuple[float, int, events.Handle, int]


class SimulationLoop(_native.ReadyQueue, NetworkLoop):  # type: ignore[misc]
    """An event loop that runs in simulated time, under the decisions of a schedule."""

    # How each loop begins; every run makes one.
    blocked: BlockedLoop | None = None
    operations: Collection[asyncio.Task[Any]] = ()
    """The tasks whose end is waited for where none of them is the main one."""
    _test: CodeType | None = None
    long_waits: LongWaits | None
    """Watches what time-outs end in the calm phase, if anything does."""

    def __init__(
        self,
        schedule: DecisionSource,
        *,
        faults: Iterable[SimulatedFault] = (),
        allowed: Iterable[str] = (),
        time_limit: float = TIME_LIMIT_S,
        log: Callable[[float, str, str], object] | None = None,
    ) -> None:
        """Calls ``log(time, who, what)`` for everything that happens, if given."""
        super().__init__()
        faults = tuple(faults)
        self.schedule = schedule
        self._foreign = list[TaskRecord]()
        self._records_max = _RECORDS_MIN if log is None else sys.maxsize
        self.interruptions = Interruptions(schedule, faults, self)
        self._has_cancels = any(isinstance(fault, Cancel) for fault in faults)
        self._stalls, self.packet_latencies = stall_lengths(faults), packet_latencies(faults)
        self._stall_bound = len(self._stalls) + 3
        self._allowed = frozenset(allowed)
        self._time_limit = self._ends_at = time_limit
        self._asks_orphans_at = min(_ORPHANS_AFTER_S, time_limit)
        self.log = log
        self._origins: dict[int, tuple[asyncio.Handle, str, str]] = {}
        self._last_step = ""
        self._timers: list[Timer] = []
        self._generators: dict[int, weakref.ref[AsyncGenerator[Any, Any]]] = {}

    # Callbacks and timers

    # A job of an executor runs at a time that is drawn, and so do its calls.
    call_soon_threadsafe = _native.ReadyQueue.call_soon  # type: ignore[assignment]

    # These are called with arguments by name, or with too few of them.

    def _call_soon(
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> events.Handle:
        return self.call_soon(callback, *args, context=context)

    def _call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> events.TimerHandle:
        return self.call_later(delay, callback, *args, context=context)

    def _call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> events.TimerHandle:
        return self.call_at(when, callback, *args, context=context)

    @property
    def _ready(self) -> bool:
        """Whether a callback is ready: what CPython's own tests ask a loop for, by the name that asyncio's has."""
        return self._is_ready

    def _timer_handle_cancelled(self, handle: events.TimerHandle) -> None:
        """Called by a timer that is cancelled; it is dropped when it would be due."""

    # Tasks and futures

    def create_future(self) -> asyncio.Future[Any]:
        """Return a stock future."""
        return asyncio.Future(loop=self)

    def _create_task(
        self,
        coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        *,
        name: object = None,
        context: contextvars.Context | None = None,
        **options: Any,
    ) -> asyncio.Task[Any]:
        """Start an unusual task: by a factory, in a separate context, or eagerly."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        if self._task_factory is not None:
            options = options if context is None else {"context": context, **options}
            task = self._task_factory(self, coro, **options)
            if name is not None:
                task.set_name(name)
        else:
            self._tasks_made += 1
            number = self._tasks_made
            shown = f"Task-{number}" if name is None else str(name)
            task = SimulationTask.begun(coro, number, loop=self, name=shown, context=context, **options)  # type: ignore[arg-type]
        if not task.done():
            given = None if name is None else str(name)
            if options or self._task_factory is not None:
                self.record_of(task, given)
            else:
                self._new_record(task, given)
        return task  # type: ignore[no-any-return]

    def record_of(self, task: asyncio.Task[Any], name: str | None = None) -> TaskRecord:
        """Return what is known of a task; ``name`` is the one that it was given, if any."""
        known = (
            task.record
            if isinstance(task, SimulationTask)
            else next((record for record in self._foreign if record.task is task), None)
        )
        if known is not None:
            return known
        record: TaskRecord = self._new_record(task, name)
        if not isinstance(task, SimulationTask):
            self._foreign.append(record)
        return record

    def _may_be_struck(self, coroutine: Any, name: str, is_client: bool) -> tuple[bool, bool]:
        """Return True if a new task is private to what has made it, and whether a fault may cancel it."""
        if is_client and not self.interruptions.strikes_private():
            is_client = not is_made_by_library(coroutine)
            self._test = self._test or running_test()
            is_private = is_client and is_made_by_target(coroutine, self._test)
        else:
            is_private = False
        return is_private, self.interruptions.strikes(name, is_client)

    def _forget_ended(self) -> None:
        """Drop what is known of tasks that ended without anything to tell: a run may make any number of them."""
        for record in self.records:
            if not record.is_worth_telling:
                record.part()
        self.records = [record for record in self.records if record.is_worth_telling]
        self._foreign = [record for record in self._foreign if record.is_worth_telling]
        self._records_max = max(2 * len(self.records), _RECORDS_MIN)

    def renamed(self, task: SimulationTask, given: str) -> None:
        """Take over the name that asyncio gives to a task right after it was made, in Python 3.12."""
        record = task.record
        if record is None or record.waits or task is self._main:
            return
        given = given if record.life is None else f"{record.life.name}/{given}"
        if any(char.isdigit() for char in given):  # it may have a counter of the program in it
            record.name = given
        else:
            self._names[record.name.rpartition("#")[0]] -= 1
            number = self._names.get(given, 0)
            self._names[given] = number + 1
            record.rename(f"{given}#{number}" if number else given)
        is_client = record.life is None and asyncio.current_task(self) is self._main
        record.may_be_cancelled = self.interruptions.strikes(record.name, is_client)

    # Decisions

    def running_name(self) -> str:
        """Return the name of the running task, or that it is the loop."""
        task = asyncio.current_task(self)
        return LOOP_ACTOR if task is None else self.record_of(task).name

    def allows(self, what: str) -> bool:
        """Return True if the run may do what a simulation rules out, such as ``"time.sleep"``."""
        return what in self._allowed

    def sleep_through(self, seconds: float) -> None:
        """Let ``seconds`` pass because the program called ``time.sleep``."""
        if self._job_s is not None:
            self._job_s += seconds
            return
        if seconds > BLOCKED_S_MAX and self.blocked is None and not self.allows("time.sleep"):
            task = asyncio.current_task(self)
            who = "a callback" if task is None else self.record_of(task).name
            where = calling_site()
            self.blocked = BlockedLoop(
                f"{who} blocks the loop for {seconds:g} s with time.sleep at {where.where}: {where.name}\n"
                'hint: write `await asyncio.sleep(...)`, or let the run go on with `allow=["time.sleep"]`',
                site=where.name,
            )
        self._move(self._now + seconds)

    # Turns

    def run_forever(self) -> None:
        """Run turns until ``stop`` is called."""
        self._as_running(self._run_turns)

    def run_while(self, condition: Callable[[], bool], *, is_idle_allowed: bool = False) -> None:
        """Run callbacks as long as ``condition()`` is true, asked before each; ends when idle, if that is allowed."""

        def go_on() -> None:
            while condition() and not (is_idle_allowed and not self._is_ready and not self._timers):
                self._begin_turn()
                self._run_next()

        self._as_running(go_on)

    def _as_running(self, go_on: Callable[[], object]) -> None:
        if self._running or events._get_running_loop() is not None:
            raise RuntimeError("Cannot run the event loop while another loop is running")
        hooks = sys.get_asyncgen_hooks()
        self._running = True
        events._set_running_loop(self)
        sys.set_asyncgen_hooks(self._generator_begins, self._generator_is_lost)
        try:
            go_on()
        finally:
            self._stopping = self._running = False
            events._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)

    def run_until_complete(self, future: Any) -> Any:
        """Run until a coroutine or future is done; return its result, or raise its error."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        is_coroutine = type(future) is CoroutineType  # the usual case
        is_new = is_coroutine or not asyncio.isfuture(future)
        awaited: Any = self.create_task(future) if is_coroutine else asyncio.ensure_future(future, loop=self)
        awaited.add_done_callback(self._stop_when_done)
        try:
            self.run_forever()
        except BaseException:
            if is_new and awaited.done() and not awaited.cancelled():
                awaited.exception()  # it is not to be reported a second time
            raise
        finally:
            awaited.remove_done_callback(self._stop_when_done)
        if not awaited.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return awaited.result()

    def _log_step(self, record: TaskRecord) -> None:
        assert self.log is not None
        places = stack_of(record.task.get_coro())
        self._last_step = places.partition("` from `")[0]
        self.log(self._now, record.name, f"{'goes on at' if record.waits else 'begins'} `{places}`")

    def _log_timer(self, handle: asyncio.TimerHandle) -> None:
        """Note who sets a timer, and where."""
        self.name_timer(handle, f"the timer of {self.running_name()} at {calling_site().where}", "fires")

    def name_timer(self, handle: asyncio.TimerHandle, who: str, what: str) -> None:
        """Say what the log calls a timer, and what it calls that it fires."""
        if self.log is not None:
            self._origins[id(handle)] = handle, who, what

    def origin_of(self, handle: Any) -> str:
        """Return which timer it is, for people."""
        known = self._origins.get(id(handle))
        return "a timer" if known is None else known[1]

    def _log_callback(self, handle: asyncio.Handle) -> None:
        """Note that a timer fires that does more than to wake a task."""
        known = self._origins.get(id(handle))
        if known is not None and handle._callback is not _WAKE:  # type: ignore[attr-defined]
            assert self.log is not None
            self.log(self._now, *known[1:])

    def _log_order(self, first: asyncio.Handle, other: asyncio.Handle) -> None:
        """Note which of two timers with one deadline fires first, though it was set later."""
        self.note_cause("order", f"{self.origin_of(first)} comes before {self.origin_of(other)}: both are due now")

    def _callback_failed(self, handle: events.Handle, error: BaseException) -> None:
        """Report what a callback raised, as asyncio's handles do."""
        called: Any = handle
        what = format_helpers._format_callback_source(called._callback, called._args)
        context = {"message": f"Exception in callback {what}", "exception": error, "handle": handle}
        if called._source_traceback:
            context["source_traceback"] = called._source_traceback
        self.call_exception_handler(context)

    def _stall(self, length: int, life: Life | None) -> None:
        """Let a step take time: until a timer is due with 1 and the last, otherwise a length. In a node, only there.

        With 1 that is the next timer, and with the last the next time-out: what answers before falls into its turn.
        """
        timer = self._timers[0]
        if length == self._stall_bound - 1:
            timer = self._time_out(self._stalls[-1]) or timer
        self.note_cause("stall", self.origin_of(timer[2]), f"after `{self._last_step}`")
        if 1 < length < self._stall_bound - 1:
            until = self._now + self._stalls[length - 2]
        elif self._now < timer[0] <= self._now + self._stalls[-1]:
            until = timer[0]
        else:
            return
        if life is None:
            self._move(until)
        else:
            life.hold_until(until)

    def _time_out(self, within: float) -> Timer | None:
        """Return the next timer that ends a wait, if it is due ``within`` this number of seconds."""
        last = self._now + within
        due = (each for each in self._timers if self._now < each[0] <= last and not each[2].cancelled())
        owners = ((getattr(each[2]._callback, "__self__", None), each) for each in due)  # type: ignore[attr-defined]
        return min((each for owner, each in owners if type(owner) is Timeout), default=None)

    def arrival_s(self, latencies: tuple[float, ...], taken: int) -> float:
        """Return how long a packet or result takes by the decision: further values are until the next time-out."""
        if taken < len(latencies):
            return latencies[taken]
        timer = self._time_out(latencies[-1])
        # They fall due together, and what arrives comes first unless another decision says otherwise.
        return latencies[0] if timer is None else timer[0] - self._now - _TIE_S / 2

    def packet(self, taken: int, arrive: Callable[[], None]) -> tuple[float, Callable[[], None]]:
        """Return when a packet arrives by the decision, and what happens then."""
        latencies = self.packet_latencies
        due = self._now + self.arrival_s(latencies, taken)
        if taken <= len(latencies):
            return due, arrive

        def arrive_until() -> None:
            arrive()
            self._move(max(self._now, due))

        # A turn before the time-out: who waits for the packet is woken when that comes.
        return due - TURN_S, arrive_until

    def _pass_time(self) -> None:
        """Skip to the next timer where that is not as usual, or say why the run ends here. None is cancelled."""
        timers = self._timers
        if not timers and self.is_ending:
            raise self._stuck(LeakedTask, "tasks were cancelled at the end of the run, and go on waiting")
        if not timers:
            count = sum(record.is_waiting for record in self.records)
            tasks, whom = ("1 task waits", "it") if count == 1 else (f"{count} tasks wait", "them")
            raise self._stuck(Deadlock, f"at {self._now:.3f} s {tasks}, and nothing can wake {whom}")
        if timers[0][0] > self._asks_orphans_at:
            self._asks_orphans_at = math.inf
            main: asyncio.Task[Any] | None = self._main
            tasks_of_test = self.operations if main is None else [main]
            # Anything else that knows an operation does not run before it has ended.
            failure = None if self.is_ending else self.orphaned_wait(tasks_of_test, is_end=main is None)
            if failure is not None:
                raise failure
        if timers[0][0] > self._ends_at:
            raise self._stuck(Livelock, f"the run is not over at {self._time_limit:g} s of simulated time")
        due = max(timers[0][0], self._now)
        if due - self._now > _CREEP_S:
            self._still_passes = 0
        # A real clock goes on while a program sets timers for now again and again, as rounding can have it do: after
        # a hundred of them, each takes ``_CREEP_S``.
        elif self._still_passes < 100:
            self._still_passes += 1
        else:
            due = self._now + _CREEP_S
        self._move(due)

    def _move(self, now: float) -> None:
        self._now = now
        self._moved_at_step = self.steps
        self.schedule.event(int(now * 1e9))  # in nanoseconds

    def _livelock(self) -> Exception:
        if self.steps > STEPS_MAX:
            return self._stuck(Livelock, f"the run is not over after {self.steps:,} steps")
        return self._stuck(Livelock, f"{STILL_STEPS_MAX:,} steps at {self._now:.3f} s, and no time passes")

    def orphaned_wait(self, tasks: Collection[asyncio.Task[Any]], *, is_end: bool) -> OrphanedWait | None:
        """Return the failure if one of these tasks waits for something that no other code can reach.

        ``is_end`` says that no task will be cancelled any more.
        """
        found = orphaned([record for record in self.records if record.is_waiting], is_end=is_end)
        if not any(record.task in tasks for record in found):
            return None
        first = next((record for record in found if not waits_for_tasks(record.task)), found[0])
        why = "only tasks that wait themselves lead to what it waits for"
        failure = self._stuck(OrphanedWait, f"at {self._now:.3f} s nobody can wake {first.name}: {why}", first)
        assert isinstance(failure, OrphanedWait)
        return failure

    def _stuck(self, kind: type[SimulationFailure], what: str, first: TaskRecord | None = None) -> SimulationFailure:
        first = first or next((record for record in self.records if record.is_waiting), None)
        site = "" if first is None else first.site().name
        failure = kind("\n".join([what, *self.wait_lines()]), site=site)
        if first is not None:
            failure.waiting_at = traceback_to(first.task.get_coro())
        return failure

    def wait_lines(self) -> list[str]:
        """Return lines on which task waits for what, and on the state of the nodes."""
        state = [] if self.world is None else self.world.state_lines()
        return [*wait_lines([record for record in self.records if record.is_living]), *state]

    def fail_with(self, task: asyncio.Task[Any]) -> None:
        """End the run if a task ended with an error, as that of a node may not."""
        if not task.cancelled() and task.exception() is not None and not self.is_ending:
            self.broken = self.broken or task.exception()

    def begin_main(self, *, has_main: bool = True) -> None:
        """Make the next task the main one, whose children are the clients; forget the tasks that have ended.

        Without a main one, the tasks that no other has made are the clients.
        """
        self._main, self._has_main = None, has_main
        self.records = [record for record in self.records if not record.task.done()]
        self._foreign = [record for record in self._foreign if not record.task.done()]
        self.steps = self._moved_at_step = 0
        self._ends_at = self._now + self._time_limit
        self._asks_orphans_at = self._now + min(_ORPHANS_AFTER_S, self._time_limit)

    def be_quiet(self) -> None:
        """Disturb nothing any more."""
        self._is_quiet = True

    # The end of a run

    def shut_down(self) -> None:
        """Cancel the tasks that are left, as ``asyncio.run`` does, and wait for them. Disturbs nothing.

        What they raise while they clean up is reported to the exception handler, as ``asyncio.run`` reports it. A task
        that was cancelled before is left to clean up for some time: to be cancelled during that is not a bug.

        Raises:
            LeakedTask: a task goes on waiting.
        """
        self._is_quiet = self.is_ending = True
        left = self._end_world()
        if not left and not self._generators:
            self.drop_connections()
            return
        fresh = [task for task in left if not task.cancelling()]
        for task in fresh:
            task.cancel()
        # A task that is being cancelled already may clean up for ten simulated seconds.
        limit = self._now + 10.0
        self.run_while(lambda: self._now < limit and not all(task.done() for task in left), is_idle_allowed=True)
        for task in left:
            if not task.done() and task not in fresh:
                task.cancel()
        if not all(task.done() for task in left):
            self.run_until_complete(all_ended(left))
        for task in fresh:
            error = None if task.cancelled() else task.exception()
            if error is not None:
                message = "error of a task that was cancelled because the test had ended"
                self.call_exception_handler({"message": message, "exception": error, "task": task})
        if self._generators:
            self.run_until_complete(self.shutdown_asyncgens())
        self.drop_connections()

    def abandon(self) -> None:
        """End what is left of a failed run: what it does is of no interest any more."""
        self._is_quiet = self.is_ending = True
        self.escaped = self.stalled = self.broken = None
        self._moved_at_step = self.steps
        self._exception_handler = ignore
        left = self._end_world()
        for task in left:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            task.cancel()
        with_limit = self.create_task(all_ended(left), name="the end")
        limit = self.steps + 10_000
        with_limit.add_done_callback(self._stop_when_done)
        self._running = True
        events._set_running_loop(self)
        try:
            while not self._stopping and self.steps < limit and (self._is_ready or self._timers):
                self._turn()
        except (SimulationFailure, EscapedSimulation):
            pass
        finally:
            self._running = self._stopping = False
            events._set_running_loop(None)
            bury(with_limit)
        self.drop_connections()
        # asyncio reports none of the tasks that failed or did not end.
        for record in self.records:
            record.task._log_destroy_pending = False
            if record.task.done() and not record.task.cancelled():
                record.task.exception()

    def _end_world(self) -> list[asyncio.Task[Any]]:
        """End all nodes, as by a loss of power, and return the tasks that are left."""
        if self.world is not None:
            self.world.end()
        return self._waiting_tasks()

    async def shutdown_asyncgens(self) -> None:
        """Close the asynchronous generators that were begun and not ended."""
        generators = [reference() for reference in self._generators.values()]
        self._generators.clear()
        for generator in generators:
            if generator is not None:
                await generator.aclose()

    def _generator_begins(self, generator: AsyncGenerator[Any, Any]) -> None:
        if self.world is None or LIFE.get() is None:
            self._generators[id(generator)] = weakref.ref(generator)

    def _generator_is_lost(self, generator: AsyncGenerator[Any, Any]) -> None:
        self._generators.pop(id(generator), None)
        if not self._closed:
            self.call_soon(self.create_task, generator.aclose())

    def close(self) -> None:
        """Drop everything that is still scheduled, and all that is known of the tasks."""
        if self._running:
            raise RuntimeError("Cannot close a running event loop")
        # What a coroutine does at its end asks a loop that is still open, and comes to nothing.
        bury_all(lambda: [record.task for record in self.records])
        for record in self.records:
            if record.life is not None:
                record.life.forget()
        self._part_all()
        self._closed = True
        self._drop_ready()
        self._timers.clear()
        self.records.clear()
        self._foreign.clear()
        self.interruptions.forget()
        self._origins.clear()
        self._main = None

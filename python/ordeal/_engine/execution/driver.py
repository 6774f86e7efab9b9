"""Runs a machine according to a step source: in Python, the reference implementation, or in the step loop in C++."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum
from os import getpid
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import msgspec
from hypothesis.errors import FailedHealthCheck, InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base import interrupts
from ordeal._base.outside import OutsideMode, outside
from ordeal._base.rule_timeout import RuleLoop, RuleTimeoutError, timeout_error
from ordeal._base.untrusted import ExitRefused, readable, traceback_of
from ordeal._engine.execution import bucket
from ordeal._engine.execution.bucket import user_frames
from ordeal._engine.execution.kept_names import keeping, lent
from ordeal._engine.execution.recorder import Observer
from ordeal._engine.isolation.child import leave
from ordeal._engine.isolation.hangs import SECONDS_MIN, HangPolicy
from ordeal._engine.isolation.watchdog import OutOfTime, Watchdog
from ordeal._hypothesis.build_context import in_test
from ordeal._hypothesis.bundles import add_to_bundles, resolve
from ordeal._hypothesis.definition_checks import forgotten_constructor, is_constructed, precondition_error
from ordeal._hypothesis.internals import REJECTED, end_run_after, failure_types, settings_of, skip_types
from ordeal._hypothesis.machines import (
    Invariant,
    MachineDefinition,
    Rule,
    holds,
    initialized,
    is_initializing,
    may_initialize,
    may_run,
    routes_results,
)
from ordeal._hypothesis.markers import SAMPLED_MARKER
from ordeal._hypothesis.run_context import LENGTH_MAX, RunContext
from ordeal._hypothesis.step_loop import make_loop
from ordeal._native import (
    Replay,
    Session,
    StateNumbers,
    end_alarms,
    end_names_of_run,
    lend_frames,
    monotonic,
    return_frames,
)
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.chaos import ChaosTest, has_tasks, interleaving_of, overrides
from ordeal.errors import MachineError, OrdealError
from ordeal.faults import Fault
from ordeal.faults.fault import switch_of

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import ChoiceSource
    from ordeal._native import Journal, StepLoop


def unpacked(code: int) -> tuple[int, int]:
    """Return the kind of a packed step, and the number of its rule, its initialize rule or its fault."""
    return code & 7, code >> 3


class StepSource(Protocol):
    """Where steps come from: a session that invents them, or a replay that reads them. See ``_native.pyi``."""

    @property
    def source(self) -> ChoiceSource:
        """Return the source of the current step's arguments."""

    def next(self) -> int:
        """Return the next step, packed: kind in the low three bits, index above."""

    def reject(self) -> None:
        """Note that the rule of the last step cannot run now."""


class TimedReplay:
    """A replay that ends between steps when time is up; within a step, the watchdog ends it."""

    def __init__(self, replay: Replay, deadline: float) -> None:
        self.replay = replay
        self.deadline = deadline
        self.source = replay.source
        self.reject = replay.reject
        self._next = replay.next

    def next(self) -> int:
        """Return the next step of the replay; raises OutOfTime when the time is up."""
        if monotonic() >= self.deadline:
            raise OutOfTime
        return self._next()


#: The step sources that the step loop can follow.
NATIVE_STEP_SOURCES = (Session, Replay, TimedReplay)


def writer_of(step_source: StepSource) -> Session | Replay | None:
    """Return the object that writes the choices of ``step_source`` to a tape, and so to a journal."""
    followed = step_source.replay if type(step_source) is TimedReplay else step_source
    # These types have no subclasses, and isinstance() would take several times as long.
    return followed if type(followed) is Session or type(followed) is Replay else None


RULE, INITIALIZE, FAULT_ON, FAULT_OFF, END, STUCK = range(6)
BODY = 0
#: How many calls of Python a run may nest, however deep its caller is. With these, a rule may nest 1998 more, as many
#: as where Hypothesis runs the machine.
FRAMES = 2002
_NOTHING_NEARER: dict[str, None] = {}
_UNGUARDED = nullcontext()


class RunListener:
    """Notified of every step that ended well; only a live run has one.

    The step loop reports steps to the session itself, and to the listener only those that were new. In runs with
    ``learns_each_step``, and while ``nearer`` is not empty, it leaves both to ``step_done``, except for steps of a
    prefix: of these, it only says when they are over.
    """

    @property
    def learns_each_step(self) -> bool:
        """Return True if every new step of this run must be reported here."""
        return True

    @property
    def nearer(self) -> dict[str, None]:
        """The properties that came nearer and were not handled yet; always the same object."""
        return _NOTHING_NEARER

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """Called when the step ``code`` and its invariants have run."""

    def returned(self, run: RunContext) -> None:
        """Called when the last step of the prefix has run."""

    def new_features(self, run: RunContext) -> None:
        """Called when the latest step brought something new."""

    def run_done(self, run: RunContext) -> None:
        """Called when the run ended well, including its teardown."""


class Status(Enum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"


class Outcome(msgspec.Struct):
    """How a run ended and how far it got. ``steps`` counts the steps that began, in this process.

    ``stuck`` says why no rule could run any more in the state that was reached; it is empty when one could.
    ``broken_by`` names the rule after which an invariant failed; it is empty where something else failed, or where the
    invariant failed after the switch of a fault. ``overrun`` is whether a run was rejected as its arguments need more
    data than Hypothesis allows, and ``emptied`` whether it was as a bundle had no value.
    """

    status: Status
    steps: int
    error: BaseException | None = None
    stuck: str = ""
    broken_by: str = ""
    overrun: bool = False
    emptied: bool = False


class Driver:
    """Executes runs of one machine class. Not thread-safe: a run owns the process's faults and random generators.

    ``factory`` makes a fresh machine. ``faults`` are the faults of the class, in the order of their definition.
    ``buggify_prob`` is the probability that a point of buggify acts unless it has its own. With 0, points act only in
    replays, as recorded; with None, not even there.

    Attributes:
        in_cpp: whether the step loop in C++ runs what it can. Observers and subclasses see each step in Python.
        isolated: whether this process only executes runs and Ctrl-C does not reach it. Then everything that the code
            under test raises is its failure, even a KeyboardInterrupt.
        limits: how long the rules may take in replays, and what is known of their times.
        numbers: the numbers in the state of a machine, for runs of a session.
        journal: where the choices of each run are written as they are made, for another process to read.
        outside: what happens to failures outside of the frames of a step; see ``ordeal._base.outside``.
    """

    in_cpp = True
    isolated = False
    outside: OutsideMode = "fail"

    def __init__(
        self,
        definition: MachineDefinition,
        factory: Callable[[], RuleBasedStateMachine],
        faults: list[Fault],
        rule_timeout: float,
    ) -> None:
        self.definition = definition
        self.factory = factory
        self.faults = faults
        self.rule_timeout = rule_timeout
        self.buggify_prob: float | None = DEFAULT_PROBABILITY
        self.journal: Journal | None = None
        self.watchdog = Watchdog(rule_timeout, self._timed_out)
        self.watchdog.running = self._running
        self.limits = HangPolicy(rule_timeout)
        self._current_rule = ""
        self._loop = RuleLoop()
        self._sampled = tuple(
            msgspec.structs.replace(each, function=check)
            for each in definition.invariants
            if (check := getattr(each.function, SAMPLED_MARKER, None)) is not None
        )
        self._due_while_initializing = tuple(i for i in definition.invariants if i.check_during_init)
        self._has_tasks = has_tasks(definition.cls)
        self._hashes_state = issubclass(definition.cls, ChaosTest) and overrides(definition.cls, "state_hash")
        self._native: tuple[StepLoop, RunContext] | None = None
        self.numbers = StateNumbers()
        # One that runs already is a test's.
        self._ends_alarms = signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        if routes_results(definition.cls):
            self.in_cpp = False

    def execute(
        self,
        step_source: StepSource,
        *,
        restore: Callable[[RunContext], RuleBasedStateMachine] | None = None,
        listener: RunListener | None = None,
        observer: Observer | None = None,
    ) -> Outcome:
        """Run ``step_source`` to its end, inside ``watching``.

        ``restore`` makes the machine of a checkpoint instead of a fresh one. Failures are returned in the outcome.

        Raises:
            unittest.SkipTest: the code under test asks to be skipped (pytest's skip as well).
            OrdealError: a fault cannot be switched, or a hook of the machine is invalid. If the code under test raises
                one itself, that is a failure like any other, and so is an InvalidDefinition.
            KeyboardInterrupt: passed on, after the teardown of the machine.
            hypothesis.errors.InvalidDefinition: no rule can run in a state that was reached.
        """
        outcome, process = Outcome(Status.DONE, 0), getpid()
        outside.clear()
        outside.hook_asyncio()
        signals_before = interrupts.signal_count()
        if self.watchdog.ended is not None:
            self.watchdog.forget()  # the last failure may have been released too slowly
        plain = self.in_cpp and type(self) is Driver and observer is None
        if plain and isinstance(step_source, Session if listener is not None else NATIVE_STEP_SOURCES):
            run = self._renewed(step_source)
        else:
            run = RunContext(step_source.source, len(self.definition.argument_names) - 1, self.buggify_prob)
        run.follows = not isinstance(step_source, Session)
        run.draws_again = getattr(step_source, "draws_again", None)  # a replay has none
        writer = writer_of(step_source) if self.journal is not None else None
        if writer is not None:
            writer.journal = run.buggify.journal = self.journal
        try:
            try:
                with run:
                    frames = lend_frames(FRAMES)
                    # A separate process may end. This one goes on if only a copy of a machine would end it.
                    is_guarded = restore is not None and not self.isolated
                    try:
                        with ExitRefused() if is_guarded else _UNGUARDED:
                            if in_test is None:
                                self._run(run, step_source, restore, listener, observer, outcome)
                            else:
                                in_test(self._run, run, step_source, restore, listener, observer, outcome)
                    finally:
                        return_frames(frames)
                        if self._ends_alarms:
                            end_alarms()
                    self._loop.close()
                    outside.end_run()
                self.watchdog.armed = False
                if listener is not None:
                    listener.run_done(run)
                self.watchdog.armed = True
                run.machine = None  # its finalisers are part of the run
                outside.raise_failed()
            finally:
                self.watchdog.armed = False
        except (InvalidDefinition, OrdealError) as error:
            if not bucket.is_raised_by_program(error):
                raise
            outcome.status = Status.FAILED
            outcome.error = readable(error)
        except REJECTED + skip_types() as given_up:
            if outside.failed:
                # The step was given up after something had failed in it.
                outcome.status, outcome.error = Status.FAILED, readable(outside.failed[0])
            elif not isinstance(given_up, REJECTED):
                raise
            elif outcome.status is Status.DONE:
                outcome.status = Status.REJECTED
                outcome.overrun, outcome.emptied = run.has_overrun, run.has_emptied
        except failure_types() as error:
            outcome.status = Status.FAILED
            outcome.error = self._cause_in_time(readable(error))
        except OutOfTime:
            raise
        except BaseException as raised:
            known = readable(raised)
            if not self.isolated and interrupts.is_from_user(known, signals_before):
                raise
            outcome.status = Status.FAILED
            outcome.error = self._cause_in_time(known)
        finally:
            if getpid() != process:
                # The child of a fork of the program would search as well.
                leave(0)
            if self.watchdog.ended is not None:
                self.watchdog.forget()
            end_names_of_run()
            self._loop.close()
            outside.clear()
            for fault in self.faults:
                if fault.active:
                    with lent:
                        fault.deactivate()
                fault.leave_run()
            if type(writer) is Replay:
                writer.journal = None  # a session marks the end of its run itself
        return outcome

    def make_machine(self, run: RunContext) -> RuleBasedStateMachine:
        """Make a fresh machine for ``run``."""
        with lent:
            machine = self.factory()
        if not is_constructed(machine):
            raise forgotten_constructor(type(machine))
        run.begin(machine, self.definition)
        return machine

    def _cause_in_time(self, error: BaseException) -> BaseException:
        """Return what a run failed with: not the ``error`` that code raises when it catches the end of its time.

        Raises:
            OutOfTime: the time of the search was over.
        """
        ended = self.watchdog.ended
        if ended is None or isinstance(error, type(ended)):
            return error
        if isinstance(ended, OutOfTime):
            raise ended
        return ended

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Limit the time of steps and observe what fails outside of them, during the block."""
        with self.watchdog.watching(), outside.watching(self.outside), settings_of(self.definition.cls), keeping():
            yield

    def fail_outside(self) -> None:
        """Raise what failed outside of the frames of the step that ends now."""
        outside.raise_failed()

    def release_error(self, outcome: Outcome) -> None:
        """Drop the error of ``outcome``, and with its frames the machine: their finalisers may do anything."""
        if outcome.error is None:
            return
        signals_before = interrupts.signal_count()
        journal, watchdog = self.journal, self.watchdog
        stage = None if journal is None else journal.begin_inspecting()
        watchdog.step += 1
        watchdog.armed = True
        try:
            outcome.error = None
        except BaseException as error:
            if interrupts.is_from_user(error, signals_before):
                raise
        finally:
            watchdog.armed = False
            if journal is not None and stage is not None:
                journal.end_inspecting(stage)

    def _run(
        self,
        run: RunContext,
        step_source: StepSource,
        restore: Callable[[RunContext], RuleBasedStateMachine] | None,
        listener: RunListener | None,
        observer: Observer | None,
        outcome: Outcome,
    ) -> None:
        watchdog = self.watchdog
        self._current_rule = "__init__"
        watchdog.step += 1
        watchdog.armed = True
        if observer is not None:
            observer.making(self.definition.cls)
        if restore is None:
            machine = self.make_machine(run)
        else:
            machine = restore(run)
            run.use_machine(machine)
        if self._has_tasks and listener is not None:
            run.interleaving = interleaving_of(machine)  # type: ignore[arg-type]
        if observer is not None:
            observer.started(machine)
        try:
            if restore is None:
                self._check_sampled(machine)
            if run.loop is not None:
                self._loop_steps(run.loop, run, step_source, listener, outcome, fresh=restore is None)
            else:
                if restore is None:
                    self._check_invariants(machine)
                outside.raise_failed()
                self._steps(run, machine, step_source, listener, observer, outcome)
            self._check_sampled(machine)
        finally:
            watchdog.armed = False  # what follows the last step is the driver's, up to the teardown
            run.buggify.end_step()
            self._current_rule = "teardown"
            watchdog.step += 1
            if run.buggify.journal is not None:
                run.buggify.journal.enter_teardown()
            if observer is not None:
                observer.ending()
            broken_by, outcome.broken_by = outcome.broken_by, ""
            ended = watchdog.ended
            watchdog.armed = True
            end_run_after(lambda: lent.call(machine.teardown), sys._getframe())
            if not isinstance(watchdog.ended, OutOfTime):
                watchdog.ended = ended  # the first failure may have been raised in time
            outcome.broken_by = broken_by

    def _renewed(self, step_source: StepSource) -> RunContext:
        """Return the context for a run by the step loop. Runs of a driver are sequential, so one context is reused."""
        if self._native is None:
            run = RunContext(step_source.source, len(self.definition.argument_names) - 1)
            switches = [switch_of(fault) for fault in self.faults]
            loop = make_loop(self.definition, self.faults, switches, hashes_state=self._hashes_state)
            run.loop = run.buggify.loop = loop
            self.watchdog.taken = loop.taken
            self._native = loop, run
        loop, run = self._native
        run.renew(step_source.source, self.buggify_prob)
        loop.numbers = self.numbers
        return run

    def _loop_steps(
        self,
        loop: StepLoop,
        run: RunContext,
        step_source: Any,
        listener: RunListener | None,
        outcome: Outcome,
        *,
        fresh: bool,
    ) -> None:
        """Have the step loop do what ``_steps`` does, after the invariants of a fresh machine."""
        replay, deadline = (
            (step_source.replay, step_source.deadline) if type(step_source) is TimedReplay else (step_source, math.inf)
        )
        if not fresh and run.length > LENGTH_MAX:
            return
        try:
            ended = loop.run(replay, run, run.machine, self, listener, fresh, deadline)
            if ended is True:
                outcome.stuck = self._stuck_message(run.machine)
            elif ended is not False:
                raise ended
        except BaseException as error:
            if loop.broken_by is not None:
                outcome.broken_by = self._breaker(loop.broken_by, error)
            raise
        finally:
            outcome.steps = loop.begun

    def _steps(
        self,
        run: RunContext,
        machine: RuleBasedStateMachine,
        step_source: StepSource,
        listener: RunListener | None,
        observer: Observer | None,
        outcome: Outcome,
    ) -> None:
        rules, initializers = self.definition.rules, self.definition.initializers
        watchdog, buggify = self.watchdog, run.buggify
        while run.length <= LENGTH_MAX:
            code = self.next_step(step_source, run)
            kind, number = unpacked(code)
            timed = step_source if isinstance(step_source, Session) and step_source.wants_times else None
            began = 0.0 if timed is None else monotonic()
            watchdog.step += 1
            if kind == RULE:
                rule = rules[number]
                try:
                    with lent:
                        can_run = may_run(machine, rule)
                except Exception as error:  # noqa: BLE001 - code of the user's may raise anything
                    self.refuse_precondition(rule.name, error)
                if not can_run:
                    step_source.reject()
                    continue
                outcome.steps += 1
                buggify.in_step = True
                self._step(rule, run, machine, observer, initialize=False)
            elif kind == INITIALIZE:
                rule = initializers[number]
                if not may_initialize(machine, rule):
                    step_source.reject()
                    continue
                outcome.steps += 1
                buggify.in_step = True
                self._step(rule, run, machine, observer, initialize=True)
            elif kind == END:
                return
            elif kind == STUCK:
                outcome.stuck = self._stuck_message(machine)
                return
            else:
                outcome.steps += 1
                buggify.in_step = True
                self.toggle(self.faults[number], kind == FAULT_ON, run, observer)
            outside.raise_failed()
            try:
                self._check_invariants(machine)
                outside.raise_failed()
            except BaseException as error:
                outcome.broken_by = self._breaker(code, error)
                raise
            buggify.end_step()
            if timed is not None:
                timed.took(monotonic() - began)
            if listener is not None:
                listener.step_done(run, code, self.state_hash(machine) if self._hashes_state else 0)

    def next_step(self, step_source: StepSource, run: RunContext) -> int:
        """Return the next step of the step source, packed: kind in the low three bits, index above."""
        del run
        return step_source.next()

    def _step(
        self,
        rule: Rule,
        run: RunContext,
        machine: RuleBasedStateMachine,
        observer: Observer | None,
        *,
        initialize: bool,
    ) -> None:
        self._current_rule = rule.name
        try:
            values = self.draw_arguments(rule, run, initialize=initialize)
        except failure_types() as error:
            if observer is not None and not isinstance(error, REJECTED):
                observer.undrawn(rule, initialize)
            raise
        while run.draws_again and rule.may_draw_again and run.draws_again():
            values = self.draw_arguments(rule, run, initialize=initialize)
        if rule.draws_in_body:
            run.source.begin_argument(BODY)
        if observer is not None:
            references = dict(values)
            resolve(values, machine)
            observer.rule(rule, initialize, references, values)
        else:
            resolve(values, machine)
        if initialize:
            initialized(machine, rule)
        with lent:
            result = rule.function(machine, **values)
            if rule.is_coroutine:
                result = self.await_result(result, machine)
        names: list[list[str]] = []
        if rule.targets:
            names = add_to_bundles(machine, rule, result)
            if not run.source.live:
                run.made(names)
        elif result is not None:
            self.refuse_result(rule.name, result)
        if observer is not None:
            observer.rule_done(rule, result, names)

    def await_result(self, coroutine: Any, machine: RuleBasedStateMachine) -> Any:
        """Run a coroutine rule on the event loop of its machine, or on the driver's if it has none."""
        if isinstance(machine, ChaosTest):
            return machine.run_coroutine(coroutine)
        return self._loop.run(coroutine)

    def draw_arguments(self, rule: Rule, run: RunContext, *, initialize: bool) -> dict[str, Any]:
        """Draw the arguments of ``rule``; values of bundles are references."""
        del initialize
        source = run.source
        values: dict[str, Any] = {}
        for argument in rule.arguments:
            source.begin_argument(argument.number)
            values[argument.name] = argument.draw(run)
        return values

    def toggle(self, fault: Fault, on: bool, run: RunContext, observer: Observer | None) -> None:
        """Switch a fault."""
        del run
        self._current_rule = fault.name
        if observer is not None:
            observer.fault(fault, on)
        with lent:  # it may replace one of the names
            if on:
                fault.activate()
            else:
                fault.deactivate()

    def _breaker(self, code: int, error: BaseException) -> str:
        """Return the rule after which an invariant failed; nothing for a switch of a fault, or a sampled invariant.

        Many invariants wait until no fault is on: then the fault that is switched off last says nothing about the bug.
        A sampled one may have failed some steps before.
        """
        kind, number = unpacked(code)
        sampled = {getattr(each.function, "__code__", None) for each in self._sampled}
        is_of_sampled = sampled and any(frame.f_code in sampled for frame, _ in walk_tb(traceback_of(error)))
        if kind in (FAULT_ON, FAULT_OFF) or is_of_sampled:
            return ""
        return (self.definition.rules if kind == RULE else self.definition.initializers)[number].name

    def _check_sampled(self, machine: RuleBasedStateMachine) -> None:
        """Check, before the first step and after the last, the invariants that steps check now and then."""
        if self._sampled:
            self.watchdog.step += 1
            initializing = is_initializing(machine)
            self._check([each for each in self._sampled if each.check_during_init or not initializing], machine)
            outside.raise_failed()

    def _check_invariants(self, machine: RuleBasedStateMachine) -> None:
        self._check(self._due_while_initializing if is_initializing(machine) else self.definition.invariants, machine)

    def _check(self, invariants: Iterable[Invariant], machine: RuleBasedStateMachine) -> None:
        for invariant in invariants:
            try:
                with lent:
                    is_due = not invariant.preconditions or holds(invariant.preconditions, machine)
            except Exception as error:  # noqa: BLE001 - code of the user's may raise anything
                self.refuse_precondition(invariant.name, error)
            if not is_due:
                continue
            self._current_rule = invariant.name
            with lent:
                result: object = invariant.function(machine)  # type: ignore[func-returns-value]
            if result is not None:
                self.refuse_check(invariant.name, result)

    def refuse_result(self, rule: str, result: object) -> NoReturn:
        """Raise the error for a rule without a target that returned a value."""
        raise FailedHealthCheck(
            f"rule {rule} has no target bundle but returned {result!r}; return None or give it a target"
        )

    def refuse_check(self, invariant: str, result: object) -> NoReturn:
        """Raise the error for an invariant that returned a value."""
        raise FailedHealthCheck(f"invariant {invariant} returned {result!r}; an invariant returns None")

    def refuse_precondition(self, name: str, error: BaseException) -> NoReturn:
        """Refuse the machine because a precondition of ``name`` raised ``error``, unless that says something else."""
        error = readable(error)
        if not isinstance(error, Exception) or isinstance(error, (RuleTimeoutError, *REJECTED, *skip_types())):
            raise error
        line = next(reversed(user_frames(error)), None)
        raise precondition_error(self.definition.cls, name, error, line) from error

    def out_of_time(self) -> NoReturn:
        """End a replay whose time is up."""
        raise OutOfTime

    def state_hash(self, machine: RuleBasedStateMachine) -> int:
        """Return what the machine's hook ``state_hash`` returns."""
        value: object = machine.state_hash()  # type: ignore[attr-defined]
        if not isinstance(value, int):
            self.refuse_hash(value)
        return value & 2**64 - 1

    def refuse_hash(self, value: object) -> NoReturn:
        """Raise the error for a ``state_hash`` that returned ``value``."""
        raise MachineError(
            f"{self.definition.cls.__name__}.state_hash() returned {value!r}, which is not an int",
            hint="return an int computed from the state, or 0 for none",
        )

    def _timed_out(self) -> BaseException:
        self.limits.ended_in = self._running()
        return timeout_error(self.limits.ended_in, self.rule_timeout)

    def _running(self) -> str:
        """Return the name of what runs in the current step."""
        in_loop = self._native[0].current if self._native is not None else None
        return in_loop or self._current_rule

    def adapt_limits(self, seconds_min: float = SECONDS_MIN) -> None:
        """Let the rules take what ``limits`` says from now on: at least ``seconds_min``, and at most their limit."""

        def limit_now() -> float:
            self.limits.learn(self.slowest())
            return self.limits.limit_of(self._running())

        self.watchdog.lower(limit_now, seconds_min)

    def slowest(self) -> dict[str, float]:
        """Return how long the slowest passing steps of some rules took, in seconds, as far as that was measured."""
        return {} if self._native is None else self._native[0].slowest()

    def _stuck_message(self, machine: RuleBasedStateMachine) -> str:
        names = ", ".join(rule.name for rule in self.definition.rules)
        return (
            f"no rule of {self.definition.cls.__name__} can run in state {machine!r}: "
            f"every precondition is false or a bundle is empty (rules: {names})"
        )

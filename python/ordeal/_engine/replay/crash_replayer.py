"""Handles runs that end their process, or must be ended with it: names their failures and replays them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from mmap import mmap
from time import sleep
from typing import Any, override

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.rule_timeout import RuleTimeoutError, timeout_error
from ordeal._base.trace_file import TraceStep
from ordeal._engine.execution.bucket import HUNG, Bucketer, ProcessExitError, ProcessKilledError
from ordeal._engine.execution.driver import Driver, Outcome, Status, TimedReplay
from ordeal._engine.execution.recorder import Observer, RunRecorder
from ordeal._engine.isolation.channel import Channel, Value
from ordeal._engine.isolation.child import REPLACED, Child, ChildExit, Limits, leave
from ordeal._engine.isolation.hangs import SECONDS_MIN, WatchedClock, ends_within
from ordeal._engine.replay.replayer import Replayed, Replayer
from ordeal._hypothesis.machines import Rule
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import monotonic
from ordeal.faults import Fault

#: Time that a process may take for everything else, on a busy machine.
SLACK_SECONDS = 0.5
#: A process that runs none of the user's code is lost after this long without progress: a finaliser may hang, for
#: example. Until then it may be waiting for its turn on a busy machine.
IDLE_SECONDS_MAX = 15.0


class Crash(msgspec.Struct, frozen=True):
    """A run that ended with its process: its error, its bucket, and its tape."""

    error: BaseException
    bucket: str
    tape: _native.Tape
    how: str = ""  # what happened to its process


class CrashReader:
    """Reads from the journal of an ended process what its last run did."""

    def __init__(self, driver: Driver) -> None:
        definition = driver.definition
        self._shape = (len(definition.rules), len(definition.initializers), len(driver.faults))
        self._arguments = len(definition.argument_names)
        self._driver = driver

    def read(self, journal: mmap, exit_status: ChildExit, *, hung: bool) -> Crash | None:
        """Return the crash, or None when the process was in no run, or the journal cannot be read."""
        record = self._record(journal)
        if record is None or record.stage == "idle" or exit_status.is_unknown:
            return None
        place = self._place(record)
        if hung and exit_status.code != REPLACED:
            error: Exception = timeout_error(place, self._driver.rule_timeout)
            return Crash(error, f"{RuleTimeoutError.__name__} at {place}{HUNG}", record.tape)
        crash = _crash_at(place, record.tape, exit_status)
        if exit_status.stacks:
            crash.error.add_note(exit_status.stacks)  # a traceback shows it
        return crash

    def of_run(self, tape: _native.Tape, code: int) -> Crash:
        """Return the crash of a run whose process ended in or after the last step of ``tape``, with ``code``."""
        place = bare_steps(self._driver, tape)[-1].name if len(tape) else "teardown"
        return _crash_at(place, tape, ChildExit(max(code, 0), max(-code, 0)))

    def place(self, journal: mmap) -> str:
        """Return what the process was doing; empty when that was nothing of the user's."""
        record = self._record(journal)
        return self._place(record) if record is not None and record.stage != "idle" else ""

    def rules(self, journal: mmap) -> list[str]:
        """Return the distinct names of what the latest run did; none when the journal cannot be read."""
        record = self._record(journal)
        return (
            [] if record is None else list(dict.fromkeys(step.name for step in bare_steps(self._driver, record.tape)))
        )

    def is_running(self, journal: mmap) -> bool:
        """Return True if the process seems to run code of the user's."""
        record = self._record(journal)
        return record is None or record.stage != "idle"

    def hangs(self, journal: mmap, stall: ProcessStall) -> bool:
        """Return True if the process has made no progress for too long: a step has its limit, all else has more."""
        return stall.hangs() and (self.is_running(journal) or stall.seconds_still() > IDLE_SECONDS_MAX)

    def is_in_step(self, journal: mmap) -> bool:
        """Return True if the process seems to run a step."""
        record = self._record(journal)
        return record is not None and record.stage == "step"

    def _record(self, journal: mmap) -> _native.JournalRecord | None:
        try:
            return _native.read_journal(journal, self._shape, self._arguments)
        except _native.CoreError:
            return None

    def _place(self, record: _native.JournalRecord) -> str:
        """Return what ran: a rule by its name, or what comes before the first one and after the last."""
        if record.stage in ("making", "teardown"):
            return {"making": "what comes before the first step", "teardown": "teardown"}[record.stage]
        if record.stage == "inspecting":
            return "what an object says of itself"
        if not len(record.tape):
            return "the invariants"
        return bare_steps(self._driver, record.tape)[-1].name


def _crash_at(place: str, tape: _native.Tape, exit_status: ChildExit) -> Crash:
    how = exit_status.how
    error = (ProcessKilledError if exit_status.signal else ProcessExitError)(f"{place} ended the process {how}")
    cause = "replaced" if exit_status.code == REPLACED else how.removeprefix("by ").removeprefix("with exit code ")
    return Crash(error, f"{type(error).__name__}({cause}) at {place}", tape, f"ended {how}")


class ProcessStall:
    """Detects that a process makes no progress. A step may take ``limit`` seconds, 0 or less for no limit.

    Only time between regular looks counts, so a host that stops for a while makes nothing hang.
    """

    def __init__(self, journal: mmap, limit: float) -> None:
        self._journal = journal
        # One that can be interrupted has ended by then; one that has not hangs outside Python.
        self._seconds = ends_within(limit) + SLACK_SECONDS if limit > 0 else math.inf
        self._steps = -1
        self._clock = WatchedClock()
        self._since = 0.0

    def begin(self) -> None:
        """Start the time now, so that earlier waiting does not count."""
        self._since = self._clock.seconds()

    def hangs(self) -> bool:
        """Return True if the process has been at the same step for too long."""
        return self.seconds_still() > self._seconds

    def seconds_still(self) -> float:
        """Return for how long the process has been at the same step."""
        now = self._clock.seconds()
        try:
            steps = _native.journal_steps(self._journal)
        except _native.CoreError:
            steps = self._steps  # the code under test has overwritten the count, so it shows no progress
        if steps != self._steps:
            self._steps, self._since = steps, now
        return now - self._since


class CrashReplayer(Replayer):
    """Replays each tape in a separate process, and sees how the process ends."""

    def __init__(self, driver: Driver, bucketer: Bucketer, randoms: GlobalRandoms, limits: Limits) -> None:
        super().__init__(driver, bucketer, randoms)
        self._environment = (driver, bucketer, randoms, limits)
        self._limits = limits
        self._reader = CrashReader(driver)
        self._limit = driver.rule_timeout  # of a step, in seconds
        self._is_adapted = False
        self._trusted: tuple[BaseException, str] | None = None

    def trusting(self, error: BaseException, bucket: str) -> CrashReplayer:
        """Return a replayer that assumes that a run fails with ``error`` in ``bucket``, in its last step."""
        replayer = CrashReplayer(*self._environment)
        replayer._trusted = (error, bucket)
        return replayer

    @contextmanager
    def adapted(self) -> Iterator[None]:
        """See ``Replayer``. How long rules take is known from the first process of a run that ended."""
        before = self._limit, self._is_adapted
        self._limit, self._is_adapted = min(self._limit, self._driver.limits.glance), True
        try:
            with self._driver.limits.adapted():
                yield
        finally:
            self._limit, self._is_adapted = before

    def run(self, tape: _native.Tape, observer: Observer | None = None) -> Replayed:
        """Run ``tape`` from a fresh machine in another process. An observer must be a recorder."""
        if isinstance(observer, RunRecorder):
            if self._trusted is not None:
                error, bucket = self._trusted
                replayed = self._replayed(Outcome(Status.FAILED, len(tape), error), bucket, tape)
            else:
                replayed = self._apart(tape, None)
            child = Child(lambda channel, journal: self._record(replayed.tape, channel, journal), self._limits)
            try:
                self._await(child, None)
                said = child.messages()
            finally:
                child.close()
            if said and isinstance(said[-1][0], bytes):
                observer.read(said[-1][0])
            for step in bare_steps(self._driver, replayed.tape)[len(observer.steps) :]:
                # Its arguments could not be drawn, so drawing is what ends the process.
                observer.steps.append(step)
                observer.program.append(f"state.{step.name}({observer.drawn_again(step.choices)})")
            return replayed
        assert observer is None, "another process cannot tell this observer"
        return self._apart(tape, None)

    def _apart(self, tape: _native.Tape, deadline: float | None) -> Replayed:
        def job(channel: Channel, journal: _native.Journal) -> None:
            self._driver.journal = journal
            self._driver.isolated = True
            began = monotonic()
            with self._randoms.managed(), self._driver.watching():
                # A deadline that never comes has the step loop note how long the steps take.
                outcome, bucket = self._execute(TimedReplay(_native.Replay(tape), sys.float_info.max))
                took = monotonic() - began
                if outcome.error is not None:
                    # The search takes the text of each error too, so this is part of the run.
                    self.written(outcome.error)
                    self._driver.release_error(outcome)
            channel.send(bucket, took, msgspec.json.encode(self._driver.slowest()))

        child = Child(job, self._limits)
        try:
            hung = self._await(child, deadline)
            said = child.messages()
            assert child.exit_status is not None
            if said:
                bucket = self._take(*said[0])
                status = Status.FAILED if bucket else Status.DONE
                return self._replayed(Outcome(status, 0, None), bucket, tape)
            crash = self._reader.read(child.journal, child.exit_status, hung=hung)
        finally:
            child.close()
        if crash is None:
            return self._replayed(Outcome(Status.REJECTED, 0, None), "", tape)
        return self._replayed(Outcome(Status.FAILED, len(crash.tape), crash.error), crash.bucket, crash.tape)

    @staticmethod
    def _replayed(outcome: Outcome, bucket: str, tape: _native.Tape) -> Replayed:
        return Replayed(outcome=outcome, bucket=bucket, tape=tape, misaligned=0, unused=0, rejected=0)

    def _take(self, bucket: Value, took: Value = 0.0, slowest: Value = b"{}") -> str:
        """Take in how long a run and its rules took, and return its bucket."""
        limits = self._driver.limits
        if isinstance(took, float) and isinstance(slowest, bytes):
            limits.learn_run(took)
            with suppress(msgspec.MsgspecError):
                limits.learn(msgspec.json.decode(slowest, type=dict[str, float]))
        return str(bucket)

    def _await(self, child: Child, deadline: float | None) -> bool:
        """Wait until the process has ended; return whether it had to be ended."""
        stall = ProcessStall(child.journal, self._limit)
        while not child.has_ended():
            out_of_time = deadline is not None and monotonic() >= deadline
            hangs = out_of_time or self._reader.hangs(child.journal, stall)
            still = stall.seconds_still() if self._is_adapted and not hangs else 0.0
            if still >= ends_within(SECONDS_MIN) and self._reader.is_in_step(child.journal):
                # A step that takes longer than its rule may while limits are adapted.
                hangs = still >= ends_within(self._driver.limits.limit_of(self._reader.place(child.journal)))
            if hangs:
                child.kill()
                return not out_of_time
            sleep(0.001)
        return False

    def _within(self, tape: _native.Tape, deadline: float) -> tuple[Replayed | None, _native.Replay | None]:
        return self._apart(tape, deadline), None

    def _record(self, tape: _native.Tape, channel: Channel, journal: _native.Journal) -> None:
        """Record the steps, in the other process."""
        self._driver.journal = journal
        self._driver.isolated = True
        observer = _UpToLast(len(tape), channel)
        with self._randoms.managed(), self._driver.watching():
            self._randoms.reseed()
            self._driver.execute(_native.Replay(tape), observer=observer)
        observer.report()


class _UpToLast(RunRecorder):
    """Records the steps until step ``last``, counted from one, begins, and then ends the process."""

    def __init__(self, last: int, channel: Channel) -> None:
        super().__init__()
        self._last = last
        self._channel = channel
        self._steps = 0

    @override
    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        super().making(cls)
        if not self._last:
            self._end()

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        super().rule(rule, initialize, values, resolved)
        self._count()

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        super().fault(fault, on)
        self._count()

    def report(self) -> None:
        """Send the recording made so far."""
        self._channel.send(self.written())

    def _count(self) -> None:
        self._steps += 1
        if self._steps == self._last:
            self._end()
        if self._steps == self._last - 1:
            self.report()  # in case the last step cannot even begin

    def _end(self) -> None:
        self.report()
        # Neither the step nor the teardown may run here.
        leave(0)


def bare_steps(driver: Driver, tape: _native.Tape) -> list[TraceStep]:
    """Return the steps of ``tape`` by name; only their choices are known."""
    definition = driver.definition
    faults = [fault.name for fault in driver.faults]
    tables = [
        ("rule", "", [rule.name for rule in definition.rules]),
        ("initialize", "", [rule.name for rule in definition.initializers]),
        ("fault_toggle", "+", faults),
        ("fault_toggle", "-", faults),
    ]
    steps, active = [], list[str]()
    for kind, target, _, drawn in tape.steps():
        what, sign, names = tables[kind]
        if sign == "+":
            active.append(names[target])
        elif sign and names[target] in active:
            active.remove(names[target])
        choices = {definition.argument_names[number]: list(values) for number, values in drawn if values}
        steps.append(TraceStep(kind=what, name=sign + names[target], active_faults=list(active), choices=choices))
    return steps

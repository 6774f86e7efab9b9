"""Runs all short rule sequences: every rule, every value of its arguments, in every order, up to a depth.

Most bugs show in small cases, so running all of them says more than sampling larger ones (D. Jackson, "Software
Abstractions", 2006: the small scope hypothesis).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ordeal._native as _native
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import (
    END,
    FAULT_OFF,
    FAULT_ON,
    INITIALIZE,
    RULE,
    Driver,
    Status,
    StepSource,
    unpacked,
)
from ordeal._engine.execution.settings import Scope
from ordeal._engine.isolation.child import Limits
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.executors import Here
from ordeal._engine.triage.findings import Finding, Findings, KnownFailures
from ordeal._engine.triage.messages import Shrinking
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._engine.triage.triage import Listener, Triage
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import monotonic
from ordeal.errors import Incomplete, InfiniteStrategyError, MachineError, NonDeterministicGeneration
from ordeal.exhaustive.enumerable import EnumerableSource, make_enumerable
from ordeal.exhaustive.text import scope_incomplete, scope_statement
from ordeal.result import ExplorationResult, KnownFailure, NoteKind, Notes, ProgressSnapshot, StoppedReason

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import ChoiceSource
    from ordeal._native import ChoiceValue, StepTuple

CASE, DONE, LIMIT_REACHED, FEWER = range(4)


class ScopeStepSource(EnumerableSource):
    """Decides what a run does next by the odometer's choices, and records the run. Also the source of its arguments.

    Every step of a run is one choice: to end here, or a rule or fault toggle to continue with. Initialize rules come
    first, in every order, and do not count as steps.
    """

    def __init__(self, driver: Driver, odometer: _native.Odometer, scope: Scope) -> None:
        super().__init__(self.choose, scope.values)
        self._definition = definition = driver.definition
        self._fault_names = [fault.name for fault in driver.faults]
        self._odometer = odometer
        self._rules = len(definition.rules)
        self._initializers = len(definition.initializers)
        self._faults = len(driver.faults) if scope.faults else 0
        self._depth = scope.depth
        self.restricted: dict[str, None] = {}  # arguments with more values than were taken
        self.begin_run()

    @property
    def source(self) -> ChoiceSource:
        """What the arguments of the current step are drawn from: this itself."""
        return self

    @property
    def tape(self) -> _native.Tape:
        """The steps that have begun."""
        return _native.Tape.from_steps(self._steps)

    def begin_run(self) -> None:
        """Forget the previous run."""
        self._steps: list[StepTuple] = []
        self._left = list(range(self._initializers))
        self._on = [False] * self._faults
        self._taken = 0
        self._options: list[int] = []
        self._begin = 0
        self._again = False
        self.is_void = False
        self.is_bound = False  # to the context of its run
        self._argument = 0

    def choose(self, size: int) -> int:
        """Return a number below ``size``.

        Raises:
            NonDeterministicGeneration: an earlier run with the same choices so far chose among a different number here.
        """
        try:
            return self._odometer.choose(size - 1)
        except _native.CoreError as error:
            raise changed(f"{error}, {self.place}") from None

    @property
    def place(self) -> str:
        """Return where the run is: the rule or fault, and the argument."""
        if not self._steps:
            return "at its start"
        names = self._definition.argument_names
        return f"in step {len(self._steps)}, {self._step_name()}" + (
            f", argument {names[self._argument]}" if self._steps[-1][3] else ""
        )

    @property
    def argument(self) -> str:
        """Return the argument that is drawn, with its rule: ``put.key``."""
        return f"{self._step_name()}.{self._definition.argument_names[self._argument]}"

    def _step_name(self) -> str:
        kind, number = self._steps[-1][:2]
        if kind in (FAULT_ON, FAULT_OFF):
            return self._fault_names[number]
        return (self._definition.initializers if kind == INITIALIZE else self._definition.rules)[number].name

    def put(self, value: ChoiceValue) -> None:
        """Record a choice of the current argument."""
        self._steps[-1][3][-1][1].append(value)

    def restrict(self) -> None:
        """Note that the argument has more values than are taken."""
        self.restricted[self.argument] = None

    def begin_argument(self, name: int) -> None:
        """Record that the following choices belong to the argument ``name``."""
        self._argument = name
        self._steps[-1][3].append((name, []))

    def next(self) -> int:
        """Return the next step, packed: kind in the low three bits, index above."""
        if self.is_void:
            return END
        if not self._again:
            if self._left:
                self._options = [number << 3 | INITIALIZE for number in self._left]
            elif self._taken == self._depth:
                self._options = [END]
            else:
                toggles = [number << 3 | (FAULT_OFF if on else FAULT_ON) for number, on in enumerate(self._on)]
                self._options = [END, *(number << 3 | RULE for number in range(self._rules)), *toggles]
            self._begin = self._odometer.position
        self._again = False
        code = self._options[self.choose(len(self._options))]
        kind, number = unpacked(code)
        if kind == END:
            return code
        if kind == INITIALIZE:
            self._left.remove(number)
        else:
            self._taken += 1
        if kind in (FAULT_ON, FAULT_OFF):
            self._on[number] = kind == FAULT_ON
        self._steps.append((kind, number, len(self._steps), []))
        return code

    def reject(self) -> None:
        """Note that the rule of the last step cannot run now: the next in the order takes its place in the same run.

        After the last rule there is none, and the run is void: an earlier run ended at this point already.
        """
        self._steps.pop()
        self._taken -= 1
        self._again = self._odometer.retry(self._begin)
        self.is_void = not self._again


class _ScopeDriver(Driver):
    """Takes what a run draws through Hypothesis from its step source; otherwise like the driver of the machine."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver.definition, driver.factory, driver.faults, driver.rule_timeout)
        self._ordinary = driver

    def next_step(self, step_source: StepSource, run: RunContext) -> int:
        """Return the next step of the step source, or the end when the machine has no steps left."""
        if isinstance(step_source, ScopeStepSource) and not step_source.is_bound:
            make_enumerable(run, step_source)
            step_source.is_bound = True
        return self._ordinary.next_step(step_source, run)


class BoundedSearch(Listener):
    """Runs all sequences of one machine. Used once; not thread-safe."""

    def __init__(self, scope: Scope, driver: Driver, targets: list[Target]) -> None:
        self._scope = scope
        self._driver = _ScopeDriver(driver)
        # Whether a point of buggify acts is not a choice of the scope: none acts here.
        self._driver.buggify_prob = None
        self._randoms = GlobalRandoms()
        setup = ReplaySetup(scope, self._driver, targets, Limits(0))
        setup.trace_builder.read_sources()
        self._bucketer = setup.bucketer()
        self._odometer = _native.Odometer(limit=scope.limit)
        self._step_source = ScopeStepSource(self._driver, self._odometer, scope)
        self._notes = Notes()
        replayer = Replayer(self._driver, self._bucketer, self._randoms)
        self._findings = Findings(replayer)
        self._declared = KnownFailures(scope.known)
        self._known: list[KnownFailure] = []
        context = JobContext(setup, replayer=replayer, randoms=self._randoms)
        self._triage = Triage(setup, Here(context), self, WorkingFolder(self.note))
        self._runs = self._steps = self._rejected = 0
        self._started = 0.0
        self._was_interrupted = False

    def run(self) -> ExplorationResult:
        """Run all sequences, then shrink and report what failed.

        Raises:
            Incomplete: the limit was reached before anything failed.
            InfiniteStrategyError: an argument has infinitely many values.
            NonDeterministicGeneration: a run differed from an earlier one with the same choices so far.
            MachineError: no rule can run.
        """
        self._started = monotonic()
        with self._randoms.managed(), self._driver.watching():
            self._triage.replay_seeds(self._findings.add_replayed_seed)
            stopped = self._run_all()
            findings, self._known = self._declared.split(self._findings.all(), self.count_of)
            failures = self._triage.confirm_and_shrink(findings, shrink=True)
        return ExplorationResult(
            test_class=self._scope.test_class,
            rng_seed=0,
            total_runs=self._runs,
            total_steps=self._steps,
            unique_edges=0,
            checkpoints_saved=0,
            duration_seconds=monotonic() - self._started,
            failures=failures,
            known=self._known,
            seed_replays=self._triage.seed_outcomes,
            stopped_reason="interrupted" if self._was_interrupted else stopped,
            snapshot_kind="replay",
            rejected_runs=self._rejected,
            notes=tuple(self._notes),
        )

    # -- triage -------------------------------------------------------------------------------------------------------

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """See the ``Listener`` of triage."""
        self._notes.add(text, kind)

    def interrupted(self) -> None:
        """See the ``Listener`` of triage."""
        self._was_interrupted = True

    def shrinking(self, number: int, total: int, now: Shrinking) -> None:
        """See the ``Listener`` of triage: short sequences shrink too fast for progress to matter."""

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _run_all(self) -> StoppedReason:
        try:
            while (turn := self._odometer.next()) == CASE:
                self._one_run()
                if self._scope.progress is not None:
                    elapsed = monotonic() - self._started
                    self._scope.progress(
                        ProgressSnapshot(
                            elapsed=elapsed,
                            total_runs=self._runs,
                            total_steps=self._steps,
                            unique_edges=0,
                            checkpoints=0,
                            failures=len(self._findings),
                            runs_per_second=self._runs / elapsed if elapsed > 0 else 0.0,
                        )
                    )
        except KeyboardInterrupt:
            self._notes.add(self._incomplete())
            return "interrupted"
        if turn == FEWER:
            raise changed(f"a run ended after {self._odometer.position} choices, where an earlier one made more")
        if turn == LIMIT_REACHED:
            if not self._findings:
                hint = "a smaller depth, arguments of fewer values, `values=3`, or a higher limit"
                raise Incomplete(self._incomplete(), hint=hint)
            self._notes.add(self._incomplete())
            return "limit"
        if not self._steps:
            raise MachineError(
                f"no rule of {self._scope.test_class} can run from a fresh machine",
                hint="a precondition is false, a bundle is empty, or every argument is rejected",
            )
        scope, restricted = self._scope, list(self._step_source.restricted)
        self._notes.add(scope_statement(self._runs, scope.depth, faults=scope.faults, cut=restricted))
        return "exhausted"

    def _incomplete(self) -> str:
        return scope_incomplete(self._runs, self._scope.depth)

    def _one_run(self) -> None:
        step_source = self._step_source
        step_source.begin_run()
        self._randoms.reseed()
        try:
            outcome = self._driver.execute(step_source)
        except InfiniteStrategyError as error:
            raise InfiniteStrategyError(
                f"{step_source.argument} cannot be enumerated: {error.message}",
                hint=f"{error.hint}; or take the simplest few of each with `values=3`",
            ) from None
        if step_source.is_void or outcome.status is Status.REJECTED:
            self._odometer.drop()
            self._rejected += outcome.status is Status.REJECTED
            return
        self._runs += 1
        self._steps += outcome.steps
        if outcome.status is not Status.FAILED:
            return
        assert outcome.error is not None
        bucket = self._bucketer.bucket(outcome.error, outcome.broken_by)
        origin = Provenance(run_id=self._runs, checkpoint=0, swarm=None, edges=0)
        finding = Finding(bucket, self._step_source.tape, origin, outcome.error)
        is_declared = self._declared.claim(finding)
        if self._findings.count(finding.bucket):
            return
        if is_declared:
            self._findings.declare(finding)
        else:
            self._findings.add(finding, from_copy=False)


def changed(message: str) -> NonDeterministicGeneration:
    """Return the error for a run that differed from an earlier one with the same choices so far."""
    return NonDeterministicGeneration(
        message, hint="rules and arguments must be decided by the run alone: not by time, hash order or earlier runs"
    )

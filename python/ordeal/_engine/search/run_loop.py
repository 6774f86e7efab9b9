"""Makes the runs of a search: plans each, restores or makes its machine, executes it, and takes in what it brought."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import Any, NamedTuple

from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Driver, Outcome, Status
from ordeal._engine.execution.fork_messages import ForkedRunResult
from ordeal._engine.execution.settings import Settings
from ordeal._engine.execution.snapshot import Snapshot
from ordeal._engine.replay.crash_replayer import Crash, CrashReader
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.search.checkpoints import Checkpoints, KeptState
from ordeal._engine.search.learning import Comparisons, Constants, Learning
from ordeal._engine.search.ledger import STEP, Aid, Ledger
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.state import SearchProgress
from ordeal._engine.storage.state_file import Provenance
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import monotonic
from ordeal.errors import MachineError
from ordeal.swarm.weights import swarm_options_of

TRACES_MAX = 10_000
#: One run in this many is kept as a sample: recording a run takes as long as five others, so a search loses 0.5 %.
EACH = 1_000
#: More are thinned out, so that the sample covers the whole search.
KEPT_MAX = 500


def make_session(
    settings: Settings, driver: Driver, coverage: _native.CoverageMap, *, has_targets: bool
) -> _native.Session:
    """Return the core's session, which decides what the runs do."""
    definition = driver.definition
    return _native.Session(
        (len(definition.rules), len(definition.initializers), len(driver.faults)),
        coverage,
        operations=swarm_options_of(definition.cls).operations(rule.name for rule in definition.rules),
        pair_features=not has_targets,
        by_clock=settings.max_runs is None,
        seed=settings.session_seed,
        max_checkpoints=settings.max_checkpoints,
        checkpoint_prob=settings.checkpoint_prob,
        checkpoint_strategy=settings.checkpoint_strategy,
        fault_toggle_prob=settings.fault_toggle_prob,
        seed_mutation_prob=settings.seed_mutation_prob,
        steps_per_run=settings.steps_per_run,
        rule_swarm=settings.rule_swarm,
        swarm=settings.swarm,
        swarm_policy=settings.swarm_policy,
        value_reuse_prob=settings.value_reuse_prob,
    )


def origin_of(session: _native.Session, driver: Driver) -> Provenance:
    """Return where the present run of a session comes from, with the new edges that it has shown so far."""
    spec, swarm = session.spec, session.configuration()
    rules = [rule.name for rule in driver.definition.rules]
    faults = [fault.name for fault in driver.faults]
    on = None if swarm is None else (list(compress(rules, swarm[0])), list(compress(faults, swarm[1])))
    weights = {name: weight for name, weight in zip(rules, session.weights, strict=False) if weight}
    return Provenance(spec.run_id, spec.checkpoint, on, session.edges_in_run, weights)


class RunEnd(NamedTuple):
    """How a run ended, or the last part of it: a run that steps back from a failure continues in another part.

    Attributes:
        spec: the plan of the run.
        outcome: the outcome of this part.
        start: the copied state that it began with; None if it began with a fresh machine or in another process.
        began: when it began, by monotonic().
        seconds: how long the run took, if it ended well and never failed; otherwise 0.
        forked: the report of the process in which it ran, if that was another.
        crash: how that process died, if it did.
        stepped_back: whether the run has stepped back before.
    """

    spec: _native.RunSpec
    outcome: Outcome
    start: KeptState | None
    began: float
    seconds: float = 0.0
    forked: ForkedRunResult | None = None
    crash: Crash | None = None
    stepped_back: bool = False

    @property
    def failed(self) -> bool:
        """Whether it ended with a failure."""
        return self.outcome.status is Status.FAILED

    @property
    def was_fresh(self) -> bool:
        """Whether it ran all its steps from a fresh machine of this process."""
        return self.start is None and self.forked is None and self.crash is None


class RunLoop:
    """Drives one session from one run to the next. ``progress`` counts what they come to."""

    def __init__(
        self,
        settings: Settings,
        driver: Driver,
        session: _native.Session,
        targets: list[Target],
        *,
        replayer: Replayer,
        randoms: GlobalRandoms,
        monitoring: Monitoring,
        checkpoints: Checkpoints,
        progress: SearchProgress,
    ) -> None:
        self._settings = settings
        self._driver = driver
        self._session = session
        self._replayer = replayer
        self._randoms = randoms
        self._monitoring = monitoring
        self._checkpoints = checkpoints
        self._progress = progress
        self._learning = Learning(driver, session, monitoring, progress.watch, checkpoints, progress)
        aids: dict[str, Aid] = {"constants": Constants(session, targets, progress)}
        if settings.comparison_tracing == "auto":
            aids[Comparisons.name] = Comparisons(session, targets, replayer, monitoring, progress)
        self._ledger = Ledger(aids, progress)
        self._sample = Sample() if settings.record_traces == "sample" else None

    def next(self) -> RunEnd:
        """Make the next run, up to its end or its first failure."""
        session, progress = self._session, self._progress
        spec = session.begin_run()
        if self._monitoring.monitor is not None:
            self._monitoring.begin_run(spec.run_id, progress)
        self._learning.begin_run()
        progress.watch.number_run(spec.run_id)
        progress.faults.begin_run()
        self._randoms.reseed()
        checkpoint = spec.checkpoint
        snapshot = self._checkpoints.copy_of(checkpoint)
        start = KeptState(snapshot, spec.prefix_steps) if snapshot is not None else None
        began = monotonic()
        replayed_steps = 0
        if start is None and self._checkpoints.has_fork_server(checkpoint):
            session.restored()
            end = self._in_fork(spec, began)
        else:
            restore = None
            if start is not None:
                session.restored()
                restore = self._restoring(start.snapshot)
            elif checkpoint:
                replayed_steps = spec.prefix_steps
                self._learning.begin_return()
            outcome = self._execute(restore)
            seconds = monotonic() - began if outcome.status is Status.DONE else 0.0
            end = RunEnd(spec, outcome, start, began, seconds)
        progress.tally.steps += max(0, end.outcome.steps - replayed_steps)
        if end.seconds and self._driver.limits.expects_hangs:
            self._driver.limits.learn_run(end.seconds)
        return end

    def step_back(self, end: RunEnd, failure: int, *, slow: bool) -> RunEnd | None:
        """Undo the step that failed, and have the run continue without it. Return its next end; None if it is over.

        ``failure`` is the same number for the same failure; ``slow`` says that it takes long, such as a hang.
        """
        session, spec = self._session, end.spec
        if not session.step_back(failure, slow=slow):
            return None
        self._driver.release_error(end.outcome)
        # The latest state from which the run can go on, if any.
        start = self._learning.on_the_way
        if start is None or start.steps > session.prefix_left:
            self._learning.on_the_way = None  # steps that led there are undone as well
            snapshot = self._checkpoints.copy_of(spec.checkpoint)
            start = KeptState(snapshot, spec.prefix_steps) if snapshot is not None else None
        began = monotonic()
        self._randoms.reseed()
        is_held = start is None and self._checkpoints.has_fork_server(spec.checkpoint)
        if start is not None or is_held:
            session.restored(start.steps if start is not None else None)
        replayed_steps = session.prefix_left
        self._learning.begin_again()
        if is_held:
            after = self._in_fork(spec, began)
        else:
            restore = self._restoring(start.snapshot if start is not None else None, replayed_steps)
            after = RunEnd(spec, self._execute(restore), start, began)
        self._progress.tally.steps += max(0, after.outcome.steps - replayed_steps)
        # As if it had begun with the run.
        after.outcome.steps = len(session.tape) - (spec.prefix_steps if start is None else start.steps)
        return after._replace(seconds=0.0, stepped_back=True)

    def finish(self, end: RunEnd, bucket: str) -> None:
        """Learn from a run that is over. ``bucket`` is that of its failure, if its last part failed."""
        session, tally, outcome = self._session, self._progress.tally, end.outcome
        # Where the number of runs ends the search, nothing that is explored may depend on the clock.
        session.end_run(end.seconds if self._settings.max_runs is None else 0.0)
        if self._monitoring.monitor is not None:
            self._ledger.spend(tally.steps * STEP + self._monitoring.monitor.events)
        tally.runs += 1
        edges = session.edges_in_run
        tally.runs_without_novelty = 0 if edges or self._learning.has_new_features else tally.runs_without_novelty + 1
        if outcome.stuck:
            tally.stuck += 1
            if not end.stepped_back and outcome.steps == 0 and not end.spec.checkpoint:
                raise MachineError(outcome.stuck, hint="a rule must be able to run from a fresh machine")
        if (end.start is not None or end.forked is not None) and self._checkpoints.is_check_due():
            snapshot, steps = end.start if end.start is not None else (None, end.spec.prefix_steps)
            with self._monitoring.hidden():
                # Of a failure that is new, the error itself may be gone by now.
                self._checkpoints.check(snapshot, session.tape, steps, outcome, bucket if end.failed else "")
        if outcome.status is Status.REJECTED:
            tally.rejected += 1
            tally.overrun += outcome.overrun
            tally.emptied += outcome.emptied
        elif outcome.status is Status.DONE and self._settings.record_traces:
            # Keep a path to new code, or a run of the sample.
            runs, sample = self._progress.productive, self._sample
            if sample.takes(end.spec.run_id, runs) if sample is not None else edges and len(runs) < TRACES_MAX:
                runs.append((origin_of(session, self._driver), session.tape))
        if edges or outcome.status is not Status.DONE or self._sample is not None:
            self._driver.release_error(outcome)

    def _execute(self, restore: Callable[[RunContext], RuleBasedStateMachine] | None = None) -> Outcome:
        try:
            return self._driver.execute(self._session, listener=self._learning, restore=restore)
        finally:
            self._learning.end_return()

    def _restoring(
        self, snapshot: Snapshot | None, steps_again: int = 0
    ) -> Callable[[RunContext], RuleBasedStateMachine]:
        """Return what makes the machine of a run that does not begin with it: from ``snapshot``, or a fresh one.

        What that runs is hidden, like the steps that lead there, and like the ``steps_again`` that follow.
        """
        set_paused = self._monitoring.set_paused

        def restore(run: RunContext) -> RuleBasedStateMachine:
            set_paused(True)
            try:
                if snapshot is None:
                    return self._driver.make_machine(run)
                return self._checkpoints.restore(snapshot, run, self._session.faults_on)
            finally:
                if not steps_again:
                    set_paused(False)

        return restore

    def _in_fork(self, spec: _native.RunSpec, began: float) -> RunEnd:
        """Run from a state held by a process, in a fork of it."""
        session = self._session
        try:
            forked = self._checkpoints.run_forked(spec.checkpoint, session, self._learning)
        finally:
            self._learning.end_return()
        if forked is None:
            return RunEnd(spec, Outcome(Status.REJECTED, 0), None, began)
        if isinstance(forked, int):
            # The session has the step in which it died; it is confirmed like any other failure.
            crash = CrashReader(self._driver).of_run(session.tape, forked)
            outcome = Outcome(Status.FAILED, len(session.tape) - spec.prefix_steps, crash.error)
            return RunEnd(spec, outcome, None, began, crash=crash)
        if forked.raised:
            # An error that ends an exploration is raised here too.
            with self._monitoring.hidden():
                self._replayer.run(session.tape)
            return RunEnd(spec, Outcome(Status.REJECTED, forked.outcome.steps), None, began)
        seconds = monotonic() - began if forked.outcome.status is Status.DONE else 0.0
        return RunEnd(spec, forked.outcome, None, began, seconds, forked)


class Sample:
    """Takes runs 1, 4, 16, 64 and so on, then one in ``EACH``; which ones does not depend on the clock."""

    def __init__(self) -> None:
        self._each = EACH
        self._next = 1

    def takes(self, run_id: int, kept: list[Any]) -> bool:
        """Return True if this run should be kept. Make room for it first: of too many, every second one is dropped."""
        if run_id < self._next:
            return False
        if len(kept) >= KEPT_MAX:
            del kept[1::2]
            self._each *= 2
        self._next = run_id + min(3 * run_id, self._each)
        return True

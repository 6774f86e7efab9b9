"""One exploration: runs, learns from what they show, confirms and shrinks what fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis.stateful import RuleBasedStateMachine

from ordeal import _native
from ordeal._hypothesis import GlobalRandoms, RunContext
from ordeal.bucket import Bucketer
from ordeal.class_seeds import ClassSeeds
from ordeal.driver import RULE, Driver, Outcome, Status
from ordeal.errors import MachineError, OrdealError, TargetError
from ordeal.example_database import save_to_database
from ordeal.findings import Finding, Findings, Verdict
from ordeal.fresh_process import FreshProcess, confirm_fresh
from ordeal.gaps import Gaps, find_gaps
from ordeal.machine import is_importable
from ordeal.path_shrinking import shrink_paths
from ordeal.property_watch import PropertyWatch
from ordeal.recorder import RunRecorder
from ordeal.replayer import Replayer, ShrinkProgress
from ordeal.reporting import swarm_text
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot, ShrinkSnapshot, StoppedReason
from ordeal.saver import Learnt, Saver
from ordeal.snapshot import Snapshot, SnapshotError, Snapshots
from ordeal.swarm import plan_of
from ordeal.targets import Target
from ordeal.trace_file import Trace
from ordeal.tracer import Origin, TraceMaker

#: The first runs count every event, to learn what the targets look like before a level is chosen.
WARM_UP_RUNS = 20
#: Up to this many events a step, counting them all costs less than a tenth of a step.
COUNTED_EVENTS_PER_STEP_MAX = 50
#: How often silenced locations are armed again, in runs.
FULL_RUN_PERIOD = 100
#: How often the swarm is told which rules touch files with gaps, in runs.
DIRECT_PERIOD = 50
#: Above this share of rejected runs the user is told.
REJECTED_SHARE_MAX = 0.5
TRACES_MAX = 10_000

Progress = Callable[[ProgressSnapshot], object]
ShrinkTold = Callable[[ShrinkSnapshot], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one exploration, all checked."""

    test_class: str
    seed: int
    max_checkpoints: int
    checkpoint_prob: float
    checkpoint_strategy: str
    fault_toggle_prob: float
    seed_mutation_prob: float
    buggify_prob: float
    steps_per_run: int
    rule_swarm: bool
    swarm: str
    coverage: str
    max_time: float
    max_runs: int | None
    patience: int
    shrink: bool
    max_shrink_time: float
    confirm_fresh: bool
    record_traces: bool
    progress: Progress | None
    shrink_progress: ShrinkTold | None
    save_state_to: Path | None
    resume_from: Path | None
    corpus_dir: Path | None
    rule_timeout: float | None


@dataclass(slots=True)
class Tally:
    """What the report counts."""

    runs: int = 0
    steps: int = 0
    rejected: int = 0
    stuck: int = 0
    unconfirmed: int = 0
    barren_runs: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Remember something that the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)


class Exploration:
    """Drives one session. Used once; not thread-safe."""

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target], workers: int) -> None:
        self._settings = settings
        self._driver = driver
        self._targets = targets
        self._randoms = GlobalRandoms()
        self._bucketer = Bucketer([t.path for t in targets])
        self._replayer = Replayer(driver, self._bucketer, self._randoms)
        self._coverage = _native.CoverageMap()
        definition = driver.definition
        self._session = _native.Session(
            (len(definition.rules), len(definition.initializers), len(driver.faults)),
            self._coverage,
            seed=settings.seed,
            max_checkpoints=settings.max_checkpoints,
            checkpoint_prob=settings.checkpoint_prob,
            checkpoint_strategy=settings.checkpoint_strategy,
            fault_toggle_prob=settings.fault_toggle_prob,
            seed_mutation_prob=settings.seed_mutation_prob,
            steps_per_run=settings.steps_per_run,
            rule_swarm=settings.rule_swarm,
            swarm=settings.swarm,
            operations=plan_of(definition.cls).operations(rule.name for rule in definition.rules),
            pair_features=not targets,
        )
        self._snapshots = Snapshots(definition.cls, driver.factory, driver.faults, self._randoms)
        self._kept: dict[int, Snapshot] = {}
        self._returning = False  # to a checkpoint of an earlier process, which has no snapshot in this one
        self._monitor: _native.Monitor | None = None
        self._tally = Tally()
        if workers > 1:
            self._tally.note(f"{workers} workers were asked for; this version explores in one process.")
        self._maker = TraceMaker(
            settings.test_class,
            settings.seed,
            definition,
            driver.faults,
            targets=targets,
            rule_timeout=settings.rule_timeout,
        )
        self._findings = Findings(self._replayer, self._maker)
        self._watch = PropertyWatch()
        self._learnt = Learnt(self._tally, self._findings, self._watch)
        self._saver = Saver(settings, driver, targets, self._session)
        self._seeds = ClassSeeds(settings.corpus_dir, settings.test_class, driver, self._findings)
        self._fresh = self._fresh_process()
        self._has_news = False  # the run that is under way brought something new
        self._started = 0.0
        self._stopped: StoppedReason = "time"

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report."""
        self._started = time.perf_counter()
        self._saver.check()
        with self._randoms.managed(), self._driver.watchdog.watching(), self._watch.recording():
            try:
                self._start_monitor()
                self._saver.resume(self._learnt, self._monitor)
                with self._watch.counting():
                    self._stopped = self._explore()
                # Before shrinking: a resumed exploration shrinks what it finds in the end, as one without a break does.
                self._saver.save(self._learnt, self._monitor)
            finally:
                self._stop_monitor()
            if self._settings.shrink:
                self._shrink_all()
            failures = self._save_seeds(self._confirm_fresh(self._findings.failures()))
            traces = self._traces(failures) if self._settings.record_traces else []
        self._save_to_database()
        return self._result(failures, traces)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _explore(self) -> StoppedReason:
        settings = self._settings
        try:
            self._replay_seeds()
            until = time.perf_counter() + settings.max_time
            while True:
                if settings.max_runs is not None and self._tally.runs >= settings.max_runs:
                    return "max_runs"
                if time.perf_counter() >= until:
                    return "time"
                if self._tally.runs == WARM_UP_RUNS and not self._tally.steps:
                    self._tally.note(f"Each of the first {WARM_UP_RUNS} runs ended before its first step.")
                    return "stuck"
                if settings.patience and self._tally.barren_runs >= settings.patience:
                    return "patience"
                self._one_run()
                self._saver.save_when_due(self._learnt, self._monitor)
                if settings.progress is not None:
                    settings.progress(self._progress())
        except KeyboardInterrupt:
            self._end_broken_run()
            return "interrupted"
        except OrdealError as error:
            if not self._findings:
                raise
            # What was found is worth more than the end of the exploration.
            self._end_broken_run()
            self._tally.note(f"Exploring stopped in run {self._tally.runs + 1}: {error.message}.")
            return "stuck"

    def _end_broken_run(self) -> None:
        if self._session.running:
            self._session.end_run()

    def _one_run(self) -> None:
        session, tally = self._session, self._tally
        plan = session.begin_run()
        self._has_news = False
        self._tune(plan.run_id)
        self._watch.begin_run()
        self._randoms.reseed()
        snapshot = self._kept.get(plan.checkpoint) if plan.checkpoint else None
        replayed_steps = 0
        if snapshot is not None:
            session.restored()
            kept = snapshot
            outcome = self._driver.execute(session, learner=self, restore=lambda run: self._restore(kept, run))
        elif plan.checkpoint and self._learnt.kind == "copy":
            replayed_steps = plan.prefix_steps
            outcome = self._return_and_execute()
        else:
            outcome = self._driver.execute(session, learner=self)
        session.end_run()
        tally.runs += 1
        tally.steps += max(0, outcome.steps - replayed_steps)
        edges = session.edges_in_run
        tally.barren_runs = 0 if edges or self._has_news else tally.barren_runs + 1
        if outcome.stuck:
            tally.stuck += 1
            if outcome.steps == 0 and not plan.checkpoint:
                raise MachineError(outcome.stuck, hint="a rule must be able to run from a fresh machine")
        if outcome.status is Status.REJECTED:
            tally.rejected += 1
            return
        origin = Origin(plan.run_id, plan.checkpoint, session.configuration(), edges, session.weights)
        if outcome.status is Status.FAILED:
            self._failed(outcome, origin, from_copy=snapshot is not None)
        elif edges and self._settings.record_traces and len(self._learnt.productive) < TRACES_MAX:
            self._learnt.productive.append((origin, session.tape))

    def _return_and_execute(self) -> Outcome:
        """Run to a checkpoint of an earlier process as unseen as restoring its snapshot would be, and on from there."""
        self._set_returning(True)
        try:
            return self._driver.execute(self._session, learner=self)
        finally:
            self._set_returning(False)

    def _set_returning(self, returning: bool) -> None:
        self._returning = returning
        self._set_paused(returning)

    def _step_of_return(self, run: RunContext, state_hash: int) -> None:
        self._session.done(state_hash)
        if not self._session.prefix_left:
            self._set_returning(False)
            self._take_snapshot(self._session.plan.checkpoint, run)

    def _restore(self, snapshot: Snapshot, run: RunContext) -> RuleBasedStateMachine:
        machine = self._snapshots.restore(snapshot, run)
        for fault, on in zip(self._driver.faults, self._session.faults_on, strict=True):
            if on:
                fault.activate()
        return machine

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """The driver tells of a step that ended well; what it brought may make it a checkpoint."""
        if self._returning:
            self._step_of_return(run, state_hash)
            return
        if self._settings.rule_swarm and self._monitor is not None and code & 7 == RULE:
            touched = self._monitor.take_files()
            if touched:
                self._learnt.rule_files.setdefault(code >> 3, set()).update(touched)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        news = self._session.done(state_hash, len(nearer)) if nearer else self._session.done(state_hash)
        if news and not self._session.replaying_prefix:
            self._has_news = True
            self._keep(run, nearer, alone=news == len(nearer))

    def _keep(self, run: RunContext, nearer: Sequence[str], *, alone: bool) -> None:
        """Keep the state as a checkpoint: for the properties that came ``nearer``, and when not ``alone`` for more."""
        checkpoint, evicted = self._session.keep()
        for outdone in self._watch.outdone(nearer, checkpoint if alone else 0):
            self._session.supersede(outdone, checkpoint)
        if evicted is not None:
            self._kept.pop(evicted, None)
        if checkpoint and evicted != checkpoint:
            self._take_snapshot(checkpoint, run)

    def _take_snapshot(self, checkpoint: int, run: RunContext) -> None:
        if self._learnt.kind != "copy":
            return
        try:
            self._kept[checkpoint] = self._snapshots.take(run)
        except SnapshotError as error:
            self._use_replay(f"its state cannot be copied ({error})")

    def _use_replay(self, why: str) -> None:
        self._learnt.kind = "replay"
        self._kept.clear()
        name = self._driver.definition.cls.__name__
        self._tally.note(f"Checkpoints of {name} are reached by running their steps again: {why}.")

    # -- coverage -----------------------------------------------------------------------------------------------------

    def _start_monitor(self) -> None:
        if self._targets:
            targets = [(t.name, t.path, t.is_package) for t in self._targets]
            self._monitor = _native.Monitor(
                self._coverage, targets, level="novelty" if self._settings.coverage == "novelty" else "counts"
            )
            try:
                self._monitor.start()
            except _native.CoreError as error:
                raise TargetError(f"the target modules cannot be watched: {error}") from error

    def _stop_monitor(self) -> None:
        if self._monitor is not None:
            self._monitor.stop()

    @contextmanager
    def _unwatched(self) -> Iterator[None]:
        """Hide replays: what the exploration learns must not hang on how often something is replayed.

        With it, the runs are the same whether a failure is new to this exploration or known from a seed.
        """
        self._set_paused(True)
        try:
            yield
        finally:
            self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        self._watch.set_paused(paused)
        if self._monitor is not None:
            self._monitor.set_paused(paused)

    def _tune(self, run_id: int) -> None:
        """Choose the level by what the first runs showed. By counts, never by time: the same seed must choose alike."""
        monitor = self._monitor
        if monitor is None:
            return
        full = run_id % FULL_RUN_PERIOD == 0
        if self._settings.coverage == "auto" and run_id == WARM_UP_RUNS + 1 and self._counting_is_costly(monitor):
            monitor.set_level("novelty")
        monitor.begin_run(full=full)
        if self._settings.rule_swarm and run_id > WARM_UP_RUNS and run_id % DIRECT_PERIOD == 1:
            self._direct_swarm(monitor)

    def _counting_is_costly(self, monitor: _native.Monitor) -> bool:
        return monitor.events > COUNTED_EVENTS_PER_STEP_MAX * max(self._tally.steps, 1)

    def _direct_swarm(self, monitor: _native.Monitor) -> None:
        files = monitor.files()
        with_gaps = {gap["path"] for gap in self._gaps().gaps}
        near = [False] * len(self._driver.definition.rules)
        for rule, touched in self._learnt.rule_files.items():
            near[rule] = any(files[file] in with_gaps for file in touched)
        if any(near):
            self._session.direct_swarm(near)

    def _gaps(self) -> Gaps:
        lines = self._monitor.lines() if self._monitor is not None else {}
        return find_gaps(self._targets, lines)

    # -- failures -----------------------------------------------------------------------------------------------------

    def _failed(self, outcome: Outcome, origin: Origin, *, from_copy: bool) -> None:
        assert outcome.error is not None
        bucket = self._bucketer.bucket(outcome.error)
        if self._findings.count(bucket):
            return
        finding = Finding(bucket, self._session.tape, origin, outcome.error)
        with self._unwatched():
            verdict = self._findings.add(finding, from_copy=from_copy)
        if verdict in (Verdict.UNFAITHFUL, Verdict.DROPPED):
            self._tally.unconfirmed += 1
        if verdict is Verdict.UNFAITHFUL and self._learnt.kind == "copy":
            self._use_replay(f"a failure from a copy ({bucket}) did not happen from a fresh machine")

    def _replay_seeds(self) -> None:
        with self._unwatched():
            self._seeds.replay()

    def _fresh_process(self) -> FreshProcess | None:
        settings = self._settings
        if not settings.confirm_fresh or not is_importable(self._driver.factory, settings.test_class):
            return None
        return FreshProcess(
            target_modules=[target.name for target in self._targets],
            rule_timeout=self._driver.rule_timeout,
            seconds=settings.max_shrink_time,
        )

    def _confirm_fresh(self, failures: list[Failure]) -> list[Failure]:
        """See which failures a fresh process shows as well: what runs leave behind may fail each time in this one."""
        if self._fresh is None or not failures:
            return failures
        with self._interruptible("No failure was confirmed in a fresh process: that was interrupted."):
            failures, notes = confirm_fresh(self._fresh, self._findings.all(), failures)
            for note in notes:
                self._tally.note(note)
        return failures

    def _save_seeds(self, failures: list[Failure]) -> list[Failure]:
        failures, notes = self._seeds.save(failures)
        for note in notes:
            self._tally.note(note)
        return failures

    def _save_to_database(self) -> None:
        """Let plain pytest find the failures too."""
        if self._settings.corpus_dir is None:
            return
        tapes = [finding.tape for finding in self._findings.all() if not finding.flaky]
        with self._interruptible("Not all failures were saved for plain pytest: that was interrupted."):
            for reason in save_to_database(self._driver, tapes).reasons:
                self._tally.note(reason)

    def _shrink_all(self) -> None:
        with self._interruptible("Shrinking was interrupted: some traces are longer than need be."):
            for bucket in self._findings.shrink(self._settings.max_shrink_time, self._tell_of_shrinking):
                limit = f"{self._settings.max_shrink_time:g} s"
                self._tally.note(f"Shrinking of {bucket} stopped after {limit}, before its trace was minimal.")

    @contextmanager
    def _interruptible(self, note: str) -> Iterator[None]:
        """Let Ctrl-C end what comes after the runs, and nothing more: what was found is worth more."""
        try:
            yield
        except KeyboardInterrupt:
            self._stopped = "interrupted"
            self._tally.note(note)

    def _tell_of_shrinking(self, number: int, total: int, steps_before: int, now: ShrinkProgress) -> None:
        if self._settings.shrink_progress is not None:
            self._settings.shrink_progress(
                ShrinkSnapshot(self._elapsed(), number, total, steps_before, now.steps, now.candidates)
            )

    def _traces(self, failures: list[Failure]) -> list[Trace]:
        """Traces of the failures and of all runs that reached new code."""
        traces = [failure.trace for failure in failures if failure.trace is not None]
        with self._interruptible("Not all runs that reached new code have a trace: that was interrupted."):
            for origin, tape in self._paths():
                recorder = RunRecorder()
                replayed = self._replayer.run(tape, recorder)
                traces.append(self._maker.make(origin, replayed.tape, recorder))
        return traces

    def _paths(self) -> list[tuple[Origin, _native.Tape]]:
        """The runs that reached new code, each shrunk to the steps that reach it."""
        productive = self._learnt.productive
        if not productive or not self._settings.shrink:
            return productive
        paths = shrink_paths(self._replayer, self._targets, [tape for _, tape in productive])
        return [(productive[path.number][0], path.tape) for path in paths]

    # -- the result ---------------------------------------------------------------------------------------------------

    def _elapsed(self) -> float:
        """Seconds, those of the processes before a resume included."""
        return self._learnt.seconds_before + time.perf_counter() - self._started

    def _progress(self) -> ProgressSnapshot:
        elapsed = self._elapsed()
        return ProgressSnapshot(
            elapsed=elapsed,
            total_runs=self._tally.runs,
            total_steps=self._tally.steps,
            unique_edges=self._coverage.edges_seen,
            checkpoints=self._session.checkpoints,
            failures=len(self._findings),
            runs_per_second=self._tally.runs / elapsed if elapsed > 0 else 0.0,
        )

    def _note_what_was_odd(self, gaps: Gaps) -> None:
        tally = self._tally
        if tally.stuck:
            tally.note(
                f"{tally.stuck} of {tally.runs} runs ended early, in a state where no rule could run; "
                "pytest takes such a state for an error in the machine."
            )
        if tally.runs >= WARM_UP_RUNS and tally.rejected > REJECTED_SHARE_MAX * tally.runs:
            tally.note(
                f"{tally.rejected} of {tally.runs} runs were rejected by assume() or a filter: "
                "most of the work is lost, so draw what the rules accept."
            )
        if self._targets and not self._coverage.edges_seen:
            names = ", ".join(target.name for target in self._targets)
            tally.note(f"No code of the target modules ({names}) ran: check that the rules call them.")
        for path in gaps.unreadable:
            tally.note(f"{path} is no valid Python, so its coverage is not known.")
        if self._monitor is not None and self._monitor.error is not None:
            tally.note(f"Some code was not traced: {self._monitor.error}.")

    def _result(self, failures: list[Failure], traces: list[Trace]) -> ExplorationResult:
        gaps = self._gaps()
        self._note_what_was_odd(gaps)
        return ExplorationResult(
            test_class=self._settings.test_class,
            rng_seed=self._settings.seed,
            total_runs=self._tally.runs,
            total_steps=self._tally.steps,
            unique_edges=self._coverage.edges_seen,
            checkpoints_saved=self._session.checkpoints_saved,
            duration_seconds=self._elapsed(),
            failures=failures,
            traces=traces,
            seed_replays=self._seeds.outcomes,
            properties=self._watch.results,
            reliability_cells=self._watch.cells,
            coverage_gaps=[{k: gap[k] for k in ("file", "line", "code")} for gap in gaps.gaps],
            lines_covered=gaps.lines_covered,
            lines_total=gaps.lines_total,
            stopped_reason=self._stopped,
            snapshot_kind=self._learnt.kind,
            swarm_summary=swarm_text(self._session.swarm_counts()) if self._settings.rule_swarm else "",
            rejected_runs=self._tally.rejected,
            unconfirmed=self._tally.unconfirmed,
            notes=tuple(self._tally.notes),
        )

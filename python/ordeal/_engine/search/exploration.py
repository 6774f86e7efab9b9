"""One exploration: runs, learns from what they show, confirms and shrinks what fails."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from hypothesis.stateful import RuleBasedStateMachine

from ordeal import _native
from ordeal._engine.buggify_state import many_runs
from ordeal._engine.coverage.gaps import files_with_gaps
from ordeal._engine.coverage.targets import Source, Target
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import INITIALIZE, RULE, Driver, Outcome, Status
from ordeal._engine.execution.fork_server import Ending, Seen, Surroundings
from ordeal._engine.execution.settings import Settings, Tally
from ordeal._engine.execution.snapshot import Snapshot, Snapshots
from ordeal._engine.export.example_database import save_to_database
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.properties.observations import Observations
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.path_shrinking import path_traces
from ordeal._engine.replay.replayer import Replayer, ShrinkProgress
from ordeal._engine.replay.trace_builder import Origin, TraceMaker
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal._engine.search.dictionary import ValueSources
from ordeal._engine.search.result_builder import WARM_UP_RUNS, Totals, make_result
from ordeal._engine.search.state import Learnt, Saver
from ordeal._engine.storage.trace_file import Trace
from ordeal._engine.triage.findings import Finding, Findings, Verdict
from ordeal._engine.triage.fresh_interpreter import confirm_fresh, fresh_process_of
from ordeal._engine.triage.records import error_of_elsewhere
from ordeal._engine.triage.seeds import ClassSeeds, save_again
from ordeal._hypothesis import GlobalRandoms, RunContext, given_up
from ordeal.errors import MachineError, OrdealError, TargetError
from ordeal.result import Discovery, ExplorationResult, Failure, ProgressSnapshot, ShrinkSnapshot, StoppedReason
from ordeal.swarm.weights import plan_of

#: Up to this many events a step, counting them all costs less than a tenth of a step.
COUNTED_EVENTS_PER_STEP_MAX = 50
#: How often silenced locations are armed again, in runs.
FULL_RUN_PERIOD = 100
#: How often the swarm is told which rules touch files with gaps, in runs.
DIRECT_PERIOD = 50
#: The same where a bandit decides how often that is used at all: looking for gaps takes as long as many runs.
ADAPTIVE_DIRECT_PERIOD = 500
TRACES_MAX = 10_000


class Exploration:
    """Drives one session. Used once; not thread-safe."""

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target]) -> None:
        self._settings = settings
        self._driver = driver
        self._targets = targets
        self._tally = Tally()
        self._folder = WorkingFolder(self._tally.note)
        self._randoms = GlobalRandoms()
        self._bucketer = Bucketer([t.path for t in targets])
        self._replayer = Replayer(driver, self._bucketer, self._randoms)
        self._coverage = _native.CoverageMap()
        definition = driver.definition
        self._session = _native.Session(
            (len(definition.rules), len(definition.initializers), len(driver.faults)),
            self._coverage,
            operations=plan_of(definition.cls).operations(rule.name for rule in definition.rules),
            pair_features=not targets,
            **settings.core_options(),
        )
        self._returning = False  # to a checkpoint of an earlier process, which has no snapshot in this one
        self._monitor: _native.Monitor | None = None
        self._plans_given_up = len(given_up)
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
        self._observations = Observations(self._session, self._watch)
        self._learnt = Learnt(self._tally, self._findings, self._watch)
        self._values = ValueSources(self._session, targets, self._replayer, settings.comparison_tracing == "auto")
        self._checkpoints = self._make_checkpoints()
        self._saver = Saver(settings, driver, targets, self._session, self._folder)
        self._seeds = ClassSeeds(settings.corpus_dir, settings.test_class, driver)
        self._fresh = fresh_process_of(settings, driver, targets)
        self._ending: Ending | None = None  # of the latest run, where that was in another process
        self._return_began = 0.0  # by time.perf_counter()
        self._has_news = False  # the run that is under way brought something new
        self._learns_files = False  # in it, which rule touches which file
        self._started = 0.0
        self._stopped: StoppedReason = "time"

    def _make_checkpoints(self) -> Checkpoints:
        targets = [(t.name, t.path, t.is_package) for t in self._targets]
        if targets:
            level = "novelty" if self._settings.coverage == "novelty" else "counts"
            self._monitor = _native.Monitor(self._coverage, targets, level=level)
        driver = self._driver
        around = Surroundings(driver, self._randoms, self._bucketer, self._coverage, self._monitor, self._watch)
        snapshots = Snapshots(driver.definition.cls, driver.factory, driver.faults, self._randoms)
        return Checkpoints(self._settings.checkpoint_kind, around, snapshots, self._learnt)

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report."""
        self._saver.check()
        with self._prepared():
            self._search()
            if self._settings.shrink:
                self._shrink_all()
            failures = self._save_seeds(self._confirm_fresh(self._findings.failures()))
            traces = self._traces(failures) if self._settings.record_traces else []
        self._save_to_database()
        self._look_after(failures)
        return self._result(failures, traces)

    def _look_after(self, failures: Sequence[Failure]) -> None:
        """What the user's code has done to the folder of all that was written, while it ran after that."""
        self._folder.restore()
        self._saver.save_again(self._tally)
        for note in save_again(failures):
            self._tally.note(note)

    # -- runs ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _prepared(self) -> Iterator[None]:
        """Have all that runs of the user's code depend on set up while the block runs."""
        self._started = time.perf_counter()
        with self._randoms.managed(), self._driver.watchdog.watching(), self._watch.recording(), many_runs():
            yield

    def _search(self) -> None:
        """Make runs until they are to end, from where a saved state left off, and save where they came to."""
        try:
            self._start_monitor()
            self._saver.resume(self._learnt, self._monitor)
            with self._watch.counting(), self._checkpoints.open():
                self._stopped = self._explore()
            self._folder.restore()
            # Before shrinking: a resumed exploration shrinks what it finds in the end, as one without a break does.
            self._saver.save(self._learnt, self._monitor)
        finally:
            self._stop_monitor()

    def _explore(self) -> StoppedReason:
        settings = self._settings
        try:
            self._replay_seeds()
            until = time.perf_counter() + settings.max_time
            while True:
                if (stopped := self._between_runs()) is not None:
                    return stopped
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

    def _between_runs(self) -> StoppedReason | None:
        """Before each run: why the exploration is to end now, which one that is alone never knows."""
        return None

    def _end_broken_run(self) -> None:
        if self._session.running:
            self._session.end_run()

    def _one_run(self) -> None:
        session, tally = self._session, self._tally
        if tally.runs >= WARM_UP_RUNS and not self._values.has_constants:
            self._values.add_constants()
        plan = session.begin_run()
        self._has_news = False
        self._tune(plan.run_id)
        self._watch.begin_run()
        self._observations.begin_run()
        self._randoms.reseed()
        snapshot = self._checkpoints.copy_of(plan.checkpoint)
        replayed_steps = 0
        self._ending = None
        if snapshot is not None:
            outcome = self._execute_from(snapshot)
        elif self._checkpoints.is_held(plan.checkpoint):
            outcome = self._execute_in_fork()
        elif plan.checkpoint:
            replayed_steps = plan.prefix_steps
            outcome = self._return_and_execute()
        else:
            outcome = self._driver.execute(session, learner=self)
        session.end_run()
        if self._monitor is not None and self._values.are_due:
            with self._unwatched():
                self._values.gather(self._monitor)
        tally.runs += 1
        tally.steps += max(0, outcome.steps - replayed_steps)
        edges = session.edges_in_run
        tally.barren_runs = 0 if edges or self._has_news else tally.barren_runs + 1
        if outcome.stuck:
            tally.stuck += 1
            if outcome.steps == 0 and not plan.checkpoint:
                raise MachineError(outcome.stuck, hint="a rule must be able to run from a fresh machine")
        if snapshot is not None and self._checkpoints.is_check_due():
            with self._unwatched():
                self._checkpoints.check(snapshot, session.tape, plan.prefix_steps, outcome)
        if outcome.status is Status.REJECTED:
            tally.rejected += 1
            return
        is_productive = edges and self._settings.record_traces and len(self._learnt.productive) < TRACES_MAX
        if outcome.status is not Status.FAILED and not is_productive:
            return
        origin = Origin(plan.run_id, plan.checkpoint, session.configuration(), edges, session.weights)
        if outcome.status is Status.FAILED:
            self._failed(outcome, origin, from_copy=snapshot is not None or self._ending is not None)
        else:
            self._learnt.productive.append((origin, session.tape))

    def _execute_from(self, snapshot: Snapshot) -> Outcome:
        """Run from a copy of a state."""
        self._session.restored()

        def restore(run: RunContext) -> RuleBasedStateMachine:
            return self._checkpoints.restore(snapshot, run, self._session.faults_on)

        return self._driver.execute(self._session, learner=self, restore=restore)

    def _execute_in_fork(self) -> Outcome:
        """Run from a state that a process holds, in a process of its own."""
        self._session.restored()
        ending = self._checkpoints.run_held(self._session.plan.checkpoint, self._session, self)
        if ending is None:
            return Outcome(Status.REJECTED, 0)
        if ending.raised:
            # What ends an exploration is raised here as well, where it belongs.
            with self._unwatched():
                self._replayer.run(self._session.tape)
            return Outcome(Status.REJECTED, ending.outcome.steps)
        self._ending = ending
        return ending.outcome

    def _return_and_execute(self) -> Outcome:
        """Run to a checkpoint as unseen as restoring a snapshot of it would be, and on from there."""
        self._return_began = time.perf_counter()
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
            plan = self._session.plan
            seconds = time.perf_counter() - self._return_began
            self._checkpoints.returned(plan.checkpoint, run, plan.prefix_steps, seconds)

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """The driver tells of a step that ended well; what it brought may make it a checkpoint."""
        if self._returning:
            self._step_of_return(run, state_hash)
            return
        self._learn(run, code, state_hash)

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        """A run in another process tells of a step that ended well."""
        self._take_in(seen)
        self._learn(seen, code, state_hash)

    def done_seen(self, seen: Seen) -> None:
        """A run in another process tells that it has ended well, teardown included."""
        self._take_in(seen)
        self.run_done(seen)

    def end_seen(self, seen: Seen) -> None:
        """A run in another process has ended."""
        self._take_in(seen)

    def _take_in(self, seen: Seen) -> None:
        monitor = self._monitor
        self._coverage.add_hits(seen.hits, counted=monitor is not None and monitor.level == "counts")
        self._watch.absorb(seen.properties)
        if monitor is not None:
            monitor.restore(seen.lines, list(range(len(seen.lines))), [], monitor.events + seen.ticks)

    def _learn(self, run: RunContext | Seen, code: int, state_hash: int) -> None:
        """What a step of ``run`` brought, or of a run in another process."""
        if self._learns_files and self._monitor is not None and code & 7 == RULE:
            touched = self._monitor.take_files()
            if touched:
                self._learnt.rule_files.setdefault(code >> 3, set()).update(touched)
        self._observations.look(run)
        self._tell_sizes(run, code)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        news = self._session.done(state_hash, len(nearer)) if nearer else self._session.done(state_hash)
        if news and not self._session.replaying_prefix:
            self._has_news = True
            self._keep(run if isinstance(run, RunContext) else None, nearer, alone=news == len(nearer))

    def _tell_sizes(self, run: RunContext | Seen, code: int) -> None:
        """How many values the bundles hold that the step may have changed. The step loop has told it before."""
        if code & 7 > INITIALIZE:
            return
        definition = self._driver.definition
        rule = (definition.rules if code & 7 == RULE else definition.initializers)[code >> 3]
        for number, name in rule.fills:
            held = run.machine.bundles.get(name, ()) if isinstance(run, RunContext) else range(run.sizes.get(name, 0))
            self._session.bundle_size(number, len(held))

    def run_done(self, run: RunContext | Seen) -> None:
        """The driver tells that a run has ended well, teardown included: what that showed is the last step's merit."""
        self._observations.look(run)
        nearer = self._watch.take_nearer() if self._watch.nearer else ()
        news = self._session.finished(len(nearer))
        if news and len(self._session.tape) and not self._session.prefix_left:
            self._has_news = True
            self._keep(None, nearer, alone=news == len(nearer))

    @property
    def learns_each_step(self) -> bool:
        """Whether this run returns to a checkpoint, or which files the steps touch matters."""
        return self._returning or self._learns_files

    @property
    def nearer(self) -> dict[str, None]:
        """Where the names of the properties that came nearer lie until a step has ended."""
        return self._watch.nearer

    def news(self, run: RunContext) -> None:
        """The step loop tells of a step that brought something new, and nothing else."""
        self._has_news = True
        self._keep(run, (), alone=False)

    def _keep(self, run: RunContext | None, nearer: Sequence[str], *, alone: bool) -> None:
        """Keep the state as a checkpoint: for the properties that came ``nearer``, and when not ``alone`` for more."""
        checkpoint, evicted = self._session.keep()
        for outdone in self._watch.outdone(nearer, checkpoint if alone else 0):
            self._session.supersede(outdone, checkpoint)
        if evicted is not None:
            self._checkpoints.forget(evicted)
        if checkpoint and evicted != checkpoint and run is not None:
            self._checkpoints.take(checkpoint, run)

    # -- coverage -----------------------------------------------------------------------------------------------------

    def _start_monitor(self) -> None:
        if self._monitor is not None:
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
            self._coverage.forget_sample()  # from here on other events count, in fewer runs
        monitor.begin_run(full=full)
        by_bandit = self._settings.rule_swarm is None and self._session.learns_swarm
        self._learns_files = self._session.learns_swarm and (full or not by_bandit)
        if by_bandit and self._learns_files:
            monitor.take_files()  # They are of runs before.
        period = ADAPTIVE_DIRECT_PERIOD if by_bandit else DIRECT_PERIOD
        if self._session.learns_swarm and run_id > WARM_UP_RUNS and run_id % period == 1:
            self._direct_swarm(monitor)

    def _counting_is_costly(self, monitor: _native.Monitor) -> bool:
        return monitor.events > COUNTED_EVENTS_PER_STEP_MAX * max(self._tally.steps, 1)

    def _direct_swarm(self, monitor: _native.Monitor) -> None:
        files = monitor.files()
        with_gaps = files_with_gaps(self._sources, monitor.lines())
        near = [False] * len(self._driver.definition.rules)
        for rule, touched in self._learnt.rule_files.items():
            near[rule] = any(files[file] in with_gaps for file in touched)
        if any(near):
            self._session.direct_swarm(near)

    @cached_property
    def _sources(self) -> list[Source]:
        """Those of the targets, as they are when they are asked for first."""
        return list(dict.fromkeys(source for target in self._targets for source in target.sources()))

    # -- failures -----------------------------------------------------------------------------------------------------

    def _failed(self, outcome: Outcome, origin: Origin, *, from_copy: bool) -> None:
        finding = self._finding(outcome, origin)
        if self._findings.count(finding.bucket):
            return
        seen_in = finding.bucket
        with self._unwatched():
            verdict = self._findings.add(finding, from_copy=from_copy)
        if verdict in (Verdict.UNFAITHFUL, Verdict.DROPPED):
            self._tally.unconfirmed += 1
        if verdict in (Verdict.CONFIRMED, Verdict.FLAKY):
            self._tell_of_finding(finding)
        if verdict is Verdict.UNFAITHFUL and self._learnt.kind == "copy":
            self._checkpoints.stop_copying(f"a failure from a copy ({seen_in}) did not happen from a fresh machine")

    def _tell_of_finding(self, finding: Finding) -> None:
        """Of a new one that was confirmed. One that explores alone keeps it until the end."""

    def _finding(self, outcome: Outcome, origin: Origin) -> Finding:
        ending = self._ending
        if ending is not None:
            error = error_of_elsewhere(ending.error_type, ending.error_text)
            return Finding(ending.bucket, self._session.tape, origin, error, error_traceback=ending.traceback)
        assert outcome.error is not None
        return Finding(self._bucketer.bucket(outcome.error), self._session.tape, origin, outcome.error)

    def _replay_seeds(self) -> None:
        with self._unwatched():
            self._seeds.replay(self._findings)

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
        self._folder.restore()
        failures, notes = self._seeds.save(self._findings.all(), failures)
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
            traces.extend(
                path_traces(
                    self._replayer, self._maker, self._targets, self._learnt.productive, shrink=self._settings.shrink
                )
            )
        return traces

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

    def _totals(self) -> Totals:
        monitor = self._monitor
        return Totals(
            tally=self._tally,
            edges=self._coverage.edges_seen,
            checkpoints=self._session.checkpoints,
            checkpoints_saved=self._session.checkpoints_saved,
            snapshot_kind=self._learnt.kind,
            swarm=self._session.swarm_counts(),
            run_kinds=self._session.run_counts(),
            discovery=Discovery.of(self._session.discovery(), self._coverage.edges_seen),
            lines=monitor.lines() if monitor is not None else {},
        )

    def _note_what_was_untraced(self) -> None:
        if self._monitor is not None and self._monitor.error is not None:
            self._tally.note(f"Some code was not traced: {self._monitor.error}.")
        for note in given_up[self._plans_given_up :]:
            self._tally.note(note)

    def _result(self, failures: list[Failure], traces: list[Trace]) -> ExplorationResult:
        self._note_what_was_untraced()
        return make_result(
            self._settings,
            self._targets,
            self._totals(),
            failures=failures,
            traces=traces,
            seeds=self._seeds.outcomes,
            watch=self._watch,
            seconds=self._elapsed(),
            stopped=self._stopped,
        )

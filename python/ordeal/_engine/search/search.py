"""The search of one process: makes runs, learns from each, and confirms what fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from zlib import crc32

from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.buggify_state import many_runs
from ordeal._base.untrusted import remote_error, stand_in
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import place_of, traceback_text
from ordeal._engine.execution.driver import Driver, Outcome, Status
from ordeal._engine.execution.fork_messages import ForkedRunResult
from ordeal._engine.execution.fork_server import RunEnvironment
from ordeal._engine.execution.machine import machine_names
from ordeal._engine.execution.settings import Settings, Tally
from ordeal._engine.execution.snapshot import Snapshot, Snapshots
from ordeal._engine.isolation.child import Limits
from ordeal._engine.isolation.rule_limits import PATIENCE_MIN
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.crash_replayer import Crash, CrashReader, CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.search.checkpoints import Checkpoints, KeptState
from ordeal._engine.search.dictionary import Dictionary
from ordeal._engine.search.failure_time import FailureTime
from ordeal._engine.search.learning import Learning
from ordeal._engine.search.leftovers import Leftovers
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.result_builder import WARM_UP_RUNS, Totals
from ordeal._engine.search.sample import Sample
from ordeal._engine.search.search_listener import SearchListener
from ordeal._engine.search.session import make_session
from ordeal._engine.search.state import SearchProgress, SessionState
from ordeal._engine.search.uses import FaultUses, RuleUses
from ordeal._engine.triage.findings import Finding, Verdict
from ordeal._engine.triage.known import KnownFailures
from ordeal._engine.triage.messages import CheckFailed
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._hypothesis import GlobalRandoms, RunContext, given_up, unprinted_notes
from ordeal._native import monotonic
from ordeal.errors import MachineError, OrdealError
from ordeal.result import Discovery, StoppedReason

TRACES_MAX = 10_000


class Search:
    """Drives one session. Used once; not thread-safe.

    ``cuts_off`` ends a run that is under way when time is up. Without it, the last run finishes.
    """

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target], *, cuts_off: bool = False) -> None:
        self.settings = settings
        self.driver = driver
        self.targets = targets
        self.tally = Tally()
        self._sample = Sample() if settings.record_traces == "sample" else None
        self.folder = WorkingFolder(self.tally.note)
        self.randoms = GlobalRandoms()
        self.coverage = _native.CoverageMap()
        self.watch = PropertyWatch()
        self._cuts_off = cuts_off
        self.setup = setup = ReplaySetup(settings, driver, targets, Limits(0))
        self._bucketer = setup.bucketer()
        self.replayer = Replayer(driver, self._bucketer, self.randoms)
        self.findings = setup.findings(self.replayer)
        self.known = KnownFailures(settings.known)
        self.faults = FaultUses(driver.faults, getattr(driver.definition.cls, "world_reach", None))
        self.session = make_session(settings, driver, self.coverage, has_targets=bool(targets))
        self.rules = RuleUses(self.session, [rule.name for rule in driver.definition.rules])
        self.progress = SearchProgress(self.tally, self.findings, self.watch, self.faults, self.rules)
        rules = len(driver.definition.rules)
        self.monitoring = Monitoring(settings, targets, self.session, self.coverage, rules, self.faults)
        self.checkpoints = self._make_checkpoints()
        self._learning = Learning(driver, self.session, self.monitoring, self.watch, self.checkpoints, self.progress)
        traces_comparisons = settings.comparison_tracing == "auto"
        self._values = Dictionary(self.session, targets, self.replayer, traces_comparisons)
        self.session_state = SessionState(settings, machine_names(driver), targets, self.session, self.folder)
        self._given_up_before = len(given_up)
        self._ask_again = 0  # until this many runs, only time ends the search
        self.failure_time = FailureTime(self.session)
        self._part_began = 0.0  # of a run: its beginning, and then its latest step back
        self._ending: ForkedRunResult | None = None  # of the latest run, if that was in another process
        self._failed_in = ""  # the bucket of the latest run, if it failed
        self._edges_told = 0  # how many new edges of the run its failures were told with
        self._crash: Crash | None = None  # the same, if that process died before it could report
        self._listener: SearchListener | None = None
        self._leftovers: Leftovers | None = None  # of a worker: nobody else begins before the first run of a process
        if driver.isolated:
            self._leftovers = Leftovers([target.name for target in targets], driver.definition.cls.__module__)

    def _make_checkpoints(self) -> Checkpoints:
        driver = self.driver
        environment = RunEnvironment(driver, self.randoms, self._bucketer, self.monitoring.monitor, self.watch)
        snapshots = Snapshots(driver.definition.cls, driver.factory, driver.faults, self.randoms)
        # When the number of runs ends the search, nothing that a report shows may depend on the clock.
        by_steps = self.settings.max_runs is not None
        return Checkpoints(self.settings.checkpoint_kind, environment, snapshots, self.progress, by_steps=by_steps)

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Set up everything that runs of the user's code depend on, for the duration of the block."""
        with (
            self.randoms.managed(),
            self.driver.watchdog.watching(),
            self.watch.recording(),
            many_runs(),
            unprinted_notes(),
        ):
            yield

    def run(self, listener: SearchListener) -> StoppedReason:
        """Make runs from where a saved state left off until the search ends, and save the state."""
        self._listener = listener
        monitor = self.monitoring.monitor
        with self.monitoring.started():
            self.session_state.resume(self.progress, monitor)
            with self.watch.counting(), self.checkpoints.open():
                stopped = self._explore(listener)
            self.faults.stop()
            self.folder.restore()
            # Before shrinking: a resumed exploration shrinks its findings at the end, like one without interruption.
            self.session_state.save(self.progress, monitor)
        return stopped

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _explore(self, listener: SearchListener) -> StoppedReason:
        try:
            with self.monitoring.hidden():
                listener.begin()
            with self._within_time() as until, self._hurried():
                while True:
                    stopped = listener.between_runs() or self._reason_to_stop(until)
                    if stopped is not None:
                        return stopped
                    self._one_run()
                    self.session_state.save_when_due(self.progress, self.monitoring.monitor)
                    listener.run_made()
        except KeyboardInterrupt:
            if self.driver.isolated:
                raise  # raised by the code under test: the user's Ctrl-C does not reach this process
            self.end_broken_run()
            return "interrupted"
        except OutOfTime:
            listener.cut_off()
            self.end_broken_run()
            return "time"
        except OrdealError as error:
            if not self.findings:
                raise
            # The findings are worth more than a clean end of the exploration.
            self.end_broken_run()
            self.tally.note(f"Exploring stopped in run {self.tally.runs + 1}: {error.message}.")
            return "stuck"
        except _native.CheckError as error:
            failed = CheckFailed(f"Exploring in run {self.tally.runs + 1}", str(error)).text
            if not self.findings:
                raise OrdealError(failed.rstrip(".")) from error
            self.tally.note(failed)
            return "stuck"

    @contextmanager
    def _hurried(self) -> Iterator[None]:
        """Let no step of a rule take all the time of the search, during the block."""
        driver = self.driver
        if driver.limits.looks_for:
            driver.adapt_limits(PATIENCE_MIN)
        with driver.limits.hurried([rule.name for rule in (*driver.definition.rules, *driver.definition.initializers)]):
            yield

    @contextmanager
    def _within_time(self) -> Iterator[float]:
        """Yield the time, by monotonic(), until which runs may begin, and with ``cuts_off`` also continue."""
        deadline = monotonic() + self.settings.max_time
        ends: AbstractContextManager[object] = nullcontext()
        if self._cuts_off:
            ends = self.driver.watchdog.until(deadline)
        with ends:
            yield deadline

    def _reason_to_stop(self, until: float) -> StoppedReason | None:
        tally = self.tally
        reason = None
        if tally.runs >= self._ask_again:
            reason, self._ask_again = _native.RunPolicy.end(
                runs=tally.runs,
                steps=tally.steps,
                runs_without_new_features=tally.barren_runs,
                max_runs=self.settings.max_runs,
                patience=self.settings.patience,
            )
        if reason != "max_runs" and monotonic() >= until:
            return "time"
        if reason == "stuck":
            tally.note(f"Each of the first {WARM_UP_RUNS} runs ended before its first step.")
        return reason

    def end_broken_run(self) -> None:
        """Have the session forget a run that did not finish."""
        if self.session.running:
            self.session.end_run()

    def _one_run(self) -> None:
        session, tally = self.session, self.tally
        if tally.runs >= WARM_UP_RUNS:
            # Early finds need no constants, and no run waits for all of them.
            self._values.add_constants(tally.runs - WARM_UP_RUNS + 1)
        spec = session.begin_run()
        if self.monitoring.monitor is not None:
            self.monitoring.begin_run(spec.run_id, self.progress)
        self._learning.begin_run()
        self.watch.number_run(spec.run_id)
        self.faults.begin_run()
        self.randoms.reseed()
        checkpoint = spec.checkpoint
        snapshot = self.checkpoints.copy_of(checkpoint)
        self._ending = self._crash = None
        limits = self.driver.limits
        began = self._part_began = monotonic()
        if self.failure_time.took_long:
            self.failure_time.begin_run(began)
        replayed_steps = 0
        if snapshot is not None:
            outcome = self._execute_from(snapshot)
        elif self.checkpoints.has_fork_server(checkpoint):
            outcome = self._execute_in_fork()
        elif checkpoint:
            replayed_steps = spec.prefix_steps
            outcome = self._return_and_execute()
        else:
            outcome = self.driver.execute(session, listener=self._learning)
        tally.steps += max(0, outcome.steps - replayed_steps)
        had_step = outcome.steps > 0
        took = monotonic() - began if outcome.status is Status.DONE else 0.0
        if limits.expects_hangs and took:
            limits.learn_run(took)
        start = KeptState(snapshot, spec.prefix_steps) if snapshot is not None else None
        if outcome.status is Status.FAILED:
            outcome, start = self._step_back(outcome, start)
        # Where the number of runs ends the search, nothing that is explored may depend on the clock.
        session.end_run(took if self.settings.max_runs is None else 0.0)
        if self.monitoring.monitor is not None and self._values.are_due:
            self._learn_values(self.monitoring.monitor)
        tally.runs += 1
        edges = session.edges_in_run
        tally.barren_runs = 0 if edges or self._learning.has_new_features else tally.barren_runs + 1
        if outcome.stuck:
            tally.stuck += 1
            if not had_step and not checkpoint:
                raise MachineError(outcome.stuck, hint="a rule must be able to run from a fresh machine")
        self._check_kept_state(start, outcome)
        if edges or outcome.status is not Status.DONE or self._sample is not None:
            self._record_run(spec, outcome, edges)
            self.driver.let_go(outcome)

    def _check_kept_state(self, start: KeptState | None, outcome: Outcome) -> None:
        """Compare the run that has just ended with one from a fresh machine, now and then, if it began otherwise."""
        if (start is not None or self._ending is not None) and self.checkpoints.is_check_due():
            # Of a failure that is new, the error itself may be gone by now.
            bucket = self._failed_in if outcome.status is Status.FAILED else ""
            snapshot, steps = start if start is not None else (None, self.session.spec.prefix_steps)
            with self.monitoring.hidden():
                self.checkpoints.check(snapshot, self.session.tape, steps, outcome, bucket)

    def _learn_values(self, monitor: _native.Monitor) -> None:
        """Replay runs to observe what the targets compare."""
        with self.monitoring.hidden():
            self._values.gather(monitor)

    def _record_run(self, spec: _native.RunSpec, outcome: Outcome, edges: int) -> None:
        """Count a rejected run, and keep a path to new code, or a run of the sample."""
        if outcome.status is Status.REJECTED:
            self.tally.rejected += 1
            self.tally.overrun += outcome.overrun
            return
        if outcome.status is not Status.DONE or not self.settings.record_traces:
            return
        runs, sample = self.progress.productive, self._sample
        if sample.takes(spec.run_id, runs) if sample is not None else edges and len(runs) < TRACES_MAX:
            runs.append((self._origin(spec, edges), self.session.tape))

    def _origin(self, spec: _native.RunSpec, edges: int) -> Provenance:
        session = self.session
        return Provenance(spec.run_id, spec.checkpoint, session.configuration(), edges, session.weights)

    # -- past failures ------------------------------------------------------------------------------------------------

    def _step_back(self, outcome: Outcome, start: KeptState | None) -> tuple[Outcome, KeptState | None]:
        """Record the failure of a run, and have the run continue without the step that failed, as often as that helps.

        Returns:
            The outcome in the end, and the copy of a state that the last part of the run began with.
        """
        session = self.session
        met: set[str] = set()  # each bucket counts once in a run
        self._edges_told = 0
        while outcome.status is Status.FAILED:
            session.failed()
            bucket = self._failed_in = self._bucket_of(outcome)
            known = None if self.known else self.findings.known(bucket)  # what users declare is told by its message
            if known is not None:
                self._failed_again(known, bucket, outcome, met)
                is_known, is_slow = True, self.findings.takes_long(known) and known.is_timeout
            else:
                finding = self._finding(bucket, outcome)
                is_apart = self._ending is not None or self._crash is not None
                is_known = self._failed(finding, outcome, met, from_copy=start is not None or is_apart)
                bucket, is_slow = finding.bucket, finding.is_timeout
            if not is_known or self._crash is not None:
                break
            if not session.step_back(_same_failure(bucket), slow=is_slow):
                break
            self.driver.let_go(outcome)
            start = self._start_again()
            outcome = self._execute_again(start)
        self.faults.count_once()
        return outcome, start

    def _start_again(self) -> KeptState | None:
        """Return the latest state from which the run, which has stepped back, can go on; None if it must begin anew."""
        on_the_way = self._learning.on_the_way
        if on_the_way is not None and on_the_way.steps <= self.session.prefix_left:
            return on_the_way
        self._learning.on_the_way = None  # steps that led there are taken back as well
        spec = self.session.spec
        snapshot = self.checkpoints.copy_of(spec.checkpoint)
        return KeptState(snapshot, spec.prefix_steps) if snapshot is not None else None

    def _execute_again(self, start: KeptState | None) -> Outcome:
        """Go over the steps that are left of the run, or those after a kept state, and continue from there."""
        spec, tally = self.session.spec, self.tally
        self._ending = self._crash = None
        self._part_began = monotonic()
        self.randoms.reseed()
        is_held = start is None and self.checkpoints.has_fork_server(spec.checkpoint)
        if start is not None or is_held:
            self.session.restored(start.steps if start is not None else None)
        replayed_steps = self.session.prefix_left
        self._learning.begin_again()
        try:
            if is_held:
                outcome = self._run_in_fork()
            else:
                outcome = self.driver.execute(
                    self.session,
                    listener=self._learning,
                    restore=self._restoring(start.snapshot if start is not None else None, replayed_steps),
                )
        finally:
            self._learning.end_return()
        tally.steps += max(0, outcome.steps - replayed_steps)
        # As if it had begun with the run.
        outcome.steps = len(self.session.tape) - (spec.prefix_steps if start is None else start.steps)
        return outcome

    # -- from where a run starts --------------------------------------------------------------------------------------

    def _execute_from(self, snapshot: Snapshot) -> Outcome:
        """Run from a copy of a state."""
        self.session.restored()
        return self.driver.execute(self.session, listener=self._learning, restore=self._restoring(snapshot))

    def _restoring(
        self, snapshot: Snapshot | None, steps_again: int = 0
    ) -> Callable[[RunContext], RuleBasedStateMachine]:
        """Return what makes the machine of a run that does not begin with it: from ``snapshot``, or a fresh one.

        What that runs is hidden, like the steps that lead there, and like the ``steps_again`` that follow.
        """
        set_paused = self.monitoring.set_paused

        def restore(run: RunContext) -> RuleBasedStateMachine:
            set_paused(True)
            try:
                if snapshot is None:
                    return self.driver.make_machine(run)
                return self.checkpoints.restore(snapshot, run, self.session.faults_on)
            finally:
                if not steps_again:
                    set_paused(False)

        return restore

    def _execute_in_fork(self) -> Outcome:
        """Run from a state held by a process, in a fork of it."""
        self.session.restored()
        return self._run_in_fork()

    def _run_in_fork(self) -> Outcome:
        spec = self.session.spec
        ending = self.checkpoints.run_forked(spec.checkpoint, self.session, self._learning)
        if ending is None:
            return Outcome(Status.REJECTED, 0)
        if isinstance(ending, int):
            # The session has the step in which it died; it is confirmed like any other failure.
            self._crash = CrashReader(self.driver).of_run(self.session.tape, ending)
            return Outcome(Status.FAILED, len(self.session.tape) - spec.prefix_steps, self._crash.error)
        if ending.raised:
            # An error that ends an exploration is raised here too.
            with self.monitoring.hidden():
                self.replayer.run(self.session.tape)
            return Outcome(Status.REJECTED, ending.outcome.steps)
        self._ending = ending
        return ending.outcome

    def _return_and_execute(self) -> Outcome:
        """Return to a checkpoint by its steps, and continue from there."""
        self._learning.begin_return()
        try:
            return self.driver.execute(self.session, listener=self._learning)
        finally:
            self._learning.end_return()

    # -- failures -----------------------------------------------------------------------------------------------------

    def _failed(self, finding: Finding, outcome: Outcome, met: set[str], *, from_copy: bool) -> bool:
        """Count a failure if the run has not met it, and confirm one that is new. Return whether it is known then.

        One that the user declares as known needs no confirmation.
        """
        is_declared = bool(self.known) and self.known.claim(finding)
        known = self.findings.known(finding.bucket)
        if known is not None:
            self._failed_again(known, finding.bucket, outcome, met, is_declared=is_declared)
            return True
        assert self._listener is not None
        if self.driver.isolated and not finding.error_traceback:
            # Format it now, while the journal has the run: code in its text is part of the run.
            finding.error_traceback = traceback_text(finding.error)
            finding.error = stand_in(finding.error)
            self.driver.let_go(outcome)
        if is_declared:
            self.findings.declare(finding)
            met.add(finding.bucket)
            self._listener.checked(finding, Verdict.CONFIRMED)
            return True
        is_short = finding.is_timeout and self.driver.limits.expects_hangs
        if is_short and not self._hangs(finding):
            return False
        self._listener.failing(finding)
        seen_in = finding.bucket
        with self.monitoring.hidden():
            if is_short and self.driver.limits.looks_for:
                verdict = self.findings.suspect(finding, met)
            else:
                verdict = self.findings.add(
                    finding,
                    from_copy=from_copy,
                    replayer=self._replayer_of(finding),
                    met=met,
                    took_limit=finding.is_timeout and self._crash is None and self.settings.max_runs is None,
                )
        if verdict in (Verdict.UNFAITHFUL, Verdict.DROPPED):
            self.tally.unconfirmed += 1
        self._listener.checked(finding, verdict)
        left = self._leftovers.described() if finding.outside and self._leftovers is not None else ""
        if left:
            self.tally.note(
                f"Runs change what later runs do, by what they leave in {left}. Clear it where the machine begins, in "
                "`__init__`: until then, only the first run of each process begins like the program does."
            )
        if verdict is Verdict.UNFAITHFUL and self._crash is not None:
            run = f"A run of {self.driver.definition.cls.__name__} from a held state"
            self.tally.note(f"{run} {self._crash.how}, and none of the same steps from a fresh machine did.")
        if verdict is Verdict.UNFAITHFUL and self._crash is None:
            self.checkpoints.distrust("a failure", f"({seen_in}) did not happen from a fresh machine")
        met.add(finding.bucket)
        is_known = verdict not in (Verdict.UNFAITHFUL, Verdict.DROPPED)
        if is_known and finding.is_timeout and self._crash is None and self.settings.max_runs is None:
            # From here on it need not take its full limit each time. Where a number of runs ends the search, nothing
            # that a report shows may depend on the clock.
            self.driver.limits.expect_hang(self.driver.limits.ended_in)
            self.driver.adapt_limits()
        return is_known

    def _failed_again(
        self, known: Finding, bucket: str, outcome: Outcome, met: set[str], *, is_declared: bool = False
    ) -> None:
        """Count a failure in a known bucket, unless the run has met it."""
        is_first = known.bucket not in met
        known.count += is_first
        if self.findings.takes_long(known):
            self.failure_time.failed(monotonic() - self._part_began)
        if not is_declared:
            self._keep_lookalike(bucket, outcome, is_first=is_first)
        met.add(known.bucket)

    def _keep_lookalike(self, bucket: str, outcome: Outcome, *, is_first: bool) -> None:
        """Keep the failure of a run in a known bucket, if it may be another. Without targets, nothing could tell.

        ``is_first`` says that the run has not failed in this bucket before.
        """
        if self.monitoring.monitor is None or self._crash is not None:
            return
        edges, self._edges_told = self._edges_told, self.session.edges_in_run
        finding = self.findings.offer_lookalike(
            bucket,
            is_first=is_first,
            new=self._edges_told > edges,
            lacks=self.session.lacks,
            made=lambda: self._finding(bucket, outcome),
        )
        if finding is not None:
            assert self._listener is not None
            finding.error = stand_in(finding.error)  # its traceback is that of the replay that tells it apart
            self._listener.looks_alike(finding)

    def _hangs(self, finding: Finding) -> bool:
        """Return whether a rule that had less time than its limit takes all of it, or as much as the search can wait.

        What it waited for less than the limit is looked at again when the search is over.
        """
        with self.monitoring.hidden():
            ran = self.replayer.hangs(finding.tape, at_most=self.driver.limits.looks_for or math.inf)
        if ran is None:
            self.driver.limits.grow()
        else:
            finding.tape = ran
        return ran is not None

    def _replayer_of(self, finding: Finding) -> Replayer:
        """Return the replayer that confirms ``finding``: a failure that ends its process needs processes of its own."""
        if self._crash is None or not finding.needs_own_process:
            return self.replayer
        # The limits of this process come from the one that forked it, and its forks inherit them.
        return CrashReplayer(self.driver, self._bucketer, self.randoms, Limits(0))

    def _bucket_of(self, outcome: Outcome) -> str:
        if self._crash is not None:
            return self._crash.bucket
        if self._ending is not None:
            return self._ending.bucket
        assert outcome.error is not None
        return self._bucketer.bucket(outcome.error, outcome.broken_by)

    def _finding(self, bucket: str, outcome: Outcome) -> Finding:
        session, ending, crash = self.session, self._ending, self._crash
        origin = self._origin(session.spec, session.edges_in_run)
        if crash is not None:
            return Finding(bucket, session.tape, origin, crash.error, error_traceback=str(crash.error))
        if ending is not None:
            error = remote_error(ending.error_type, ending.error_text)
            return Finding(bucket, session.tape, origin, error, error_traceback=ending.traceback)
        assert outcome.error is not None
        return Finding(bucket, session.tape, origin, outcome.error)

    # -- what it came to ----------------------------------------------------------------------------------------------

    def totals(self) -> Totals:
        """Return all counts."""
        monitor = self.monitoring.monitor
        return Totals(
            tally=self.tally,
            edges=self.coverage.edges_seen,
            checkpoints=self.session.checkpoints,
            checkpoints_saved=self.session.checkpoints_saved,
            snapshot_kind=self.progress.kind,
            swarm=self.session.swarm_counts(),
            run_kinds=self._run_kinds(),
            discovery=Discovery.of(self.session.species_estimate(), self.coverage.edges_seen),
            lines=monitor.lines() if monitor is not None else {},
            faults=self.faults.counts(),
            rules=self.rules.counts(),
        )

    def _run_kinds(self) -> dict[str, dict[str, int]]:
        """Return how many runs there were of each kind. A run of the input-to-state stage follows none of the plans."""
        kinds = self.session.run_counts()
        starts = kinds["starts"]
        starts["comparison"] = max(0, self.tally.runs - sum(starts.values()))
        return kinds

    def note_limits(self) -> None:
        """Note what was not watched, what faults do not reach, and which strategies Hypothesis draws after all."""
        monitor = self.monitoring.monitor
        if monitor is not None and monitor.error is not None:
            self.tally.note(f"Some code was not traced: {monitor.error}.")
        for note in (*self.faults.remarks(), *given_up[self._given_up_before :]):
            self.tally.note(note)


@lru_cache(maxsize=1024)
def _same_failure(bucket: str) -> int:
    """Return a number that is equal for failures at one place, whichever step broke an invariant there."""
    return crc32(place_of(bucket).encode("utf-8", "backslashreplace"))

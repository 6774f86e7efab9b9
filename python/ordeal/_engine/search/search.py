"""The search of one process: makes runs until it must stop, and takes in what fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import ordeal._native as _native
from ordeal._base.buggify_state import many_runs
from ordeal._base.formatting import one_line, writable_text
from ordeal._base.live_threads import gil_note
from ordeal._base.outside import NOTE, outside
from ordeal._base.untrusted import error_message
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.fork_server import RunEnvironment
from ordeal._engine.execution.machine import machine_names, returns_nothing
from ordeal._engine.execution.settings import Settings, Tally
from ordeal._engine.execution.snapshot import Snapshots
from ordeal._engine.isolation.child import Limits
from ordeal._engine.isolation.hangs import PATIENCE_MIN
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal._engine.search.intake import FailureIntake, SearchListener
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.result_builder import WARM_UP_RUNS, SearchReport, Totals
from ordeal._engine.search.run_loop import RunLoop, make_session
from ordeal._engine.search.state import SearchProgress, SessionState, writable_snapshot
from ordeal._engine.search.uses import FaultUses, RuleUses
from ordeal._engine.triage.findings import Findings, KnownFailures
from ordeal._engine.triage.messages import CheckFailed
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._hypothesis.internals import skip_types
from ordeal._hypothesis.private import note_missing
from ordeal._hypothesis.provider import given_up
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result import StoppedReason


class Search:
    """Drives one session. Used once; not thread-safe.

    ``cuts_off`` ends a run that is under way when time is up. Without it, the last run finishes.
    """

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target], *, cuts_off: bool = False) -> None:
        self.settings = settings
        self.driver = driver
        driver.outside = settings.outside
        self._cuts_off = cuts_off
        self._ask_again = 0  # until this many runs, only time ends the search
        self._given_up_before = len(given_up)
        self.tally = Tally()
        self.folder = WorkingFolder(self.tally.note)
        self.randoms = GlobalRandoms()
        self.coverage = _native.CoverageMap()
        self.setup = ReplaySetup(settings, driver, targets, Limits(0))
        bucketer = self.setup.bucketer()
        self.replayer = Replayer(driver, bucketer, self.randoms)
        self.findings = Findings(self.replayer)
        self.known = KnownFailures(settings.known)
        self.session = make_session(settings, driver, self.coverage, has_targets=bool(targets))
        rules = [rule.name for rule in driver.definition.rules]
        faults = FaultUses(driver.faults, getattr(driver.definition.cls, "world_reach", None))
        self.progress = SearchProgress(
            self.tally, self.findings, PropertyWatch(), faults, RuleUses(self.session, rules)
        )
        self.monitoring = Monitoring(settings, targets, self.session, self.coverage, len(rules), faults)
        environment = RunEnvironment(driver, self.randoms, bucketer, self.monitoring.monitor, self.progress.watch)
        snapshots = Snapshots(driver.definition.cls, driver.factory, driver.faults, self.randoms)
        # When the number of runs ends the search, nothing that a report shows may depend on the clock.
        self.checkpoints = Checkpoints(
            settings.checkpoint_kind, environment, snapshots, self.progress, by_steps=settings.max_runs is not None
        )
        self.session_state = SessionState(settings, machine_names(driver), targets, self.session, self.folder)
        self.runs = RunLoop(
            settings,
            driver,
            self.session,
            targets,
            replayer=self.replayer,
            randoms=self.randoms,
            monitoring=self.monitoring,
            checkpoints=self.checkpoints,
            progress=self.progress,
        )
        self.intake = FailureIntake(
            settings,
            driver,
            self.session,
            targets,
            bucketer=bucketer,
            replayer=self.replayer,
            randoms=self.randoms,
            findings=self.findings,
            known=self.known,
            monitoring=self.monitoring,
            checkpoints=self.checkpoints,
            tally=self.tally,
        )

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Set up everything that runs of the user's code depend on, for the duration of the block."""
        with self.randoms.managed(), self.driver.watching(), self.progress.watch.recording(), many_runs():
            yield

    def run(self, listener: SearchListener) -> StoppedReason:
        """Make runs from where a saved state left off until the search ends, and save the state."""
        self.intake.listener = listener
        monitor = self.monitoring.monitor
        with self.monitoring.started():
            self.session_state.resume(self.progress, monitor)
            with self.progress.watch.counting(), self.checkpoints.open():
                stopped = self._explore(listener)
            self.progress.faults.stop()
            self.folder.restore()
            # Before shrinking: a resumed exploration shrinks its findings at the end, like one without interruption.
            self.session_state.save(self.progress, monitor)
        return stopped

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _explore(self, listener: SearchListener) -> StoppedReason:
        try:
            with self.monitoring.hidden():
                listener.begin()
            limits = self.driver.limits
            if limits.is_short:
                self.driver.adapt_limits(PATIENCE_MIN)
            until = monotonic() + self.settings.max_time
            cut_off: AbstractContextManager[object] = nullcontext()
            if self._cuts_off:
                cut_off = self.driver.watchdog.until(until)
            # No step may take all the time of the search.
            with cut_off, limits.hurried():
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
        except skip_types() as skip:
            if not self.findings:
                raise
            self.end_broken_run()
            reason = one_line(error_message(skip))
            self.tally.note(f"Exploring stopped in run {self.tally.runs + 1}, which asks to be skipped: {reason}.")
            return "stuck"
        except _native.CheckError as error:
            failed = CheckFailed(f"Exploring in run {self.tally.runs + 1}", str(error)).text
            if not self.findings:
                raise OrdealError(failed.rstrip(".")) from error
            self.tally.note(failed)
            return "stuck"

    def _reason_to_stop(self, until: float) -> StoppedReason | None:
        tally = self.tally
        reason = None
        if tally.runs >= self._ask_again:
            reason, self._ask_again = _native.RunPolicy.end(
                runs=tally.runs,
                steps=tally.steps,
                runs_without_new_features=tally.runs_without_novelty,
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
        self.intake.begin_run()
        end, bucket = self.runs.next(), ""
        while end.failed:
            taken = self.intake.take(end)
            bucket = taken.seen_in
            after = self.runs.step_back(end, taken.number, slow=taken.is_slow) if taken.goes_on else None
            if after is None:
                break
            end = after
        if bucket:
            self.progress.faults.count_once()
        self.runs.finish(end, bucket)

    # -- what it came to ----------------------------------------------------------------------------------------------

    def totals(self) -> Totals:
        """Return all counts."""
        return Totals(tally=self.tally, report=self.report(), edges=self.coverage.edges_seen)

    def report(self) -> SearchReport:
        """Return what was counted, in a form that another process can read."""
        monitor = self.monitoring.monitor
        kinds = self.session.run_counts()
        # A run of the input-to-state stage follows none of the plans.
        kinds["starts"]["comparison"] = max(0, self.tally.runs - sum(kinds["starts"].values()))
        return SearchReport(
            tally=self.tally.counts(),
            notes=[str(note) for note in self.tally.notes],
            checkpoints=self.session.checkpoints,
            checkpoints_saved=self.session.checkpoints_saved,
            snapshot_kind=self.progress.kind,
            swarm=self.session.swarm_counts(),
            run_kinds=kinds,
            counts={finding.bucket: finding.count for finding in self.findings.all()},
            properties=writable_snapshot(self.progress.watch.snapshot()),
            discovery=self.session.species_estimate(),
            lines=monitor.lines() if monitor is not None else {},
            faults={writable_text(name): counts for name, counts in self.progress.faults.counts().items()},
            rules=self.progress.rules.counts(),
        )

    def note_limits(self) -> None:
        """Note what was not watched, what faults do not reach, and which strategies Hypothesis draws after all."""
        for text in outside.warned:
            self.tally.note(f"{NOTE}{text}.")
        monitor = self.monitoring.monitor
        if monitor is not None and monitor.error is not None:
            self.tally.note(f"Some code was not traced: {monitor.error}.")
        if gil := gil_note():
            self.tally.note(gil)
        for rule in self.driver.definition.rules:
            if rule.targets and returns_nothing(rule.function):
                filled = f"Rule {rule.name} fills bundle {rule.targets[0]} and always returns None"
                self.tally.note(f"{filled}: is a `return` missing?")
        for note in (*self.progress.faults.remarks(), *given_up[self._given_up_before :], *note_missing()):
            self.tally.note(note)

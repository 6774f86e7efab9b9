"""Explores in several processes: lets workers search, then triages their findings and builds the result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING
from unittest import SkipTest

import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.settings import Settings
from ordeal._engine.isolation.child import Limits
from ordeal._engine.isolation.hangs import WatchedClock
from ordeal._engine.isolation.outside_use import UseKind
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.state import ParallelState
from ordeal._engine.parallel.sync import Update
from ordeal._engine.parallel.worker_pool import WorkerOptions, WorkerPool, WorkersInTheWay
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.result_builder import make_result
from ordeal._engine.triage.executors import OwnProcesses
from ordeal._engine.triage.findings import Finding, KnownFailures
from ordeal._engine.triage.messages import Shrinking, progress_of
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._engine.triage.triage import Triage
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result import (
    ExplorationResult,
    Failure,
    FoundFailure,
    NoteKind,
    ProgressSnapshot,
    StoppedReason,
)

if TYPE_CHECKING:
    from ordeal._engine.parallel.store_client import StoreClient

#: Seconds past its deadline that a worker may take to end.
GRACE_SECONDS = 0.8
#: Seconds between two counts of the expensive figures, for people who watch, and the share of the time that counting
#: may take.
COUNT_SECONDS = 0.5
COUNT_SHARE = 200


def explore_in_processes(
    settings: Settings, driver: Driver, targets: list[Target], options: WorkerOptions
) -> ExplorationResult:
    """Explore with the workers of ``options``; with one in the time that is left once they get in each other's way.

    What was found before that is dropped: another worker may be the cause of it.
    """
    started = monotonic()
    try:
        return Supervisor(settings, driver, targets, options).run()
    except WorkersInTheWay as met:
        left = max(settings.max_time - (monotonic() - started), settings.max_time * 0.5)
        supervisor = Supervisor(
            settings.replaced(max_time=left),
            driver,
            targets,
            msgspec.structs.replace(options, workers=1),
        )
        what = "writes the file" if met.use.kind is UseKind.WRITES else "listens at"
        supervisor.note(
            f"One worker explored: each {what} {met.use.name}, and several would be in each other's way. Give each "
            "machine its own, such as a file in a tempfile.TemporaryDirectory(), to explore with all cores."
        )
        return supervisor.run()


class Supervisor:
    """Explores once. It runs no code of the user's, so none of that can end this process."""

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target], options: WorkerOptions) -> None:
        self._settings = settings
        self._targets = targets
        self._machine = driver.definition.cls
        self._store_options = options.store_options
        self._workers = options.workers
        self._store_client: StoreClient | None = None
        self._started = 0.0
        self._was_interrupted = self._is_stuck = False
        self._known = KnownFailures(settings.known)
        self._found: tuple[FoundFailure, ...] = ()
        self._findings_told = 0
        self._counted: tuple[int, float | None] = 0, None
        self._count_due = 0.0
        setup = ReplaySetup(settings, driver, targets, Limits(options.memory))
        setup.trace_builder.read_sources()
        self._names = setup.names
        self._merged = MergedProgress(self._names)
        self._folder = WorkingFolder(self._merged.note)
        self._state = ParallelState(settings, self._merged, self._folder, options.workers)
        self._pool = WorkerPool(settings, setup, options, self._merged, self._state, self._folder)
        executor = OwnProcesses(setup, self._folder, options.workers)
        self._triage = Triage(setup, executor, self, self._folder)

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report.

        A second Ctrl-C ends everything at once, with KeyboardInterrupt.
        """
        self._started = monotonic()
        self._state.resume()
        self._pool.share_runs()
        watch = PropertyWatch()
        try:
            self._join()
            with self._triage.interruptible("Not all seeds were replayed: that was interrupted."):
                self._triage.replay_seeds(self._merged.add_replayed_seed)
            if not self._was_interrupted:
                self._search()
            self._state.save()
            self._state.take_in(self._pool.number_of)
            self._exchange_with_store()
            # In the order of their runs: the order in which workers report is left to chance.
            findings = sorted(self._merged.findings.values(), key=lambda each: (each.origin.run_id, each.bucket))
            findings, known = self._known.split(findings, self.count_of)
            failures = self._triage.confirm_and_shrink(
                findings,
                shrink=not self._was_interrupted,
                others=self._store_client,
            )
            self._leave(failures)
            traces = self._triage.traces(failures, self._merged.productive)
            self._triage.fill_database(findings, failures)
            # No code of the user's runs from here on, but what ran may have deleted the folder of the output.
            self._folder.restore()
            self._state.save_again()
            self._triage.save_again(failures)
        finally:
            self._pool.close()
            if self._store_client is not None:
                self._store_client.close()
            self._triage.close()
            self._folder.restore()
        with watch.recording():
            self._merged.absorb_properties(watch, self._pool.number_of)
        return make_result(
            self._settings,
            self._targets,
            self._merged.totals(),
            failures=failures,
            known=known,
            traces=traces,
            seeds=self._triage.seed_outcomes,
            watch=watch,
            seconds=self._elapsed(),
            stopped=self._stopped(),
            machine=self._machine,
            fault_names=self._names[2],
        )

    # -- the search ---------------------------------------------------------------------------------------------------

    def _search(self) -> None:
        pool, deadline = self._pool, monotonic() + self._settings.max_time
        pool.initial_corpus.edges |= self._merged.edges - self._merged.unreported
        pool.initial_corpus.entries += self._state.entries
        pool.initial_corpus.findings |= self._merged.findings
        try:
            pool.start(deadline)
            self._poll_until(deadline)
        except KeyboardInterrupt:
            self.interrupted()
            pool.stop()
            # Let all workers finish, and end those that do not.
            self._poll_until(monotonic())
        except (OrdealError, SkipTest) as error:
            if not self._merged.findings:
                raise
            # The findings are worth more than a clean end of the exploration.
            self._merged.note(f"Exploring stopped: {one_line(str(error))}.")
            self._is_stuck = True
        pool.cut_off("interrupted" if self._was_interrupted else "stuck" if self._is_stuck else "time")

    def _poll_until(self, deadline: float) -> None:
        """Watch the workers until all are done, or have had their grace after ``deadline``: none is restarted then."""
        clock: WatchedClock | None = None
        while self._pool.goes_on:
            left = deadline - monotonic() + GRACE_SECONDS
            if left <= GRACE_SECONDS:
                # If the host stopped for a while now, their last messages would be lost without this clock.
                clock = clock or WatchedClock()
                left = GRACE_SECONDS - clock.seconds()
            if left <= 0:
                return
            self._pool.poll(left, deadline)
            self._exchange_with_store()
            self._pool.answer()
            self._report_progress()

    # -- others -------------------------------------------------------------------------------------------------------

    def _join(self) -> None:
        if self._store_options is None:
            return
        from ordeal._engine.parallel.store_client import StoreClient  # noqa: PLC0415 - few searches have a store

        self._store_client = self._pool.store_client = StoreClient(
            self._store_options, self._merged, workers=self._workers
        )
        # What others have found counts as known from the first run on.
        for edges, entries in self._store_client.listen():
            self._merged.add_edges(edges)
            self._pool.initial_corpus.entries += _native.decode_entries(entries, self._names)[0] if entries else []

    def _exchange_with_store(self) -> None:
        """Receive what others have found, and send what was found here, without waiting for either."""
        if self._store_client is None:
            return
        for edges, entries in self._store_client.exchange():
            self._merged.add_edges(edges)
            self._pool.receive(Update(edges, entries))

    def _leave(self, failures: Sequence[Failure]) -> None:
        if self._store_client is None:
            return
        for failure in failures:
            if failure.trace is not None and not failure.flaky:
                steps = len(failure.trace.taken_steps())
                self._store_client.add_failure(
                    failure.bucket, failure.trace.to_json(), steps, failure.count, shrunk=failure.shrunk
                )
        self._store_client.leave()

    # -- what the user sees -------------------------------------------------------------------------------------------

    def interrupted(self) -> None:
        """Count a Ctrl-C. The second one ends everything at once."""
        if self._was_interrupted:
            raise KeyboardInterrupt
        self._was_interrupted = True

    def _stopped(self) -> StoppedReason:
        reasons = self._pool.reasons()
        if self._was_interrupted:
            return "interrupted"
        if self._is_stuck:
            return "stuck"
        for reason in ("stuck", "time", "max_runs", "patience"):
            if reason in reasons and (reason != "stuck" or set(reasons) == {"stuck"}):
                return reason
        return "time"

    def _elapsed(self) -> float:
        return self._state.seconds + monotonic() - self._started

    def _report_progress(self) -> None:
        if self._settings.progress is None or self._was_interrupted:
            return
        tally = self._merged.tally()
        elapsed = self._elapsed()
        if elapsed >= self._count_due:
            self._counted = self._merged.lines_run(), self._merged.next_run_max()
            self._count_due = elapsed + max(COUNT_SECONDS, COUNT_SHARE * (self._elapsed() - elapsed))
        lines, next_run_max = self._counted
        # Nothing is taken from the findings, so the new ones are the last.
        new = list(islice(self._merged.findings.values(), self._findings_told, None))
        self._findings_told += len(new)
        self._found += tuple(each.reported() for each in new if self._known.entry_of(each) is None)
        self._settings.progress(
            ProgressSnapshot(
                elapsed=elapsed,
                total_runs=tally.runs,
                total_steps=tally.steps,
                unique_edges=len(self._merged.edges),
                checkpoints=self._merged.checkpoints,
                failures=len(self._merged.findings),
                runs_per_second=tally.runs / elapsed if elapsed > 0 else 0.0,
                found=self._found,
                lines=lines,
                next_run_max=next_run_max,
                workers=self._merged.by_worker(self._workers),
            )
        )

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Pass on a note of triage for the user."""
        self._merged.note(text, kind)

    def count_of(self, finding: Finding) -> int:
        """Return how many runs met ``finding``: at least one, unless a seed shows it, even if none was reported."""
        return max(self._merged.counts()[finding.bucket], 1 if finding.seed is None else 0)

    def shrinking(self, number: int, total: int, now: Shrinking) -> None:
        """Report one more candidate of a shrink, or one more run that was compared with a failure."""
        if self._settings.shrink_progress is not None:
            self._settings.shrink_progress(progress_of(now, self._elapsed(), number, total))

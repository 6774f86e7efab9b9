"""One exploration in a single process: a search, then triage of its findings, then the result."""

from __future__ import annotations

from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.settings import Settings
from ordeal._engine.search.intake import SearchListener
from ordeal._engine.search.result_builder import make_result
from ordeal._engine.search.search import Search
from ordeal._engine.triage.executors import Here
from ordeal._engine.triage.findings import Confirmation, Finding
from ordeal._engine.triage.messages import Shrinking, progress_of
from ordeal._engine.triage.setup import JobContext
from ordeal._engine.triage.triage import Listener, Triage
from ordeal._native import monotonic
from ordeal.result import (
    ExplorationResult,
    FoundFailure,
    KnownFailure,
    NoteKind,
    ProgressSnapshot,
    StoppedReason,
)


class Exploration(SearchListener, Listener):
    """Explores once, alone in this process. Listens to its own search and triage."""

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target]) -> None:
        self._settings = settings
        self._targets = targets
        self._search = search = Search(settings, driver, targets)
        setup = search.setup
        context = JobContext(setup, replayer=search.replayer, randoms=search.randoms)
        self._triage = Triage(setup, Here(context), self, search.folder)
        self._started = 0.0
        self._stopped: StoppedReason = "time"
        self._known: list[KnownFailure] = []
        self._found: tuple[FoundFailure, ...] = ()

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report."""
        search, triage = self._search, self._triage
        search.session_state.check()
        self._started = monotonic()
        with search.prepared():
            self._stopped = search.run(self)
            findings, self._known = search.known.split(search.findings.all(), self.count_of)
            failures = triage.confirm_and_shrink(findings, shrink=True)
            traces = triage.traces(failures, search.progress.productive)
        triage.fill_database(findings, failures)
        # The user's code may have left or deleted the folder of the output while it ran after the search.
        search.folder.restore()
        search.session_state.save_again(search.tally)
        triage.save_again(failures)
        search.note_limits()
        return make_result(
            self._settings,
            self._targets,
            search.totals(),
            failures=failures,
            known=self._known,
            traces=traces,
            seeds=self._triage.seed_outcomes,
            watch=search.progress.watch,
            seconds=self._elapsed(),
            stopped=self._stopped,
            machine=search.driver.definition.cls,
            fault_names=[fault.name for fault in search.driver.faults],
        )

    # -- the search ---------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Replay saved seeds before the first run."""
        self._triage.replay_seeds(self._search.findings.add_replayed_seed)

    def run_made(self) -> None:
        """Read the sources early, but not before the runs that find most bugs."""
        # Reading the sources of a package takes some milliseconds. Later, they may have been edited.
        if monotonic() - self._started > 0.1:
            self._search.setup.trace_builder.read_sources()
        if self._settings.progress is not None:
            search, elapsed = self._search, self._elapsed()
            self._settings.progress(
                ProgressSnapshot(
                    elapsed=elapsed,
                    total_runs=search.tally.runs,
                    total_steps=search.tally.steps,
                    unique_edges=search.coverage.edges_seen,
                    checkpoints=search.session.checkpoints,
                    failures=len(search.findings),
                    runs_per_second=search.tally.runs / elapsed if elapsed > 0 else 0.0,
                    found=self._found,
                )
            )

    def checked(self, finding: Finding, confirmation: Confirmation) -> None:
        """Report it at the end, and to listeners now."""
        if self._settings.progress is None or confirmation not in (Confirmation.CONFIRMED, Confirmation.FLAKY):
            return
        if self._search.known.entry_of(finding) is None:
            self._found += (finding.reported(),)

    # -- triage -------------------------------------------------------------------------------------------------------

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """See the ``Listener`` of triage."""
        self._search.tally.note(text, kind)

    def interrupted(self) -> None:
        """See the ``Listener`` of triage."""
        self._stopped = "interrupted"

    def shrinking(self, number: int, total: int, now: Shrinking) -> None:
        """See the ``Listener`` of triage."""
        if self._settings.shrink_progress is not None:
            self._settings.shrink_progress(progress_of(now, self._elapsed(), number, total))

    # -- the result ---------------------------------------------------------------------------------------------------

    def _elapsed(self) -> float:
        """Return the seconds so far, including those of the processes before a resume."""
        return self._search.progress.seconds_before + monotonic() - self._started

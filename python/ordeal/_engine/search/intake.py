"""Takes the failures of a search: names the bucket of each, counts it, and confirms one that is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import ordeal._native as _native
from ordeal._base.untrusted import remote_error, stand_in
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer, falls_into, place_of, traceback_text
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.settings import Settings, Tally
from ordeal._engine.isolation.child import Limits
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal._engine.search.leftovers import Leftovers
from ordeal._engine.search.monitoring import Monitoring
from ordeal._engine.search.run_loop import RunEnd, origin_of
from ordeal._engine.triage.findings import Confirmation, Finding, Findings, KnownFailures
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import monotonic
from ordeal.result import StoppedReason


class SearchListener:
    """The owner of a search: a process that explores alone, or a worker among others."""

    def begin(self) -> None:
        """Called before the first run, to pass on what others know. Its replays are hidden from the search."""

    def between_runs(self) -> StoppedReason | None:
        """Called before each run; returns why the search must end now, if it must."""
        return None

    def run_made(self) -> None:
        """Called after each run."""

    def failing(self, finding: Finding) -> None:
        """Called when a run failed in an unknown bucket, before its confirmation, which may take long."""

    def checked(self, finding: Finding, confirmation: Confirmation) -> None:
        """Called when the finding was confirmed, or not."""

    def cut_off(self) -> None:
        """Called when time is up in the middle of a run."""


class Taken(NamedTuple):
    """A failure of a run: its ``bucket``, and ``seen_in`` another if its confirmation names it better.

    ``goes_on`` says that the run may continue without the step that failed; ``is_slow`` that the failure takes long.
    """

    bucket: str
    seen_in: str
    goes_on: bool
    is_slow: bool

    @property
    def number(self) -> int:
        """The same number for failures at one place, whichever step broke an invariant there."""
        return _number_of(self.bucket)


class FailureIntake:
    """Takes what fails in the runs of one search into its ``findings``."""

    def __init__(
        self,
        settings: Settings,
        driver: Driver,
        session: _native.Session,
        targets: list[Target],
        *,
        bucketer: Bucketer,
        replayer: Replayer,
        randoms: GlobalRandoms,
        findings: Findings,
        known: KnownFailures,
        monitoring: Monitoring,
        checkpoints: Checkpoints,
        tally: Tally,
    ) -> None:
        self._settings = settings
        self._driver = driver
        self._session = session
        self._bucketer = bucketer
        self._replayer = replayer
        self._randoms = randoms
        self._findings = findings
        self._known = known
        self._monitoring = monitoring
        self._checkpoints = checkpoints
        self._tally = tally
        self.listener = SearchListener()
        self._began = monotonic()
        self._lost_time = False  # whether a known failure has taken long, such as a hang
        self._met: set[str] = set()  # each bucket counts once in a run
        self._leftovers: Leftovers | None = None  # of a worker: nothing else begins before the first run of a process
        if driver.isolated:
            names = [target.name for target in targets]
            self._leftovers = Leftovers(names, driver.definition.cls.__module__)

    def continue_from(self, findings: Sequence[Finding], took: Mapping[str, float], began: float) -> None:
        """Continue a search that ``began`` in earlier processes, by monotonic(), which those ``findings`` ended.

        All failures of a bucket together ``took`` that many seconds. Call it before the first run.
        """
        self._began, self._lost_time = began, bool(took)
        for finding in findings:
            if finding.needs_own_process:
                self._session.ended_process(finding.tape, took.get(finding.bucket, 0.0))

    def judge(self, finding: Finding) -> None:
        """Confirm from a fresh machine what ended an earlier process of this worker in a run from a copy."""
        self.listener.failing(finding)
        with self._monitoring.hidden():
            confirmation = self._findings.add(finding, from_copy=True, replayer=self._crash_replayer())
        self.listener.checked(finding, confirmation)
        if confirmation is Confirmation.UNFAITHFUL:
            self._distrust(finding.bucket)

    def _distrust(self, seen_in: str) -> None:
        self._checkpoints.distrust("a failure", f"({seen_in}) did not happen from a fresh machine")

    def begin_run(self) -> None:
        """Begin a run, in which nothing has failed yet."""
        if self._lost_time:
            self._session.search_took(monotonic() - self._began)
        self._met.clear()

    def take(self, end: RunEnd) -> Taken:
        """Take the failure of a run, or of a part of it: count one that is known, and confirm one that is new."""
        self._session.failed()
        if end.crash is not None:
            bucket = end.crash.bucket
        elif end.forked is not None:
            bucket = end.forked.bucket
        else:
            assert end.outcome.error is not None
            bucket = self._bucketer.bucket(end.outcome.error, end.outcome.broken_by)
        known = None if self._known else self._findings.known(bucket)  # what users declare is recognized by its message
        if known is not None:
            self._failed_again(known, end)
            self._take_better(known, bucket, end)
            is_slow = self._findings.takes_long(known) and known.is_timeout
            return Taken(bucket, bucket, end.crash is None, is_slow)
        finding = self._finding(bucket, end)
        is_known = self._failed(finding, end)
        return Taken(finding.bucket, bucket, is_known and end.crash is None, finding.is_timeout)

    def _finding(self, bucket: str, end: RunEnd) -> Finding:
        tape, origin = self._session.tape, origin_of(self._session, self._driver)
        if end.crash is not None:
            return Finding(bucket, tape, origin, end.crash.error, error_traceback=str(end.crash.error))
        if end.forked is not None:
            error = remote_error(end.forked.error_type, end.forked.error_text)
            return Finding(bucket, tape, origin, error, error_traceback=end.forked.traceback)
        assert end.outcome.error is not None
        return Finding(bucket, tape, origin, end.outcome.error)

    def _failed(self, finding: Finding, end: RunEnd) -> bool:
        """Count a failure if the run has not met it, and confirm one that is new. Return whether it is known then.

        One that the user declares as known needs no confirmation.
        """
        is_declared = bool(self._known) and self._known.claim(finding)
        known = self._findings.known(finding.bucket)
        if known is not None:
            self._failed_again(known, end)
            if not is_declared:
                self._take_better(known, finding.bucket, end)
            return True
        self._write_error(finding, end)
        if is_declared:
            self._findings.declare(finding)
            self._met.add(finding.bucket)
            self.listener.checked(finding, Confirmation.CONFIRMED)
            return True
        if finding.is_timeout and self._driver.limits.expects_hangs and not self._hangs(finding):
            return False
        seen_in = finding.bucket
        self.listener.failing(finding)
        # Where a number of runs ends the search, nothing that a report shows may depend on the clock.
        may_take_limit = end.crash is None and self._settings.max_runs is None
        with self._monitoring.hidden():
            if finding.is_timeout and self._driver.limits.is_short:
                confirmation = self._findings.suspect(finding, self._met)
            else:
                needs_process = end.crash is not None and finding.needs_own_process
                confirmation = self._findings.add(
                    finding,
                    from_copy=not end.was_fresh,
                    replayer=self._crash_replayer() if needs_process else self._replayer,
                    met=self._met,
                    took_limit=finding.is_timeout and may_take_limit,
                )
        is_known = confirmation not in (Confirmation.UNFAITHFUL, Confirmation.DROPPED)
        self._tally.unconfirmed += not is_known
        self.listener.checked(finding, confirmation)
        self._note_what_is_odd(finding, seen_in, confirmation, end)
        self._met.add(finding.bucket)
        if is_known and finding.is_timeout and may_take_limit:
            # From here on it need not take its full limit each time.
            self._driver.limits.expect_hang(self._driver.limits.ended_in)
            self._driver.adapt_limits()
        return is_known

    def _note_what_is_odd(self, finding: Finding, seen_in: str, confirmation: Confirmation, end: RunEnd) -> None:
        left = self._leftovers.described() if finding.outside and self._leftovers is not None else ""
        if left:
            self._tally.note(
                f"Runs affect later runs through what they leave in {left}. Clear it in `__init__` of the machine: "
                "until then, only the first run of each process starts clean."
            )
        if confirmation is not Confirmation.UNFAITHFUL:
            return
        if end.crash is not None:
            run = f"A run of {self._driver.definition.cls.__name__} from a held state"
            self._tally.note(f"{run} {end.crash.how}, and none of the same steps from a fresh machine did.")
        else:
            self._distrust(seen_in)

    def _failed_again(self, known: Finding, end: RunEnd) -> None:
        """Count a failure in a known bucket, unless the run has met it."""
        known.count += known.bucket not in self._met
        if self._findings.takes_long(known):
            self._lost_time = True
            self._session.failure_took(monotonic() - end.began)
        self._met.add(known.bucket)

    def _take_better(self, known: Finding, bucket: str, end: RunEnd) -> None:
        """Keep a run in place of the one that is known of its bucket and that is longer, or never fails again.

        A hang would have to take its whole limit again to be sure; what ends its process is compared by its supervisor.
        """
        steps = len(self._session.tape)
        if not self._findings.may_improve(known, steps) or not falls_into(bucket, known.bucket):
            return
        if self._findings.takes_long(known):
            return
        finding = self._finding(bucket, end)
        self._write_error(finding, end)
        with self._monitoring.hidden():
            if self._findings.improve(known, finding):
                self.listener.checked(known, Confirmation.BETTER)

    def _write_error(self, finding: Finding, end: RunEnd) -> None:
        """Format the error of an isolated process now, while the journal has the run: its text may run code."""
        if self._driver.isolated and not finding.error_traceback:
            finding.error_traceback = traceback_text(finding.error)
            finding.error = stand_in(finding.error)
            self._driver.release_error(end.outcome)

    def _hangs(self, finding: Finding) -> bool:
        """Return True if a rule that had less time than its limit takes all of it, or as much as the search can wait.

        What it waited for less than the limit is looked at again when the search is over.
        """
        with self._monitoring.hidden():
            ran = self._replayer.hangs(finding.tape, at_most=self._driver.limits.looks_for)
        if ran is None:
            self._driver.limits.grow()
        else:
            finding.tape = ran
        return ran is not None

    def _crash_replayer(self) -> CrashReplayer:
        # The limits of this process come from the one that forked it, and its forks inherit them.
        return CrashReplayer(self._driver, self._bucketer, self._randoms, Limits(0))


@lru_cache(maxsize=1024)
def _number_of(bucket: str) -> int:
    return crc32(place_of(bucket).encode("utf-8", "backslashreplace"))

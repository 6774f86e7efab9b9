"""The seeds of the explored class: replayed before its first run, written when its failures are shrunk."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path

import msgspec.structs

from ordeal._base.formatting import describe_error
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.bucket import is_in_bucket
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.seed_corpus.corpus import SeedCorpus, load_seed, replay_trace
from ordeal._engine.seed_corpus.paths import SeedError, seed_name
from ordeal._engine.triage.findings import Finding, Findings
from ordeal._engine.triage.setup import ReplaySetup
from ordeal.errors import OrdealError, TraceError
from ordeal.result import Failure, Note, NoteKind, SeedOutcome, SeedStatus


class ClassSeeds:
    """Replays and saves the seeds of one class."""

    def __init__(self, folder: Path | None, setup: ReplaySetup) -> None:
        self._corpus = None if folder is None else SeedCorpus(folder)
        self._test_class = setup.settings.test_class
        self._driver = setup.driver
        self._is_importable = setup.is_importable

    def replays(
        self, findings: Findings, done: Container[str] = (), begin: Callable[[Path], object] | None = None
    ) -> Iterator[tuple[Path, SeedOutcome]]:
        """Replay the seeds except those in the files ``done``; call ``begin`` before each.

        Failing ones become ``findings``, which no run has met yet.
        """
        if self._corpus is None:
            return
        seeds = []
        for path in self._corpus.paths_of(self._test_class):
            if str(path) in done:
                continue
            try:
                trace = load_seed(path)
            except TraceError as error:
                yield path, seed_outcome(path, SeedStatus.UNREADABLE, error.message)
                continue
            if trace.test_class == self._test_class:  # another module may have a class of this name
                seeds.append((path, trace))
        # Of several seeds in a bucket the shortest is the finding.
        for path, trace in sorted(seeds, key=lambda seed: (len(seed[1].steps), seed[0])):
            if begin is not None:
                begin(path)
            yield path, self._replay(findings, path, trace)

    def save(
        self, findings: Sequence[Finding], failures: Sequence[Failure], outcomes: Sequence[SeedOutcome] = ()
    ) -> tuple[list[Failure], list[Note]]:
        """Save the failures that always fail, which belong to ``findings``, in their order.

        ``outcomes`` are the results of the seeds that were replayed before.

        Returns:
            All of them, and a sentence for each that was not saved.
        """
        kept, notes = [], list[Note]()
        for finding, failure in zip(findings, failures, strict=True):
            path = finding.seed
            try:
                path = self._saved(finding, failure, outcomes)
            except SeedError as error:
                notes.append(_not_saved(error))
            kept.append(msgspec.structs.replace(failure, seed_path=None if path is None else str(path)))
        if any(failure.seed_path for failure in kept) and not self._is_importable:
            notes.append(
                Note(f"Only an Explorer of {self._test_class} can replay its seeds: nothing else can import it.")
            )
        return kept, notes

    def _replay(self, findings: Findings, path: Path, trace: Trace) -> SeedOutcome:
        try:
            finding = findings.add_seed(path, tape_of(trace, self._driver))
        except OrdealError as outdated:
            return seed_outcome(path, SeedStatus.NO_LONGER_APPLIES, outdated.message)
        if finding is None:
            # A seed that did not fail may also not have run as recorded. All replays of seeds decide that the same way.
            replay = replay_trace(path, trace, self._driver.factory, self._driver.rule_timeout)
            message = replay.reason if replay.error is None else describe_error(replay.error)
            return seed_outcome(path, replay.status, message)
        assert trace.failure is not None, "a seed without a failure is not loaded"
        is_same = is_in_bucket(finding.error, trace.failure.bucket, finding.bucket)
        status = SeedStatus.REPRODUCED if is_same else SeedStatus.FAILS_DIFFERENTLY
        return seed_outcome(path, status, describe_error(finding.error))

    def _saved(self, finding: Finding, failure: Failure, outcomes: Sequence[SeedOutcome]) -> Path | None:
        if self._corpus is None or failure.trace is None or failure.flaky:
            return finding.seed
        if finding.seed is None:
            return self._corpus.save(failure.trace)
        if not finding.improved:
            return finding.seed
        # Its shrunk version replaces a seed that is still the same failure.
        old, new = finding.seed, self._corpus.save(failure.trace)
        outcome = next((outcome for outcome in outcomes if outcome.path == str(old)), None)
        if new != old and outcome is not None and outcome.status is SeedStatus.REPRODUCED:
            self._corpus.remove([old])
        return new


def save_again(failures: Sequence[Failure]) -> Iterator[Note]:
    """Write missing seeds of ``failures`` again. Yields a sentence for each that cannot be written."""
    for failure in failures:
        if failure.seed_path is not None and failure.trace is not None and not Path(failure.seed_path).exists():
            try:
                failure.trace.save(failure.seed_path)
            except TraceError as error:
                yield _not_saved(error)


def _not_saved(error: OrdealError) -> Note:
    return Note(f"A seed was not saved: {error.message}.", NoteKind.SEED_NOT_SAVED)


def seed_outcome(path: Path, status: SeedStatus, message: str) -> SeedOutcome:
    """Return the outcome of the seed in the file ``path``."""
    return SeedOutcome(seed_name(path), str(path), status, message)

"""Treats failures around a search: replays seeds, and confirms, shrinks and saves failures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._base.trace_file import Trace
from ordeal._base.untrusted import error_message
from ordeal._engine.execution.bucket import place_of
from ordeal._engine.isolation.hangs import ends_within
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.path_shrinking import SECONDS as PATH_SECONDS
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.executors import Executor, JobEnd, Task
from ordeal._engine.triage.findings import OF_SEED, Finding
from ordeal._engine.triage.fresh_interpreter import confirm_fresh, fresh_interpreter_of
from ordeal._engine.triage.jobs import (
    Job,
    bare_failure,
    fill_database,
    replay_seeds,
    triage_finding,
    write_traces,
)
from ordeal._engine.triage.messages import (
    CheckFailed,
    FailureWritten,
    Message,
    NotInDatabase,
    Refuted,
    SeedBegun,
    SeedDone,
    Shrinking,
    TraceWritten,
)
from ordeal._engine.triage.seeds import ClassSeeds, save_again, seed_outcome
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._engine.triage.siblings import Family, families, joined
from ordeal.config.options import ExplorationOptions, ShrinkOptions
from ordeal.errors import OrdealError
from ordeal.result import Failure, NoteKind, SeedOutcome, SeedStatus

#: Time limit besides shrinking: to start a process, run a trace a few times, and record it.
SLACK_SECONDS = 1.0


def shrinking_seconds(options: ShrinkOptions) -> float:
    """Return how long shrinking all failures may take: half as long as a search that its time limit ends."""
    if isinstance(options, ExplorationOptions) and options.max_runs is None:
        return max(2 * SLACK_SECONDS, options.max_time / 2)
    return math.inf


class Others(Protocol):
    """Explorations elsewhere, which may meet the same failures."""

    def trace(self, bucket: str) -> bytes | None:
        """Return their shortest trace of it, as unchecked JSON, if there is one."""

    def is_shrunk(self, bucket: str) -> bool:
        """Return True if this trace is said to be shrunk."""


class Listener(Protocol):
    """The exploration whose failures are triaged."""

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Add a note for the user."""

    def shrinking(self, number: int, total: int, now: Shrinking) -> None:
        """Report another candidate for the failure ``number`` of ``total``."""

    def interrupted(self) -> None:
        """Note a Ctrl-C. Raises KeyboardInterrupt if everything must end at once."""

    def count_of(self, finding: Finding) -> int:
        """Return how many runs met ``finding``."""
        return finding.count


class _FindingInTriage(msgspec.Struct):
    """A finding with the results of its job."""

    number: int
    finding: Finding
    before: _native.Tape
    shrink: bool
    seconds: float  # its time limit
    family: Family | None = None  # if another member of it is shrunk first
    shorter: _native.Tape | None = None
    is_shrunk: bool = False  # it need not be shrunk, unless the shorter tape shows nothing here
    failure: Failure | None = None
    is_refuted: bool = False  # it was suspected to hang, and does not


class Triage:
    """Does the work for one exploration. Owned by it, and used by one thread.

    Attributes:
        seed_outcomes: the results of the seeds, sorted by their files.
    """

    def __init__(
        self,
        setup: ReplaySetup,
        executor: Executor,
        listener: Listener,
        folder: WorkingFolder,
    ) -> None:
        self._setup = setup
        self._executor = executor
        self._listener = listener
        self._folder = folder
        # Made before any code of the user's runs, because it starts interpreters in the present state.
        settings = setup.settings
        self._fresh = None
        if settings.confirm_fresh:
            self._fresh = fresh_interpreter_of(
                settings.test_class, setup.driver, setup.targets, seconds=settings.max_shrink_time
            )
        self._until = math.inf  # when shrinking ends
        self.seed_outcomes: list[SeedOutcome] = []

    def close(self) -> None:
        """End what still runs."""
        self._executor.close()

    # -- seeds --------------------------------------------------------------------------------------------------------

    def replay_seeds(self, found: Callable[[Finding], object]) -> None:
        """Replay the seeds of the class: call ``found`` for failing ones, which no run has met yet."""
        folder = self._setup.settings.corpus_dir
        done: list[str] = []
        while folder is not None:
            ending, crash, current = self._replay_more(folder, done, found)
            if ending is JobEnd.DONE:
                break
            if crash is None or not current:
                self._listener.note("Not all seeds were replayed: their process ended.")
            else:
                path = Path(current)
                found(Finding(crash.bucket, crash.tape, OF_SEED, crash.error, count=0, seed=path))
                recorded = Trace.load(path).failure
                same = recorded is not None and recorded.bucket == crash.bucket
                status = SeedStatus.REPRODUCED if same else SeedStatus.FAILS_DIFFERENTLY
                self.seed_outcomes.append(seed_outcome(path, status, describe_error(crash.error)))
            if not current:
                break
            done.append(current)
        self.seed_outcomes.sort(key=lambda outcome: outcome.path)

    def _replay_more(
        self, folder: Path, done: list[str], found: Callable[[Finding], object]
    ) -> tuple[JobEnd, Crash | None, str]:
        """Replay the seeds that are not ``done``; return how their process ended, and the seed that ran then."""
        ending, crash, current = JobEnd.LOST, None, ""

        def on_message(message: Message) -> None:
            nonlocal current
            if isinstance(message, SeedBegun):
                current = message.path
            elif isinstance(message, SeedDone):
                current = ""
                done.append(message.path)
                self.seed_outcomes.append(message.outcome)
                for finding in message.findings:
                    finding.seed = Path(message.path)
                    found(finding)

        def ended(how: JobEnd, died: Crash | None) -> None:
            nonlocal ending, crash
            ending, crash = how, died

        self._executor.run([Task(replay_seeds(folder, done), self._forwarding(on_message), ended)])
        return ending, crash, current

    # -- failures -----------------------------------------------------------------------------------------------------

    def confirm_and_shrink(
        self,
        findings: Sequence[Finding],
        *,
        shrink: bool,
        others: Others | None = None,
    ) -> list[Failure]:
        """Confirm, shrink and record all ``findings``, and save them as seeds.

        ``others`` may have shrunk a bucket.
        """
        shrink = shrink and self._setup.settings.shrink
        all_seconds = shrinking_seconds(self._setup.settings)
        seconds = min(self._setup.settings.max_shrink_time, all_seconds)
        self._until = _native.monotonic() + all_seconds
        waiting = [
            _FindingInTriage(number, each, each.tape, shrink, seconds) for number, each in enumerate(findings, start=1)
        ]
        # Siblings share the time of one, however many they are.
        by_place = families(findings) if len(waiting) > 1 else {}
        for each in waiting if by_place else ():
            family = by_place[place_of(each.finding.bucket)]
            if each.finding is not family.first:
                each.family, each.seconds = family, each.seconds / (family.size - 1)
        with self.interruptible("Shrinking was interrupted: some traces are longer than need be."):
            if others is not None:
                for each in waiting:
                    self._compare_with_others(each, others)
                    each.shrink = shrink and (not each.is_shrunk or each.shorter is not None)
            # What the first finding at a place needs, its siblings may need as well.
            for is_first in (True, False):
                chosen = [each for each in waiting if (each.family is None) is is_first]
                self._executor.run([self._task(each, len(waiting), shrink=each.shrink) for each in chosen])
        left = [each for each in waiting if each.failure is None and not each.is_refuted]
        self._executor.finish([self._task(each, len(waiting), shrink=False) for each in left])
        judged = [each for each in waiting if not self._was_lost(each)]
        pairs = []
        for each in judged:
            each.finding.count = self._listener.count_of(each.finding)
            failure = each.failure or bare_failure(self._setup, each.finding)
            pairs.append((each.finding, msgspec.structs.replace(failure, count=each.finding.count)))
        if len(pairs) > 1:
            pairs = joined(pairs)
        return self._kept([finding for finding, _ in pairs], [failure for _, failure in pairs])

    def _task(
        self,
        each: _FindingInTriage,
        total: int,
        *,
        shrink: bool,
    ) -> Task:
        finding = each.finding

        def on_message(message: Message) -> None:
            if isinstance(message, Refuted):
                each.is_refuted = True
            elif isinstance(message, Shrinking):
                self._listener.shrinking(each.number, total, message)
            elif isinstance(message, FailureWritten):
                each.failure = message.failure
                finding.tape, finding.flaky = message.tape, message.failure.flaky
                finding.improved = finding.improved or message.tape != each.before
                if not message.finished:
                    self._note_limit(each)

        def ended(ending: JobEnd, _crash: Crash | None) -> None:
            if ending is JobEnd.LATE:
                self._note_limit(each)

        job = triage_finding(
            finding,
            is_suspected=self._is_suspected(finding),
            shrink=shrink,
            seconds=each.seconds,
            until=self._until,
            shorter=each.shorter,
            is_shrunk=each.is_shrunk,
            family=each.family,
        )
        # What is left of a hang takes its full limit once, and one that is suspected does so before.
        last = ends_within(max(0.0, self._setup.driver.rule_timeout)) if finding.is_timeout else 0.0
        last *= 2 if self._is_suspected(finding) else 1
        return Task(job, self._forwarding(on_message), ended, seconds=each.seconds + last + SLACK_SECONDS)

    def _forwarding(self, on_message: Callable[[Message], object]) -> Callable[[Message], object]:
        """Return a receiver that notes failed checks of the core, and passes all other messages to ``on_message``."""

        def forward(message: Message) -> None:
            if isinstance(message, CheckFailed):
                self._listener.note(message.text)
            else:
                on_message(message)

        return forward

    def _compare_with_others(self, each: _FindingInTriage, others: Others) -> None:
        """Take over the tape that others have of the bucket, if it is shorter."""
        finding = each.finding
        data = others.trace(finding.bucket)
        if data is None:
            return
        try:
            tape = tape_of(Trace.from_json(data), self._setup.driver)
        except OrdealError as error:
            self._listener.note(f"A trace of the store was refused: {error.message}.")
            return
        if len(tape) < len(each.shorter or finding.tape):
            each.shorter = tape
        each.is_shrunk = others.is_shrunk(finding.bucket)

    def _note_limit(self, each: _FindingInTriage) -> None:
        limit = f"{each.seconds:g} s"
        self._listener.note(f"Shrinking of {each.finding.bucket} stopped after {limit}, before its trace was minimal.")

    def _is_suspected(self, finding: Finding) -> bool:
        """Return True if the search did not wait for its whole limit."""
        return finding.is_timeout and finding.seed is None and self._setup.driver.limits.is_short

    def _was_lost(self, each: _FindingInTriage) -> bool:
        """Return True if it is not a failure: its process was killed from outside or for memory, or a step is slow."""
        if each.is_refuted:
            what = error_message(each.finding.error).partition(" timed out")[0]
            self._listener.note(
                f"{what} took less than its limit. It may be slow rather than hung; raise max_time to see it finish."
            )
            return True
        if not (each.finding.flaky and each.finding.was_killed):
            return False
        self._listener.note("A worker was killed from outside, or for lack of memory. No run reproduces that.")
        return True

    def _kept(self, findings: list[Finding], failures: list[Failure]) -> list[Failure]:
        """Return the failures after replays in fresh interpreters, saved as seeds."""
        with self.interruptible("No failure was confirmed in a fresh process: that was interrupted."):
            # Failures that end their process were seen to do so in separate processes.
            asked = [number for number, finding in enumerate(findings) if not finding.needs_own_process]
            if self._fresh is not None and asked:
                judged, unknown = confirm_fresh(self._fresh, [findings[n] for n in asked], [failures[n] for n in asked])
                for text in unknown:
                    self._listener.note(text)
                by_number = dict(zip(asked, judged, strict=True))
                failures = [by_number.get(number, failure) for number, failure in enumerate(failures)]
        self._folder.restore()
        seeds = ClassSeeds(self._setup.settings.corpus_dir, self._setup)
        failures, notes = seeds.save(findings, failures, self.seed_outcomes)
        for note in notes:
            self._listener.note(note, note.kind)
        return failures

    # -- traces and the database --------------------------------------------------------------------------------------

    def traces(self, failures: Sequence[Failure], productive: Sequence[tuple[Provenance, _native.Tape]]) -> list[Trace]:
        """Return traces of the failures and of the runs that were kept, if wanted."""
        if not self._setup.settings.record_traces:
            return []
        traces = [failure.trace for failure in failures if failure.trace is not None]

        def on_message(message: Message) -> None:
            assert isinstance(message, TraceWritten)
            traces.append(message.trace)

        is_sample = self._setup.settings.record_traces == "sample"
        lost = f"Not all runs {'of the sample' if is_sample else 'that reached new code'} have a trace"
        self._run_one(write_traces(productive), on_message, lost, PATH_SECONDS + SLACK_SECONDS)
        return traces

    def fill_database(self, findings: Sequence[Finding], failures: Sequence[Failure]) -> None:
        """Let plain pytest find the reported ``failures`` too, except those that would end it, or hang in it."""
        reported = {failure.bucket for failure in failures if not failure.flaky}
        fit = [each for each in findings if not each.needs_own_process and not each.is_timeout]
        steady = [each.tape for each in fit if each.bucket in reported]
        if self._setup.settings.corpus_dir is None or not steady:
            return

        def on_message(message: Message) -> None:
            assert isinstance(message, NotInDatabase)
            self._listener.note(message.reason)

        # Each failure runs under Hypothesis to make its entry.
        self._run_one(fill_database(steady), on_message, "Not all failures were saved for plain pytest", 20.0)

    def save_again(self, failures: Sequence[Failure]) -> None:
        """Write missing seeds of the failures again, when no code of the user's runs any more."""
        for note in save_again(failures):
            self._listener.note(note, note.kind)

    def _run_one(self, job: Job, on_message: Callable[[Message], None], lost: str, seconds: float) -> None:
        """Run a job for at most ``seconds``; ``lost`` begins the note on what is missing after that."""

        def ended(ending: JobEnd, _crash: Crash | None) -> None:
            if ending is not JobEnd.DONE:
                self._listener.note(f"{lost}: that took longer than {seconds:g} s, or its process ended.")

        with self.interruptible(f"{lost}: that was interrupted."):
            self._executor.run([Task(job, self._forwarding(on_message), ended, seconds)])

    @contextmanager
    def interruptible(self, note: str) -> Iterator[None]:
        """Let Ctrl-C end only the work of the block, because the findings are worth more."""
        try:
            yield
        except KeyboardInterrupt:
            self._listener.interrupted()
            self._listener.note(note)

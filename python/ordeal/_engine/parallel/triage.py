"""What is done with findings before and after the search, each in a process of its own: seeds, shrinking, traces."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ordeal import _native
from ordeal._engine.formatting import describe_error
from ordeal._engine.isolation.channel import Value
from ordeal._engine.isolation.child import Child, Job, wait_for
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.merged import Union
from ordeal._engine.parallel.messages import ITEM, TICK, SentFailure, unpack, unpack_finding, unpack_tape
from ordeal._engine.parallel.triage_jobs import Bench, bare_failure, fill_database, judge, replay_seeds, write_traces
from ordeal._engine.replay.crash_replayer import CrashReader, Stall
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.path_shrinking import SECONDS as PATH_SECONDS
from ordeal._engine.storage.trace_file import Trace
from ordeal._engine.triage.findings import OF_SEED, Finding
from ordeal._engine.triage.fresh_interpreter import confirm_fresh, fresh_process_of
from ordeal._engine.triage.seeds import ClassSeeds, seed_outcome
from ordeal.errors import OrdealError
from ordeal.result import Failure, SeedOutcome, SeedStatus

#: What a process may take for what is not shrinking: to start, to run a trace a few times, and to write it down.
SLACK_SECONDS = 1.0
#: What making entries for plain pytest may take, which runs each failure under Hypothesis.
DATABASE_SECONDS = 20.0
TICK_SECONDS = 0.05

Press = Callable[[], None]
ShrinkTold = Callable[[int, int, int, int, int], None]


class Others(Protocol):
    """Explorations elsewhere, which may meet the same failures."""

    def lease(self, bucket: str) -> bool:
        """Whether they leave it to this one to shrink ``bucket``."""

    def trace(self, bucket: str) -> bytes | None:
        """The shortest trace that they have of it, as JSON that nobody has looked at, if they have any."""


@dataclass(slots=True)
class _Judged:
    """A finding with what its process has told."""

    number: int
    finding: Finding
    child: Child | None = None
    shrink: bool = False
    of_others: _native.Tape | None = None
    deadline: float = 0.0
    failure: Failure | None = None


class Aftermath:
    """Does the work for one exploration; ``workers`` processes at most go on at the same time."""

    def __init__(self, bench: Bench, union: Union, folder: WorkingFolder, workers: int) -> None:
        self._bench = bench
        self._union = union
        self._folder = folder
        self._workers = workers
        self._children: list[Child] = []
        self._crashes = CrashReader(bench.driver)
        self.seed_outcomes: list[SeedOutcome] = []

    def close(self) -> None:
        """End all processes that still go on."""
        for child in self._children:
            child.close()
        self._children.clear()

    # -- seeds --------------------------------------------------------------------------------------------------------

    def replay_seeds(self) -> None:
        """Replay the seeds of the class: those that fail are findings, which no run has met yet."""
        folder = self._bench.settings.corpus_dir
        done: list[str] = []
        while folder is not None:
            child = self._child(replay_seeds(self._bench, folder, done))
            stall = Stall(child.journal, self._bench.driver.rule_timeout)
            current, hung = "", False
            while not (ended := child.has_ended()) and not (hung := stall.hangs()):
                current = self._hear_seeds(child, done, current)
                wait_for([child], TICK_SECONDS)
            if hung:
                child.kill()
            current = self._hear_seeds(child, done, current)
            assert child.death is not None
            if not ended or not child.death.is_clean:
                self._seed_crashed(child, current, hung=hung)
                done.append(current)
            self._drop(child)
            if (ended and child.death.is_clean) or not current:
                break
        self.seed_outcomes.sort(key=lambda outcome: outcome.path)

    def _hear_seeds(self, child: Child, done: list[str], current: str) -> str:
        """The seed that runs now, or none."""
        for kind, *values in child.messages():
            if kind == TICK:
                (current,) = map(str, values)
            elif kind == ITEM:
                sent, path, *found = values
                self.seed_outcomes.append(unpack(sent, SeedOutcome))
                done.append(str(path))
                current = ""
                for record, tape in zip(found[::2], found[1::2], strict=True):
                    self._add_seed(str(path), record, tape)
        return current

    def _add_seed(self, path: str, record: Value, tape: Value) -> None:
        finding = unpack_finding(record, tape, self._union.names)
        finding.seed = Path(path)
        self._union.add_finding(finding)

    def _seed_crashed(self, child: Child, path: str, *, hung: bool) -> None:
        assert child.death is not None
        crash = self._crashes.read(child.journal, child.death, hung=hung)
        if crash is None or not path:
            self._union.note("Not all seeds were replayed: their process ended.")
            return
        finding = Finding(crash.bucket, crash.tape, OF_SEED, crash.error, count=0, seed=Path(path))
        self._union.add_finding(finding)
        recorded = Trace.load(Path(path)).failure
        same = recorded is not None and recorded.bucket == crash.bucket
        status = SeedStatus.REPRODUCED if same else SeedStatus.FAILS_DIFFERENTLY
        self.seed_outcomes.append(seed_outcome(Path(path), status, describe_error(crash.error)))

    # -- failures -----------------------------------------------------------------------------------------------------

    def judge(self, *, shrink: bool, others: Others | None, pressed: Press, tell: ShrinkTold) -> list[Failure]:
        """Confirm, shrink and write down all findings, and save them as seeds.

        ``others`` may shrink a bucket in place of this exploration, or have done so.
        """
        waiting = [_Judged(number, each) for number, each in enumerate(self._union.findings.values(), start=1)]
        shrink = shrink and self._bench.settings.shrink
        try:
            for each in waiting:
                if others is not None:
                    each.of_others = self._tape_of_others(others, each.finding)
                each.shrink = shrink and (others is None or others.lease(each.finding.bucket))
            self._judge_all(list(waiting), tell=tell)
        except KeyboardInterrupt:
            pressed()
            self._union.note("Shrinking was interrupted: some traces are longer than need be.")
        self.close()
        judged = [each for each in waiting if not self._was_lost(each)]
        counts = self._union.counts()
        failures = []
        for each in judged:
            each.finding.count = max(counts[each.finding.bucket], 1 if each.finding.seed is None else 0)
            failure = each.failure or bare_failure(self._bench, each.finding)
            failures.append(dataclasses.replace(failure, count=each.finding.count))
        return self._kept([each.finding for each in judged], failures, pressed)

    def _tape_of_others(self, others: Others, finding: Finding) -> _native.Tape | None:
        """That of the shortest trace that others have told of the bucket, where it is shorter."""
        told = others.trace(finding.bucket)
        if told is None:
            return None
        try:
            trace = Trace.from_json(told)
            tape = tape_of(trace, self._bench.driver) if trace.has_choices else None
        except OrdealError as error:
            self._union.note(f"A trace of the store was refused: {error.message}.")
            return None
        return tape if tape is not None and len(tape) < len(finding.tape) else None

    def _judge_all(self, waiting: list[_Judged], *, tell: ShrinkTold) -> None:
        total, running = len(waiting), list[_Judged]()
        while waiting or running:
            while waiting and len(running) < self._workers:
                running.append(self._begin(waiting.pop(0)))
            for each in list(running):
                if not self._goes_on(each, total, tell):
                    running.remove(each)
            if running:
                wait_for([each.child for each in running if each.child is not None], TICK_SECONDS)

    def _begin(self, each: _Judged) -> _Judged:
        each.child = self._child(judge(self._bench, each.finding, shrink=each.shrink, of_others=each.of_others))
        each.deadline = time.monotonic() + self._bench.settings.max_shrink_time + SLACK_SECONDS
        return each

    def _goes_on(self, each: _Judged, total: int, tell: ShrinkTold) -> bool:
        child = each.child
        assert child is not None
        ended = child.has_ended()
        for kind, *values in child.messages():
            if kind == TICK:
                before, steps, candidates = (int(value) for value in values)  # type: ignore[arg-type]
                tell(each.number, total, before, steps, candidates)
            elif kind == ITEM:
                self._take(each, values)
        if not ended and time.monotonic() < each.deadline:
            return True
        if not ended:
            self._tell_of_limit(each)
        self._drop(child)
        each.child = None
        return False

    def _take(self, each: _Judged, values: Sequence[Value]) -> None:
        sent, tape, improved, finished = values
        failure = unpack(sent, SentFailure).failure()
        finding = each.finding
        finding.tape = unpack_tape(tape, self._union.names)
        finding.improved, finding.flaky = bool(improved), failure.flaky
        each.failure = failure
        if not finished:
            self._tell_of_limit(each)

    def _tell_of_limit(self, each: _Judged) -> None:
        limit = f"{self._bench.settings.max_shrink_time:g} s"
        self._union.note(f"Shrinking of {each.finding.bucket} stopped after {limit}, before its trace was minimal.")

    def _was_lost(self, each: _Judged) -> bool:
        """Whether a process was only killed from outside, or by the system that was out of memory."""
        finding = each.finding
        if not (finding.flaky and finding.bucket.startswith("ProcessKilledError(SIGKILL)")):
            return False
        self._union.note("A worker was killed from outside, or because memory was short: no run brings that about.")
        return True

    def _kept(self, findings: list[Finding], failures: list[Failure], pressed: Press) -> list[Failure]:
        """The failures as fresh processes see them, saved as seeds."""
        try:
            failures = self._seen_fresh(findings, failures)
        except KeyboardInterrupt:
            pressed()
            self._union.note("No failure was confirmed in a fresh process: that was interrupted.")
        settings, driver = self._bench.settings, self._bench.driver
        seeds = ClassSeeds(settings.corpus_dir, settings.test_class, driver)
        seeds.outcomes = self.seed_outcomes
        self._folder.restore()
        failures, notes = seeds.save(findings, failures)
        for note in notes:
            self._union.note(note)
        return failures

    def _seen_fresh(self, findings: list[Finding], failures: list[Failure]) -> list[Failure]:
        process = fresh_process_of(self._bench.settings, self._bench.driver, self._bench.targets)
        if process is None:
            return failures
        # What ends its process was seen to do so in processes of its own.
        asked = [number for number, finding in enumerate(findings) if not finding.needs_own_process]
        judged, notes = confirm_fresh(process, [findings[n] for n in asked], [failures[n] for n in asked])
        for note in notes:
            self._union.note(note)
        by_number = dict(zip(asked, judged, strict=True))
        return [by_number.get(number, failure) for number, failure in enumerate(failures)]

    # -- traces and the database --------------------------------------------------------------------------------------

    def traces(self, failures: Sequence[Failure], *, pressed: Press) -> list[Trace]:
        """Traces of the failures and of all runs that reached new code, where they are wanted."""
        if not self._bench.settings.record_traces:
            return []
        traces = [failure.trace for failure in failures if failure.trace is not None]
        items = self._items(
            write_traces(self._bench, self._union.productive),
            PATH_SECONDS + SLACK_SECONDS,
            "Not all runs that reached new code have a trace",
            pressed,
        )
        for (item,) in items:
            traces.append(Trace.from_json(item if isinstance(item, bytes) else b""))
        return traces

    def fill_database(self, *, pressed: Press) -> None:
        """Let plain pytest find the failures too, but for those that would end it."""
        if self._bench.settings.corpus_dir is None:
            return
        steady = [each for each in self._union.findings.values() if not each.flaky and not each.needs_own_process]
        if not steady:
            return
        items = self._items(
            fill_database(self._bench, [each.tape for each in steady]),
            DATABASE_SECONDS,
            "Not all failures were saved for plain pytest",
            pressed,
        )
        for (reason,) in items:
            self._union.note(str(reason))

    def _items(self, job: Job, seconds: float, lost: str, pressed: Press) -> list[list[Value]]:
        """What a job tells in so many seconds."""
        child = self._child(job)
        deadline = time.monotonic() + seconds
        items: list[list[Value]] = []
        try:
            while not child.has_ended() and time.monotonic() < deadline:
                items += (values for kind, *values in child.messages() if kind == ITEM)
                wait_for([child], TICK_SECONDS)
        except KeyboardInterrupt:
            pressed()
            self._union.note(f"{lost}: that was interrupted.")
        else:
            if child.death is None or not child.death.is_clean:
                self._union.note(f"{lost}: that took longer than {seconds:g} s, or its process ended.")
        items += (values for kind, *values in child.messages() if kind == ITEM)
        self._drop(child)
        return items

    # -- processes ----------------------------------------------------------------------------------------------------

    def _child(self, job: Job) -> Child:
        self._folder.restore()
        child = Child(job, self._bench.limits)
        self._children.append(child)
        return child

    def _drop(self, child: Child) -> None:
        child.close()
        self._children.remove(child)

"""Triage as a whole: what becomes of findings and seeds wherever its jobs run, and what the user is told of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.execution.bucket import ProcessExitError, ProcessKilledError
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal._engine.triage.executors import Executor, Here, JobEnd, OwnProcesses, Task
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.jobs import bare_failure
from ordeal._engine.triage.messages import FailureWritten, Message, SeedBegun, TraceWritten
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._engine.triage.triage import Triage
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.result import Failure, NoteKind, SeedStatus
from ordeal.trace import Trace

from ...samples.triaged import Counter, Told, finding_for, origin, seed_files, setup_for, tape_for

Steps = list[str | tuple[str, dict[str, list[Any]]]]
LONG: Steps = ["rest", ("add", {"by": [6]}), "rest", ("add", {"by": [5]})]
SHORT: Steps = [("add", {"by": [6]}), ("add", {"by": [5]})]
INTERRUPTED = "Shrinking was interrupted: some traces are longer than need be."


class Leaves(RuleBasedStateMachine):
    @rule()
    def leave(self) -> None:
        os._exit(3)

    @rule()
    def fail(self) -> None:
        raise ValueError


class Scripted(Here):
    """An executor that runs nothing: it tells of each task what it was told to.

    Attributes:
        tasks: those that it was to run, and then those that it was to finish.
    """

    def __init__(self, *scripts: Callable[[Task], object]) -> None:
        self.tasks: list[Task] = []
        self.finished: list[Task] = []
        self.closed = 0
        self._scripts = list(scripts)

    def run(self, tasks: Sequence[Task]) -> None:
        self.tasks += tasks
        for task in tasks:
            self._scripts.pop(0)(task)

    def finish(self, tasks: Sequence[Task]) -> None:
        self.finished += tasks

    def close(self) -> None:
        self.closed += 1


def tells(*messages: Message, ending: JobEnd = JobEnd.DONE, crash: Crash | None = None) -> Callable[[Task], None]:
    def script(task: Task) -> None:
        for message in messages:
            task.on_message(message)
        task.ended(ending, crash)

    return script


def interrupts(_task: Task) -> None:
    raise KeyboardInterrupt


def folder() -> WorkingFolder:
    return WorkingFolder(lambda _text: None)


def executor_here(setup: ReplaySetup) -> Executor:
    randoms = GlobalRandoms()
    return Here(JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), randoms), randoms=randoms))


def executor_apart(setup: ReplaySetup) -> Executor:
    return OwnProcesses(setup, folder(), 2)


def triage_of(setup: ReplaySetup, executor: Executor, told: Told) -> Triage:
    return Triage(setup, executor, told, folder())


def counter(*all_steps: Steps, **options: Any) -> tuple[ReplaySetup, list[Finding]]:
    setup = setup_for(Counter, **options)
    return setup, [finding_for(setup, tape_for(setup.driver, *steps)) for steps in all_steps]


def written(setup: ReplaySetup, finding: Finding, *, finished: bool = True) -> FailureWritten:
    return FailureWritten(bare_failure(setup, finding), finding.tape, finished=finished)


@pytest.fixture
def told() -> Told:
    return Told()


class OfOthers:
    """Others that have one trace of each bucket, or none."""

    def __init__(self, trace: bytes | None, *, shrunk: bool = False) -> None:
        self._trace = trace
        self._shrunk = shrunk

    def trace(self, bucket: str) -> bytes | None:
        return self._trace

    def is_shrunk(self, bucket: str) -> bool:
        return self._shrunk


def trace_of(steps: Steps) -> bytes:
    setup, (finding,) = counter(steps)
    trace = bare_failure(setup, finding).trace
    assert trace is not None
    return trace.to_json()


@pytest.mark.forks
class TestBothPlaces:
    def checked(self, make: Callable[[ReplaySetup], Executor], corpus: Path) -> list[tuple[object, ...]]:
        setup, findings = counter(LONG, ["rest", "other"], corpus_dir=corpus)
        failures = triage_of(setup, make(setup), Told()).confirm_and_shrink(findings, shrink=True)
        return [self.plain(failure) for failure in failures]

    def plain(self, failure: Failure) -> tuple[object, ...]:
        assert failure.trace is not None
        return (
            failure.trace.to_json(), type(failure.error).__name__, str(failure.error), failure.step, failure.run_id,
            failure.rule_log, failure.bucket, failure.count, failure.flaky, failure.shrunk, failure.program,
            failure.necessary_faults, Path(str(failure.seed_path)).name,
        )  # fmt: skip

    def test_failures_and_their_seeds_are_the_same(self, tmp_path: Path) -> None:
        one = self.checked(executor_here, tmp_path / "one")
        assert one == self.checked(executor_apart, tmp_path / "two")
        assert len(one) == 2
        assert seed_files(tmp_path / "one") == seed_files(tmp_path / "two")
        assert len(seed_files(tmp_path / "one")) == 2

    @pytest.mark.parametrize("make", [executor_here, executor_apart])
    def test_seeds_are_replayed_and_shrunk_ones_stay(
        self, make: Callable[[ReplaySetup], Executor], tmp_path: Path, told: Told
    ) -> None:
        self.checked(executor_here, tmp_path)
        setup, _ = counter(corpus_dir=tmp_path)
        found: list[Finding] = []
        triage = triage_of(setup, make(setup), told)
        triage.replay_seeds(found.append)
        assert [type(finding.error).__name__ for finding in found] == ["KeyError", "ValueError"]
        assert sorted(str(finding.seed) for finding in found) == [each.path for each in triage.seed_outcomes]
        assert {outcome.status for outcome in triage.seed_outcomes} == {SeedStatus.REPRODUCED}
        before = seed_files(tmp_path)
        failures = triage.confirm_and_shrink(found, shrink=True)
        assert [failure.run_id for failure in failures] == [0, 0]
        assert seed_files(tmp_path) == before
        assert told.notes == []


class TestSeeds:
    @pytest.mark.forks
    def test_a_seed_that_ends_its_process_is_a_finding_and_the_others_are_replayed(
        self, tmp_path: Path, told: Told
    ) -> None:
        setup = setup_for(Leaves, corpus_dir=tmp_path)
        crash = Finding("ProcessExitError(3) at leave", tape_for(setup.driver, "leave"), origin(1), ProcessExitError())
        fails = finding_for(setup, tape_for(setup.driver, "fail"))
        for finding in (crash, fails):
            trace = bare_failure(setup, finding).trace
            assert trace is not None
            SeedCorpus(tmp_path).save(trace)
        found: list[Finding] = []
        triage = triage_of(setup, executor_apart(setup), told)
        triage.replay_seeds(found.append)
        assert sorted(finding.bucket for finding in found) == sorted([crash.bucket, fails.bucket])
        assert [finding.count for finding in found] == [0, 0]
        assert {outcome.status for outcome in triage.seed_outcomes} == {SeedStatus.REPRODUCED}
        paths = [outcome.path for outcome in triage.seed_outcomes]
        assert paths == sorted(paths)
        assert told.notes == []

    def test_a_seed_whose_end_nobody_can_read_is_noted_and_left_out(self, tmp_path: Path, told: Told) -> None:
        setup, _ = counter(corpus_dir=tmp_path)
        executor = Scripted(tells(SeedBegun("one"), ending=JobEnd.LOST), tells())
        triage_of(setup, executor, told).replay_seeds(lambda _finding: pytest.fail("nothing was found"))
        assert told.sentences == ["Not all seeds were replayed: their process ended."]
        assert len(executor.tasks) == 2


class TestJudging:
    def test_time_that_is_up_is_noted(self, told: Told) -> None:
        setup, findings = counter(LONG, max_shrink_time=2.5)
        (finding,) = findings
        executor = Scripted(tells(written(setup, finding, finished=False)))
        triage_of(setup, executor, told).confirm_and_shrink(findings, shrink=True)
        assert told.sentences == [f"Shrinking of {finding.bucket} stopped after 2.5 s, before its trace was minimal."]
        assert executor.tasks[0].seconds == pytest.approx(3.5)

    def test_all_failures_share_half_of_the_time_of_the_search(self, told: Told) -> None:
        setup, findings = counter(LONG, max_time=6.0)
        executor = Scripted(tells(written(setup, findings[0], finished=False)))
        triage_of(setup, executor, told).confirm_and_shrink(findings, shrink=True)
        (sentence,) = told.sentences
        assert sentence.endswith(" stopped after 3 s, before its trace was minimal.")
        # A search that a number of runs ends gives the same result each time.
        setup, findings = counter(LONG, max_time=6.0, max_runs=10, max_shrink_time=20.0)
        executor = Scripted(tells(written(setup, findings[0])))
        triage_of(setup, executor, told).confirm_and_shrink(findings, shrink=True)
        assert executor.tasks[0].seconds == pytest.approx(21.0)

    def test_a_late_one_is_noted_and_known_by_its_tape(self, told: Told) -> None:
        setup, findings = counter(LONG, max_shrink_time=1.0)
        (failure,) = triage_of(setup, Scripted(tells(ending=JobEnd.LATE)), told).confirm_and_shrink(
            findings, shrink=True
        )
        assert len(told.notes) == 1
        assert (failure.rule_log, failure.step, failure.bucket) == (
            ["rest", "add", "rest", "add"],
            4,
            findings[0].bucket,
        )
        assert failure.trace is not None
        assert failure.trace.steps[1].choices == {"by": [6]}

    def test_what_was_written_before_the_process_was_lost_counts(self, told: Told) -> None:
        setup, findings = counter(LONG)
        short = finding_for(setup, tape_for(setup.driver, *SHORT))
        executor = Scripted(tells(written(setup, short), ending=JobEnd.LOST))
        (failure,) = triage_of(setup, executor, told).confirm_and_shrink(findings, shrink=True)
        assert failure.rule_log == ["add", "add"]
        assert findings[0].tape.hash() == short.tape.hash()
        assert findings[0].improved
        assert told.notes == []

    @pytest.mark.parametrize(("flaky", "kept"), [(True, 0), (False, 1)])
    def test_a_worker_that_was_only_killed_from_outside_is_no_failure(self, flaky: bool, kept: int, told: Told) -> None:
        setup, (finding,) = counter(SHORT)
        finding.bucket, finding.error = "ProcessKilledError(SIGKILL) at add", ProcessKilledError("killed")
        finding.flaky = flaky
        assert len(triage_of(setup, Scripted(tells()), told).confirm_and_shrink([finding], shrink=True)) == kept
        said = "A worker was killed from outside, or for lack of memory. No run reproduces that."
        assert told.sentences == [said] * (1 - kept)

    def test_ctrl_c_ends_shrinking_and_what_is_left_is_finished(self, told: Told) -> None:
        setup, findings = counter(LONG, ["other"])
        first = written(setup, findings[0])
        executor = Scripted(tells(first), interrupts)
        failures = triage_of(setup, executor, told).confirm_and_shrink(findings, shrink=True)
        assert told.sentences == [INTERRUPTED]
        assert told.interruptions == 1
        assert len(executor.finished) == 1
        assert [failure.bucket for failure in failures] == [finding.bucket for finding in findings]

    def test_a_seed_that_cannot_be_saved_is_noted_as_such(self, tmp_path: Path, told: Told) -> None:
        (tmp_path / "file").write_text("no folder")
        setup, findings = counter(SHORT, corpus_dir=tmp_path / "file")
        (failure,) = triage_of(setup, executor_here(setup), told).confirm_and_shrink(findings, shrink=False)
        assert failure.seed_path is None
        ((note, kind),) = told.notes
        assert note.startswith("A seed was not saved: ")
        assert kind is NoteKind.SEED_NOT_SAVED


class TestOthers:
    def judge(self, others: OfOthers, told: Told, steps: Steps = LONG) -> Failure:
        setup, findings = counter(steps)
        (failure,) = triage_of(setup, executor_here(setup), told).confirm_and_shrink(
            findings, shrink=True, others=others
        )
        return failure

    def test_what_they_have_shrunk_is_not_shrunk_again(self, told: Told) -> None:
        failure = self.judge(OfOthers(trace_of(SHORT), shrunk=True), told)
        assert (failure.rule_log, failure.shrunk, told.progress) == (["add", "add"], True, [])

    def test_what_they_have_shrunk_and_does_not_fail_here_is_shrunk_here(self, told: Told) -> None:
        failure = self.judge(OfOthers(trace_of(["other"]), shrunk=True), told)
        assert failure.shrunk
        assert told.progress

    @pytest.mark.parametrize("rubbish", [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 99}'])
    def test_rubbish_of_theirs_is_noted_and_refused(self, rubbish: bytes, told: Told) -> None:
        failure = self.judge(OfOthers(rubbish), told)
        assert failure.shrunk
        (note,) = told.sentences
        assert note.startswith("A trace of the store was refused: ")

    def test_a_trace_of_another_version_of_the_class_is_noted_and_refused(self, told: Told) -> None:
        trace = Trace.from_json(trace_of(["other"]))
        trace.steps[0].name = "gone"
        self.judge(OfOthers(trace.to_json()), told)
        (note,) = told.sentences
        assert "it has no rule 'gone'" in note


class TestTracesAndDatabase:
    @pytest.mark.parametrize("ending", [JobEnd.LATE, JobEnd.LOST])
    def test_traces_that_are_missing_are_noted_and_the_others_kept(self, ending: JobEnd, told: Told) -> None:
        setup, _ = counter(record_traces=True)
        more = Trace(9, 42, "x:Y")
        triage = triage_of(setup, Scripted(tells(TraceWritten(more), ending=ending)), told)
        assert triage.traces([], []) == [more]
        assert told.sentences == [
            "Not all runs that reached new code have a trace: that took longer than 61 s, or its process ended."
        ]

    def test_neither_flaky_failures_nor_what_ends_processes_are_for_plain_pytest(
        self, tmp_path: Path, told: Told
    ) -> None:
        setup, (flaky, crash) = counter(SHORT, ["other"], corpus_dir=tmp_path)
        flaky.flaky = True
        crash.error = ProcessExitError()
        executor = Scripted()
        both = [flaky, crash]
        triage_of(setup, executor, told).fill_database(both, [bare_failure(setup, each) for each in both])
        assert executor.tasks == []

    def test_a_seed_that_is_gone_is_written_once_more(self, tmp_path: Path, told: Told) -> None:
        setup, findings = counter(SHORT, corpus_dir=tmp_path)
        triage = triage_of(setup, executor_here(setup), told)
        failures = triage.confirm_and_shrink(findings, shrink=False)
        (path,) = [Path(str(failure.seed_path)) for failure in failures]
        text = path.read_bytes()
        path.unlink()
        triage.save_again(failures)
        assert path.read_bytes() == text

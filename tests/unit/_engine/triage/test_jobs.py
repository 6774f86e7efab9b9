"""The jobs of triage: what each tells, and in which order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, ClassVar, NoReturn

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._engine.execution.bucket import ProcessExitError
from ordeal._engine.isolation.hangs import HangPolicy
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.executors import Here, OwnProcesses, Task
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.jobs import Job, triage_finding
from ordeal._engine.triage.messages import (
    CheckFailed,
    FailureWritten,
    Message,
    Refuted,
    Shrinking,
)
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.chaos import ChaosTest

from ...samples.triaged import Counter, finding_for, origin, setup_for, tape_for

Run = Callable[[ReplaySetup, Job], list[Message]]


def raise_check(*_arguments: object) -> NoReturn:
    raise _native.CheckError("core/x.cpp:1: no")


class BrokenShrinker(_native.Shrinker):  # type: ignore[misc]
    """Proposes a little, and then meets a mistake of its own."""

    def candidate(self) -> _native.Tape | None:
        return super().candidate() if self.candidates < 3 else raise_check()


LONG: list[str | tuple[str, dict[str, list[Any]]]] = ["rest", ("add", {"by": [6]}), "rest", ("add", {"by": [5]})]


class Leaving(RuleBasedStateMachine):
    """Ends its process."""

    @rule()
    def rest(self) -> None: ...

    @rule()
    def leave(self) -> None:
        os._exit(3)


class Moody(RuleBasedStateMachine):
    """Fails only the first time."""

    calls: ClassVar[int] = 0

    @rule()
    def go(self) -> None:
        Moody.calls += 1
        if Moody.calls == 1:
            raise ValueError("first")


def here(setup: ReplaySetup, job: Job) -> list[Message]:
    told: list[Message] = []
    randoms = GlobalRandoms()
    context = JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), randoms), randoms=randoms)
    Here(context).run([Task(job, told.append)])
    return told


def apart(setup: ReplaySetup, job: Job) -> list[Message]:
    told: list[Message] = []
    OwnProcesses(setup, WorkingFolder(lambda _text: None), 1).run([Task(job, told.append)])
    return told


@pytest.fixture(params=[here, pytest.param(apart, marks=pytest.mark.forks)])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.param
    return found


@pytest.fixture
def setup() -> ReplaySetup:
    return setup_for(Counter)


def failures_of(messages: list[Message]) -> list[FailureWritten]:
    return [message for message in messages if isinstance(message, FailureWritten)]


class TestJudging:
    def test_a_failure_is_shrunk_and_written_down_last(self, setup: ReplaySetup, run: Run) -> None:
        finding = finding_for(setup, tape_for(setup.driver, *LONG))
        told = run(setup, triage_finding(finding, shrink=True))
        last = told[-1]
        assert isinstance(last, FailureWritten)
        assert (last.finished, last.failure.shrunk, last.failure.flaky) == (True, True, False)
        assert (last.failure.rule_log, len(last.tape), last.failure.step) == (["add", "add"], 2, 2)
        assert (last.failure.bucket, last.failure.run_id) == (finding.bucket, 7)
        ticks = [message for message in told if isinstance(message, Shrinking)]
        assert [tick.candidates for tick in ticks] == list(range(1, len(ticks) + 1))
        assert {tick.steps_before for tick in ticks} == {4}
        assert ticks[-1].steps == 2

    def test_nothing_is_shrunk_once_the_time_for_all_failures_is_up(self, setup: ReplaySetup) -> None:
        finding = finding_for(setup, tape_for(setup.driver, *LONG))
        last = here(setup, triage_finding(finding, shrink=True, until=monotonic()))[-1]
        assert isinstance(last, FailureWritten)
        assert (last.failure.shrunk, len(last.tape)) == (False, 4)

    def test_a_failed_check_of_the_shrinker_leaves_it_as_far_as_it_came(
        self, setup: ReplaySetup, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_native, "Shrinker", BrokenShrinker)
        finding = finding_for(setup, tape_for(setup.driver, *LONG))
        *_, failed, last = run(setup, triage_finding(finding, shrink=True))
        assert isinstance(failed, CheckFailed)
        why = "stopped at a failed check of ordeal's own (core/x.cpp:1: no): please report it."
        assert failed.text == f"Shrinking of {finding.bucket} {why}"
        assert isinstance(last, FailureWritten)
        assert (len(last.tape), last.failure.shrunk, last.failure.flaky) == (3, True, False)

    def test_what_a_rule_replaced_ends_the_work_with_its_reason(
        self, setup: ReplaySetup, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(setup.trace_builder, "make", None)
        finding = finding_for(setup, tape_for(setup.driver, *LONG))
        failed = run(setup, triage_finding(finding, shrink=True))[-1]
        assert isinstance(failed, CheckFailed)
        why = "stopped at TypeError: 'NoneType' object is not callable: see what the rules replace or leave behind."
        assert failed.text == f"Writing down {finding.bucket} {why}"

    def test_a_flaky_one_that_comes_back_most_times_is_shrunk(self, setup: ReplaySetup, run: Run) -> None:
        finding = finding_for(setup, tape_for(setup.driver, *LONG))
        finding.flaky = True
        told = failures_of(run(setup, triage_finding(finding, shrink=True)))[-1]
        assert told.failure.flaky
        assert told.failure.flaky_reason == "it failed the same way in 10 of 10 replays"
        assert len(told.tape) < 4

    @pytest.mark.forks
    def test_one_that_does_not_fail_again_is_written_down_as_flaky(self) -> None:
        Moody.calls = 0
        setup = setup_for(Moody)
        finding = finding_for(setup, tape_for(setup.driver, "go"))
        (told,) = here(setup, triage_finding(finding, shrink=False))
        assert isinstance(told, FailureWritten)
        assert told.failure.flaky
        assert "ValueError: first" in told.failure.error_traceback


class Waiting(ChaosTest):
    """Waits after two steps, for ``long`` seconds; ``given`` are the limits that ended it."""

    rule_timeout = 0.4
    long = 20.0
    limits: ClassVar[HangPolicy]
    given: ClassVar[list[float]] = []

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    @rule()
    def rest(self) -> None:
        self.steps += 1

    @rule()
    def wait(self) -> None:
        if self.steps > 1:
            try:
                threading.Event().wait(self.long)
            finally:
                self.given.append(self.limits.limit_of("wait"))


class TestWhatTheSearchDidNotWaitFor:
    @pytest.fixture
    def suspected(self) -> Iterator[tuple[ReplaySetup, Finding]]:
        setup = setup_for(Waiting)
        Waiting.limits = setup.driver.limits
        steps = ("wait", "rest", "wait", "rest", "wait")
        with setup.driver.watchdog.watching():
            finding = finding_for(setup, tape_for(setup.driver, *steps))
            Waiting.given.clear()
            yield setup, finding

    def test_a_hang_takes_its_full_limit_once_when_it_is_minimal(self, suspected: tuple[ReplaySetup, Finding]) -> None:
        setup, finding = suspected
        told = here(setup, triage_finding(finding, shrink=True, is_suspected=True))
        (written,) = failures_of(told)
        assert written.failure.rule_log == ["rest", "rest", "wait"]
        assert not written.failure.flaky
        assert Waiting.given.count(Waiting.rule_timeout) == 1

    @pytest.mark.parametrize("shrink", [False, True])
    def test_a_slow_step_is_no_failure(
        self, suspected: tuple[ReplaySetup, Finding], monkeypatch: pytest.MonkeyPatch, *, shrink: bool
    ) -> None:
        setup, finding = suspected
        monkeypatch.setattr(Waiting, "long", 0.2)
        told = here(setup, triage_finding(finding, shrink=shrink, is_suspected=True))
        assert not failures_of(told)
        assert told[-1] == Refuted()


@pytest.mark.forks
class TestWhatEndsItsProcess:
    def finding(self, setup: ReplaySetup, *steps: str, code: int = 3) -> Finding:
        error = ProcessExitError(f"leave ended the process with exit code {code}")
        bucket = f"ProcessExitError({code}) at leave"
        return Finding(bucket, tape_for(setup.driver, *steps), origin(2), error)

    def test_one_that_ends_otherwise_now_is_flaky_and_not_shrunk(self, run: Run) -> None:
        setup = setup_for(Leaving)
        told = run(setup, triage_finding(self.finding(setup, "rest", "leave", code=4), shrink=True))
        assert not [message for message in told if isinstance(message, Shrinking)]
        last = failures_of(told)[-1]
        assert (last.failure.flaky, len(last.tape)) == (True, 2)

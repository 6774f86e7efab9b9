"""Runs that end their process: how they are read from what it leaves, replayed, shrunk, and kept as seeds."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

import ordeal._native as _native
from ordeal._base.trace_file import TraceStep
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation import hangs
from ordeal._engine.isolation.child import Child, ChildExit, Limits
from ordeal._engine.parallel.worker_pool import WorkerPool
from ordeal._engine.replay.crash_replayer import IDLE_SECONDS_MAX, CrashReader, CrashReplayer, ProcessStall
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.rerun import ReplayStatus
from ordeal._engine.seed_corpus.corpus import SeedReplayer
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import ALARM_SIGNAL
from ordeal.chaos import ChaosTest
from ordeal.errors import TraceError
from ordeal.explore import Explorer
from ordeal.result import Failure, SeedStatus
from ordeal.trace import Trace, generate_tests, lower, rerun, shrink

pytestmark = pytest.mark.forks

LIMITS = Limits()
HUNG_IN_ACT = "RuleTimeoutError at act, not interruptible"
# Runs and candidates end these searches, the clock must not: a busy machine then comes to the same.
UNLIMITED_S = 600.0


class Exiting(ChaosTest):
    """Ends its process in a draw of the rule's own, once its sum is large."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = 0

    @rule(x=st.integers(0, 3))
    def add(self, x: int) -> None:
        self.sum += x

    @rule(data=st.data())
    def check(self, data: Any) -> None:
        if self.sum > 8 and data.draw(st.integers(0, 9)) > 5:
            os._exit(3)


def crash_of(machine: type[ChaosTest], *, runs: int = 3, **options: Any) -> Failure:
    explorer = Explorer(machine, isolate=True, **options)
    result = explorer.run(max_runs=runs, steps_per_run=20, max_time=UNLIMITED_S, max_shrink_time=UNLIMITED_S)
    (failure,) = result.failures
    return failure


@pytest.fixture(scope="module")
def exit_crash(tmp_path_factory: pytest.TempPathFactory) -> Failure:
    """What several tests look at, and none changes, with its seed."""
    return crash_of(Exiting, runs=10, corpus_dir=tmp_path_factory.mktemp("seeds"))


def test_a_rule_that_exits_is_a_failure_with_the_trace_that_leads_there(exit_crash: Failure) -> None:
    failure = exit_crash
    assert type(failure.error).__name__ == "ProcessExitError"
    assert str(failure.error) == "check ended the process with exit code 3"
    assert failure.bucket == "ProcessExitError(3) at check"
    assert not failure.flaky
    assert failure.rule_log == ["add", "add", "add", "check"]
    assert failure.trace is not None
    assert failure.trace.steps[-1].choices["(body)"] == [6]
    assert "state.check(**drawn(state, 'check', {'data': [], '(body)': [6]}))" in failure.program


def test_such_a_trace_replays_shrinks_and_is_never_a_test_or_a_run_of_hypothesis(exit_crash: Failure) -> None:
    trace = exit_crash.trace
    assert trace is not None
    again = Trace.from_json(trace.to_json())
    assert rerun(again, Exiting).status is ReplayStatus.REPRODUCED
    assert len(shrink(again, Exiting, max_time=UNLIMITED_S).taken_steps()) == 4
    assert generate_tests([again]) == ""
    with pytest.raises(TraceError, match="ends its process"):
        lower(again, Exiting)


def test_its_seed_is_replayed_in_a_process_of_its_own(exit_crash: Failure) -> None:
    failure = exit_crash
    assert failure.seed_path is not None
    seed = Path(failure.seed_path)
    replay = SeedReplayer().replay(seed, Exiting)
    assert replay.status is SeedStatus.REPRODUCED
    folder = next(parent for parent in seed.parents if parent.name.startswith("seeds"))
    result = Explorer(Exiting, isolate=True, corpus_dir=folder).run(max_runs=1, max_shrink_time=2)
    assert [outcome.status for outcome in result.seed_replays] == [SeedStatus.REPRODUCED]
    assert [failure.seed_path for failure in result.failures] == [failure.seed_path]


# -- what a process leaves --


def left_by(job: Any) -> Child:
    child = Child(job, LIMITS)
    child.wait(20)
    return child


def test_a_journal_that_was_written_over_tells_of_no_crash() -> None:
    child = left_by(lambda channel, journal: None)
    child.journal[:] = b"\xff" * len(child.journal)
    assert CrashReader(make_driver(Exiting)).read(child.journal, ChildExit(signal=11), hung=False) is None
    child.close()


@pytest.fixture
def pass_seconds(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """What lets time pass for those who wait, which stands still otherwise."""
    now = [100.0]
    monkeypatch.setattr(hangs, "monotonic", lambda: now[0])

    def passes(seconds: float) -> None:
        now[0] += seconds

    return passes


def test_a_journal_that_stands_still_is_a_stall_and_one_that_moves_is_none(
    pass_seconds: Callable[[float], None],
) -> None:
    child = left_by(lambda channel, journal: None)
    stall, unlimited = ProcessStall(child.journal, 0.1), ProcessStall(child.journal, 0)
    looks = []
    for _ in range(8):
        pass_seconds(0.1)
        looks.append((stall.hangs(), unlimited.hangs()))
    assert looks == [(False, False)] * 7 + [(True, False)]
    child.close()


def test_a_machine_that_stops_makes_nothing_hang(pass_seconds: Callable[[float], None]) -> None:
    child = left_by(lambda channel, journal: None)
    stall = ProcessStall(child.journal, 0.1)
    for _ in range(2):
        pass_seconds(3_600.0)
        assert not stall.hangs()
    child.close()


def test_what_runs_no_code_of_the_users_has_more_time_than_a_step(pass_seconds: Callable[[float], None]) -> None:
    child = left_by(lambda channel, journal: None)
    reader, stall = CrashReader(make_driver(Exiting)), ProcessStall(child.journal, 0.1)
    while not stall.hangs():
        pass_seconds(0.1)
    assert not reader.hangs(child.journal, stall)
    while stall.seconds_still() <= IDLE_SECONDS_MAX:
        pass_seconds(0.1)
    assert reader.hangs(child.journal, stall)
    child.close()


# -- hangs --


class Blocked(ChaosTest):
    """Hangs from 40 on and takes long from 4 on, and nothing can interrupt it."""

    rule_timeout = 0.6
    long = 0.0

    @rule(value=st.integers(0, 100))
    def act(self, value: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [ALARM_SIGNAL])
        if value >= 40:
            time.sleep(20)
        if value >= 4:
            time.sleep(self.long)


def blocked() -> tuple[CrashReplayer, _native.Tape]:
    driver, randoms = make_driver(Blocked), GlobalRandoms()
    values = (1, 2, 3, 90)
    steps = [TraceStep("rule", "act", {"value": value}, choices={"value": [value]}) for value in values]
    tape = tape_of(Trace(1, 42, f"{__name__}:Blocked", steps=steps), driver)
    return CrashReplayer(driver, Bucketer([]), randoms, LIMITS), tape


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long processes were still that were ended because a step took its full limit."""
    ended: list[float] = []
    stall_hangs = ProcessStall.hangs

    def noted(stall: ProcessStall) -> bool:
        if not stall_hangs(stall):
            return False
        ended.append(stall.seconds_still())
        return True

    monkeypatch.setattr(ProcessStall, "hangs", noted)
    return ended


def test_a_hang_that_nothing_interrupts_takes_its_full_limit_once(full: list[float]) -> None:
    replayer, tape = blocked()
    shrunk = replayer.shrink_hang(tape, HUNG_IN_ACT, 20)
    assert shrunk is not None
    assert [arguments for _, _, _, arguments in shrunk.tape.steps()] == [[(1, [40])]]
    assert shrunk.finished
    assert len(full) == 1, "what is left, and nothing else"


@pytest.mark.slow
def test_a_step_that_is_slow_and_passes_is_no_hang_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Blocked, "long", 0.2)
    replayer, tape = blocked()
    shrunk = replayer.shrink_hang(tape, HUNG_IN_ACT, 20)
    assert shrunk is not None
    assert [int(choices[0]) >= 40 for *_, arguments in shrunk.tape.steps() for _, choices in arguments][-1:] == [True]


@pytest.mark.parametrize("said", [("b", "long", b"{}"), ("b", 0.5, b"}"), ("b", 0.5, b'{"act": "long"}'), ("b",)])
def test_what_a_process_says_of_its_times_is_checked(said: tuple[Any, ...]) -> None:
    replayer, _ = blocked()
    assert replayer._take(*said) == "b"


class Halting(ChaosTest):
    """Halts in every second step, and nothing can interrupt it."""

    @rule()
    def go_on(self) -> None:
        pass

    @rule()
    def halt(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [ALARM_SIGNAL])
        time.sleep(20)


@pytest.mark.slow
def test_a_short_search_is_not_eaten_by_a_hang_that_nothing_interrupts(
    monkeypatch: pytest.MonkeyPatch, full: list[float]
) -> None:
    monkeypatch.setattr(hangs, "PATIENCE_MIN", 0.1)
    waited: list[str] = []
    is_over = WorkerPool._hangs

    def noted(pool: WorkerPool, *given: Any) -> bool:
        if not is_over(pool, *given):
            return False
        waited.append("full" if full else "less")
        return True

    monkeypatch.setattr(WorkerPool, "_hangs", noted)
    explorer = Explorer(Halting, seed=3, workers=1, isolate=True, rule_timeout=3.0)
    result = explorer.run(max_time=3.0)
    assert [failure.bucket for failure in result.failures] == ["RuleTimeoutError at halt, not interruptible"]
    assert len(waited) > 1, "it goes on behind the first"
    assert set(waited) == {"less"}

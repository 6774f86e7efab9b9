"""What a search makes of failures that it knows: a shorter run replaces a longer one, and slow ones take a share."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ordeal import ChaosTest
from ordeal._native import ALARM_SIGNAL
from ordeal.explore import Explorer

pytestmark = pytest.mark.usefixtures("own_threads_alone")


class TwoWays(RuleBasedStateMachine):
    """Fails at one place, after two steps or three, whichever way a run takes: no step of either can be left out."""

    steps_seen: ClassVar[set[int]] = set()
    has_shortcut: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.at, self.steps = "a", 1

    def go(self, to: str) -> None:
        self.at, self.steps = to, self.steps + 1

    @precondition(lambda self: self.at == "a")
    @rule()
    def a_to_b(self) -> None:
        self.go("b")

    @precondition(lambda self: self.at == "b")
    @rule()
    def b_to_c(self) -> None:
        self.go("c")

    @precondition(lambda self: self.at == "a" and self.has_shortcut)
    @rule()
    def a_to_c(self) -> None:
        self.go("c")

    @precondition(lambda self: self.at == "c")
    @rule()
    def use(self) -> None:
        self.steps_seen.add(self.steps)
        self.fail()

    def fail(self) -> None:
        raise ValueError("reached")


class TwoWaysToExit(TwoWays):
    def fail(self) -> None:
        os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_shortest_run_that_failed_is_the_one_that_is_shrunk(workers: int) -> None:
    for seed in range(6 if workers == 1 else 2):
        TwoWays.steps_seen.clear()
        (failure,) = Explorer(TwoWays, seed=seed, workers=workers).run(max_runs=60).failures
        assert failure.step == 2
        if workers == 1:
            assert TwoWays.steps_seen == {2, 3}


@pytest.mark.supervised
def test_the_shortest_run_that_ended_its_process_is_the_one_that_is_shrunk() -> None:
    (failure,) = Explorer(TwoWaysToExit, seed=0, workers=2).run(max_runs=20).failures
    assert failure.step == 2


def test_a_shorter_run_replaces_a_saved_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def explore() -> tuple[int, list[str]]:
        (failure,) = Explorer(TwoWays, seed=0, workers=1, corpus_dir=tmp_path).run(max_runs=60).failures
        return failure.step, [str(path) for path in tmp_path.rglob("*.json*")]

    monkeypatch.setattr(TwoWays, "has_shortcut", False)
    steps, seeds = explore()
    assert (steps, len(seeds)) == (3, 1)
    monkeypatch.setattr(TwoWays, "has_shortcut", True)
    steps, other = explore()
    assert (steps, len(other)) == (2, 1)
    assert other != seeds


class LeavesSomething(TwoWays):
    """After a run has failed, another fails sooner: only with what that one has left outside the machine."""

    spoiled: ClassVar[bool] = False

    @precondition(lambda self: self.at == "a" and LeavesSomething.spoiled)
    @rule()
    def spoiled_use(self) -> None:
        self.fail()

    def fail(self) -> None:
        LeavesSomething.spoiled = self.at == "c"
        raise ValueError("reached")


def test_a_shorter_run_that_replays_do_not_confirm_replaces_nothing() -> None:
    (failure,) = Explorer(LeavesSomething, seed=0, workers=1).run(max_runs=60).failures
    assert (failure.step, failure.flaky) == (2, False)


class Dear(ChaosTest):
    """Fails, in a way that costs as much as a thousand runs, in each run that reaches it."""

    rule_timeout = 0.2

    @rule()
    def act(self) -> None: ...


class Waits(Dear):
    @rule()
    def fail(self) -> None:
        threading.Event().wait(20)


class Ends(Dear):
    @rule()
    def fail(self) -> None:
        os._exit(3)


class WaitsUninterruptibly(Dear):
    @rule()
    def fail(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [ALARM_SIGNAL])
        threading.Event().wait(20)


@pytest.mark.supervised
@pytest.mark.parametrize(
    ("machine", "max_time"), [(Waits, 1.5), (Ends, 1.5), pytest.param(WaitsUninterruptibly, 6, marks=pytest.mark.slow)]
)
def test_known_failures_that_are_dear_take_a_share_of_the_time_and_no_more(
    machine: type[Dear], max_time: float
) -> None:
    result = Explorer(machine, workers=1, seed=3, isolate=machine is not Waits).run(max_time=max_time, shrink=False)
    (failure,) = result.failures
    assert failure.count < result.total_runs / 4


class HangsInItsInvariant(ChaosTest):
    """Its invariant waits for good after one of twenty rules: no rule itself hangs."""

    rule_timeout = 3.0
    is_bad = False

    @rule()
    def spoil(self) -> None:
        self.is_bad = True

    @invariant()
    def answers(self) -> None:
        if self.is_bad:
            threading.Event().wait(20)

    for number in range(19):
        locals()[f"act_{number}"] = rule()(lambda _self: None)


@pytest.mark.supervised
@pytest.mark.parametrize("workers", [1, 2])
def test_an_invariant_that_hangs_leaves_a_short_search_its_time(workers: int) -> None:
    result = Explorer(HangsInItsInvariant, workers=workers, seed=0).run(max_time=6)
    (failure,) = result.failures
    assert "timed out" in str(failure.error)
    assert result.total_steps > 200


class FailsSoonerInTheFirstRun(ChaosTest):
    """What the first run meets never comes back; a run of four steps fails each time."""

    limits = iter([2])

    def __init__(self) -> None:
        super().__init__()
        self.limit = next(self.limits, 4)
        self.steps = 0

    @rule()
    def act(self) -> None:
        self.steps += 1

    @invariant()
    def stays_small(self) -> None:
        assert self.steps < self.limit


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_fails_each_time_stands_for_one_that_never_fails_again(workers: int) -> None:
    FailsSoonerInTheFirstRun.limits = iter([2])
    result = Explorer(FailsSoonerInTheFirstRun, workers=workers, seed=0).run(max_runs=12)
    (failure,) = result.failures
    assert (failure.flaky, failure.step, failure.count) == (False, 4, 12)

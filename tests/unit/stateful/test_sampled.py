"""Invariants that are checked at the start, at the end and now and then."""

from __future__ import annotations

import pytest
from hypothesis.stateful import run_state_machine_as_test

from ordeal import ChaosTest, invariant, rule
from ordeal.explore import Explorer
from ordeal.trace import replay


class Counted(ChaosTest):
    """Counts the steps and the checks of all its runs."""

    steps = checks = runs = 0

    def __init__(self) -> None:
        super().__init__()
        Counted.runs += 1

    @rule()
    def act(self) -> None:
        Counted.steps += 1

    @invariant(sampled=True)
    def is_expensive(self) -> None:
        Counted.checks += 1


class Breaks(ChaosTest):
    """Is broken for good by one rule, and for one step by another."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = 0

    @rule()
    def mend(self) -> None:
        self.broken = max(0, self.broken - 1)

    @rule()
    def break_it(self) -> None:
        self.broken = 1

    @invariant(sampled=True)
    def is_whole(self) -> None:
        assert not self.broken


class BreaksForGood(Breaks):
    def __init__(self) -> None:
        super().__init__()
        self.other = 0

    @rule()
    def break_it(self) -> None:
        self.broken = 1000


class NeverWhole(Breaks):
    def __init__(self) -> None:
        super().__init__()
        self.broken = 1000


def test_an_expensive_invariant_is_checked_at_both_ends_and_after_one_step_in_eight() -> None:
    Counted.steps = Counted.checks = Counted.runs = 0
    result = Explorer(Counted, workers=1, seed=1).run(max_runs=300)
    within = Counted.checks - result.total_runs - Counted.runs
    assert 0.08 < within / Counted.steps < 0.17
    assert any("is_expensive" in note and "sampled" in note for note in result.notes)


@pytest.mark.parametrize("cls", [Breaks, BreaksForGood, NeverWhole])
@pytest.mark.parametrize("in_cpp", [True, False], ids=["C++", "Python"])
def test_the_step_that_broke_it_is_the_last_one_and_a_replay_fails_there(
    cls: type[ChaosTest], in_cpp: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._engine.execution.driver.Driver.in_cpp", in_cpp)
    (failure,) = Explorer(cls, workers=1, seed=2).run(max_runs=200).failures
    assert failure.trace is not None
    taken = [step.name for step in failure.trace.steps if step.kind == "rule"]
    assert taken == ([] if cls is NeverWhole else ["break_it"])
    assert failure.place is not None
    assert (failure.place.kind, failure.place.name, failure.flaky) == ("invariant", "is_whole", False)
    assert isinstance(replay(failure.trace, cls), AssertionError)


@pytest.mark.parametrize("cls", [Breaks, BreaksForGood, NeverWhole])
def test_hypothesis_checks_the_ends_too(cls: type[ChaosTest]) -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(cls)


def test_a_call_outside_of_a_run_always_checks() -> None:
    machine = NeverWhole()
    with pytest.raises(AssertionError):
        machine.is_whole()

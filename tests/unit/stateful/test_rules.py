"""Rules whose arguments are given by their types, and invariants that are checked at both ends and now and then."""

from __future__ import annotations

import enum

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import run_state_machine_as_test

from ordeal import ChaosTest, invariant
from ordeal.errors import MachineError
from ordeal.explore import Explorer
from ordeal.stateful import Bundle, RuleBasedStateMachine, initialize, rule, strategy
from ordeal.swarm.weights import swarm_options_of
from ordeal.trace import replay

from .engines import Run, both_engines


class Colour(enum.Enum):
    """A type of the user's."""

    RED = 1


class Typed(RuleBasedStateMachine):
    """Takes an argument of each kind."""

    kept = Bundle("kept")

    @initialize(target=kept, start=bool)
    def begin(self, start: bool) -> bool:
        assert type(start) is bool
        return start

    @rule(targets=(kept,), number=int, names=list[str], colour=Colour, place=st.integers(0, 3))
    def act(self, number: int, names: list[str], colour: Colour, place: int) -> int:
        assert type(number) is int
        assert all(type(name) is str for name in names)
        assert colour is Colour.RED
        assert 0 <= place <= 3
        return number

    @rule(value=kept)
    def look(self, value: int) -> None:
        assert isinstance(value, int)


@both_engines
def test_an_argument_may_be_given_by_its_type(run: Run) -> None:
    run(Typed)


def test_what_is_no_strategy_is_refused_as_hypothesis_does() -> None:
    with pytest.raises(InvalidArgument, match="x=3"):
        rule(x=3)
    with pytest.raises(InvalidArgument, match="redundant"):
        rule(target=Typed.kept, targets=(Typed.kept,))


def test_strategy_takes_types_and_strategies() -> None:
    numbers = st.integers()
    assert strategy(numbers) is numbers
    assert repr(strategy(int)) == repr(st.from_type(int))
    assert repr(strategy(list[int])) == repr(st.from_type(list[int]))
    with pytest.raises(MachineError) as caught:
        strategy(3)
    assert caught.value.message == "3 is neither a strategy nor a type"
    assert caught.value.hint == "write a strategy such as `st.integers()`, or a type: `int`"


def test_a_weight_on_a_rule_is_one_on_the_class_which_comes_first() -> None:
    class Weighted(ChaosTest):
        weights = {"other": 3}  # noqa: RUF012 - as a user writes it

        @rule(weight=10)
        def often(self) -> None: ...

        @rule(weight=10)
        def other(self) -> None: ...

        @rule(weight=st.integers())
        def weigh(self, weight: int) -> None: ...

    assert swarm_options_of(Weighted).bases == {"often": 10, "other": 3}


@pytest.mark.parametrize("weight", [0, 2.5, True, 1001])
def test_a_weight_is_a_whole_number(weight: float) -> None:
    with pytest.raises(MachineError, match="the weight of a rule is"):
        rule(weight=weight)


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

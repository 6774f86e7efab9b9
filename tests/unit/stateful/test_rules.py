"""Rules whose arguments are given by their types, and what is refused in their place."""

from __future__ import annotations

import enum

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ordeal import ChaosTest
from ordeal.errors import MachineError
from ordeal.stateful import Bundle, RuleBasedStateMachine, initialize, rule, strategy
from ordeal.swarm.weights import swarm_options_of

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

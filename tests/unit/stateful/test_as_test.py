"""Machines of any factory run as a test, and what makes none is refused with what to write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.errors import MachineError
from ordeal.stateful import GenericStateMachine, RuleBasedStateMachine, run_state_machine_as_test
from ordeal.stateful.test_case import rule_machines

QUICK = settings(
    max_examples=20, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


class Sized(RuleBasedStateMachine):
    """Fails once it has taken as many steps as it was made for."""

    def __init__(self, size: int = 3) -> None:
        super().__init__()
        self.left = size

    @rule()
    def step(self) -> None:
        self.left -= 1
        assert self.left, "no step left"


class Generic(GenericStateMachine):
    """The same, in the older way."""

    def __init__(self, size: int = 3) -> None:
        self.left = size

    def steps(self) -> st.SearchStrategy[int]:
        return st.just(1)

    def execute_step(self, step: int) -> None:
        self.left -= step
        assert self.left, "no step left"


@pytest.mark.parametrize("factory", [Sized, Generic, lambda: Sized(2), lambda: Generic(2)])
def test_what_fails_is_raised(factory: Any) -> None:
    with pytest.raises(AssertionError, match="no step left"):
        run_state_machine_as_test(factory, QUICK)


def test_without_settings_those_of_the_class_hold() -> None:
    class Counted(Sized):
        made = 0

        def __init__(self) -> None:
            super().__init__(10**6)
            Counted.made += 1

    Counted.TestCase.settings = settings(QUICK, max_examples=4, stateful_step_count=2)
    run_state_machine_as_test(Counted)
    assert Counted.made == 4


def test_a_factory_keeps_its_name_by_which_hypothesis_knows_the_test() -> None:
    def sized() -> Sized:
        return Sized(2)

    made = rule_machines(sized)
    assert made.__name__ == "sized"
    assert isinstance(made(), Sized)


@pytest.mark.parametrize("given", [3, None, Sized(), "Sized"], ids=repr)
def test_what_cannot_be_called_makes_no_machines(given: Any) -> None:
    with pytest.raises(MachineError, match="makes no machines") as caught:
        rule_machines(given)
    assert caught.value.hint == "give a class, or a function: `lambda: MyMachine(size=3)`"


def test_half_a_generic_machine_is_refused_before_it_runs() -> None:
    class Half(GenericStateMachine):
        def steps(self) -> st.SearchStrategy[int]:
            return st.just(1)

    with pytest.raises(MachineError, match=r"Half has no execute_step\(\)"):
        rule_machines(Half)

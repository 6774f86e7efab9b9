"""Checks 9 to 13, 24, 25, 27 to 29 and 35: which rules run, in what order, how often, and with which arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import Bundle, initialize, precondition, rule

from .machines import LoggedMachine
from .runners import ExplorerRunner, HypothesisRunner, Runner


@pytest.mark.branching
def test_09_every_initialize_rule_runs_once_before_the_rules_in_any_order(runner: Runner) -> None:
    class Machine(LoggedMachine):
        a: Bundle[str] = Bundle("a")

        @initialize(target=a)
        def first(self) -> str:
            self.log("1")
            return "1"

        @initialize(number=st.integers(0, 9), flag=st.booleans())
        def second(self, number: int, flag: bool) -> None:
            assert 0 <= number <= 9
            assert flag in (False, True)
            self.log("2")

        @rule(x=a)
        def step(self, x: str) -> None:
            self.log("s")
            assert x == "1"
            assert self.history.count("1") == self.history.count("2") == 1
            assert set(self.history[:2]) == {"1", "2"}

    runner.run(Machine, runs=150, steps=6)
    assert {history[:2] for history in Machine.histories if len(history) > 2} == {"12", "21"}


def test_10_initialize_rules_use_up_steps(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @initialize()
        def first(self) -> None:
            self.log("1")

        @initialize()
        def second(self) -> None:
            self.log("2")

        @rule()
        def step(self) -> None:
            self.log("s")

    runner.run(Machine, runs=40, steps=3, branch=False)
    assert max(len(history) for history in Machine.histories) == 3


@pytest.mark.branching
def test_11_every_one_of_several_preconditions_must_hold(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def grow(self) -> None:
            self.log("g")

        @precondition(lambda self: len(self.history) > 1)
        @rule()
        @precondition(lambda self: len(self.history) < 4)
        def between(self) -> None:
            assert 1 < len(self.history) < 4
            self.log("b")

    runner.run(Machine, runs=60, steps=10)
    assert any("b" in history for history in Machine.histories)


def test_12_a_precondition_is_not_asked_while_a_bundle_of_its_rule_is_empty(runner: Runner) -> None:
    class Machine(LoggedMachine):
        a: Bundle[int] = Bundle("a")

        def bundle_has_a_value(self) -> bool:
            asked.append(self.history)
            assert "m" in self.history, "asked while the bundle was empty"
            return True

        @rule(target=a)
        def make(self) -> int:
            self.log("m")
            return 1

        @rule()
        def wait(self) -> None:
            self.log("w")

        @precondition(bundle_has_a_value)
        @rule(x=a)
        def use(self, x: int) -> None:
            self.log("u")

    asked: list[str] = []
    runner.run(Machine, runs=40, steps=8)
    assert asked
    assert any("u" in history for history in Machine.histories)


def test_13_a_machine_with_nothing_to_run_is_an_invalid_definition(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @precondition(lambda self: False)
        @rule()
        def never(self) -> None:
            self.log("n")

    with pytest.raises(runner.definition_errors, match="Machine"):
        runner.run(Machine, runs=10, steps=5)
    assert set(Machine.histories) == {""}, "each run ended with teardown, and none ran the rule"


class DeadEnd(LoggedMachine):
    """A machine that has nothing left to do after three steps."""

    @precondition(lambda self: len(self.history) < 3)
    @rule(wrong=st.booleans())
    def step(self, wrong: bool) -> None:
        self.log("s")
        assert not (wrong and self.history == "ss"), "a bug on the way"


def test_13_a_dead_end_is_said_and_costs_no_finding_that_was_made_on_the_way() -> None:
    class Machine(DeadEnd):
        """One whose histories are its own."""

    with pytest.raises((InvalidDefinition, AssertionError)):
        HypothesisRunner().run(Machine, runs=40, steps=6)
    result = ExplorerRunner().result(Machine, 40, 6, True)
    assert [str(failure.error).splitlines()[0] for failure in result.failures] == ["a bug on the way"]
    assert any("no rule could run" in note for note in result.notes), result.notes


def test_24_a_run_has_at_most_the_steps_it_may_have(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")

    runner.run(Machine, runs=60, steps=7, branch=False)
    assert max(len(history) for history in Machine.histories) == 7


def test_25_a_run_ends_in_good_order_when_its_choices_take_up_most_of_the_buffer(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule(payload=st.binary(min_size=900, max_size=900))
        def store(self, payload: bytes) -> None:
            assert len(payload) == 900
            self.log("s")

    outcome = runner.run(Machine, runs=40, steps=50, branch=False)
    assert outcome.failures == ()
    assert 5 <= max(len(history) for history in Machine.histories) <= 10


def test_27_rules_are_inherited_and_a_plain_override_takes_one_away(runner: Runner) -> None:
    class Base(LoggedMachine):
        @rule()
        def kept(self) -> None:
            self.log("k")

        @rule()
        def dropped(self) -> None:
            self.log("d")

        @rule()
        def replaced(self) -> None:
            self.log("r")

    class Machine(Base):
        def dropped(self) -> None:
            self.log("x")

        @rule()
        def replaced(self) -> None:
            self.log("R")

    runner.run(Machine, runs=20, steps=8)
    assert {letter for history in Machine.histories for letter in history} == {"k", "R"}


@pytest.mark.branching
def test_28_a_rule_is_called_through_its_definition_not_through_the_instance(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.__dict__["step"] = "a shadow that cannot be called"

        @rule(number=st.integers(0, 3))
        def step(self, number: int) -> None:
            self.log("s")

    runner.run(Machine, runs=20, steps=6)
    assert any("s" in history for history in Machine.histories)


@pytest.mark.branching
def test_29_a_factory_may_pass_arguments_to_the_machine(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self, limit: int) -> None:
            super().__init__()
            self.limit = limit

        @rule()
        def step(self) -> None:
            self.log("s")
            assert self.limit == 42

    runner.run(lambda: Machine(42), runs=20, steps=6)
    assert any("s" in history for history in Machine.histories)


def test_35_arguments_are_drawn_in_the_order_of_their_names(runner: Runner) -> None:
    drawn: list[str] = []

    def noted(letter: str) -> st.SearchStrategy[int]:
        def note(number: int) -> int:
            drawn.append(letter)
            return number

        return st.integers(0, 9).map(note)

    class Machine(LoggedMachine):
        @rule(zz=noted("z"), aa=noted("a"), mm=noted("m"))
        def step(self, **arguments: Any) -> None:
            self.log("s")
            assert set(arguments) == {"aa", "mm", "zz"}
            assert drawn == ["a", "m", "z"]
            drawn.clear()

    runner.run(Machine, runs=20, steps=6)
    assert any("s" in history for history in Machine.histories)

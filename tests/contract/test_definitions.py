"""Check 36: a wrong definition is refused, by the decorators where they see it and by the engine where they do not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, InvalidDefinition
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

import ordeal

from .machines import LoggedMachine
from .runners import Runner


def test_36_the_decorators_are_those_of_hypothesis() -> None:
    assert ordeal.rule is rule
    assert ordeal.initialize is initialize
    assert ordeal.precondition is precondition
    assert ordeal.Bundle is Bundle


def test_36_a_function_is_either_a_rule_or_an_invariant() -> None:
    with pytest.raises(InvalidDefinition, match=r"both @(rule|invariant) and @(rule|invariant)"):

        class Machine(RuleBasedStateMachine):
            @ordeal.rule()
            @ordeal.invariant()
            def both(self) -> None:
                """Has two roles."""


def test_36_an_initialize_rule_has_no_precondition() -> None:
    with pytest.raises(InvalidDefinition, match="both @initialize and @precondition"):

        class Machine(RuleBasedStateMachine):
            @ordeal.initialize()
            @ordeal.precondition(lambda self: True)
            def start(self) -> None:
                """Cannot wait."""


def test_36_an_argument_is_a_strategy() -> None:
    not_a_strategy: Any = int
    with pytest.raises(InvalidArgument, match="x=<class 'int'>"):

        class Machine(RuleBasedStateMachine):
            @ordeal.rule(x=not_a_strategy)
            def step(self, x: int) -> None:
                """Says what it wants with a type."""


def test_36_a_target_is_a_bundle() -> None:
    a: Bundle[int] = Bundle("a")
    b: Bundle[int] = Bundle("b")
    not_a_bundle: Any = st.one_of(a, b)
    with pytest.raises(InvalidArgument, match="targets"):

        class Machine(RuleBasedStateMachine):
            @ordeal.rule(target=not_a_bundle)
            def step(self) -> int:
                return 1


def test_36_a_precondition_alone_is_refused(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")

        @precondition(lambda self: True)
        def forgotten(self) -> None:
            self.log("f")

    with pytest.raises(runner.definition_errors, match="forgotten"):
        runner.run(Machine, runs=5, steps=3)
    assert Machine.histories == []


def test_36_a_machine_without_rules_is_refused(runner: Runner) -> None:
    class Ruleless(LoggedMachine):
        @invariant()
        def fine(self) -> None:
            self.log("i")

    with pytest.raises(runner.definition_errors, match="Ruleless"):
        runner.run(Ruleless, runs=5, steps=3)
    assert Ruleless.histories == []

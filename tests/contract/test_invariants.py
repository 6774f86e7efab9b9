"""Checks 14 to 16: when invariants are checked, and in what order."""

from __future__ import annotations

import re

import pytest
from hypothesis.stateful import initialize, invariant, precondition, rule

from .machines import LoggedMachine
from .runners import Runner


@pytest.mark.branching
def test_14_invariants_are_checked_in_name_order_after_init_and_after_each_step(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @invariant()
        def z_defined_first(self) -> None:
            self.log("z")

        @rule()
        def m_step(self) -> None:
            self.log("r")

        @invariant()
        def a_defined_last(self) -> None:
            self.log("a")

    runner.run(Machine, runs=30, steps=2)
    assert "azrazraz" in Machine.histories
    for history in Machine.histories:
        assert re.fullmatch("az(raz)+", history), history


@pytest.mark.branching
def test_15_invariants_wait_for_the_initialize_rules_unless_told_otherwise(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @invariant()
        def late(self) -> None:
            self.log("l")

        @invariant(check_during_init=True)
        def early(self) -> None:
            self.log("e")

        @initialize()
        def one(self) -> None:
            self.log("i")

        @initialize()
        def two(self) -> None:
            self.log("i")

        @rule()
        def step(self) -> None:
            self.log("r")

    runner.run(Machine, runs=40, steps=4)
    assert "eieielrelrel" in Machine.histories
    for history in Machine.histories:
        assert re.fullmatch("e(ie)?|eieiel(rel)*", history), history


@pytest.mark.branching
def test_16_an_invariant_is_checked_only_where_all_its_preconditions_hold(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("r")

        @precondition(lambda self: self.history.count("r") > 2)
        @invariant()
        @precondition(lambda self: self.history.count("r") != 5)
        def grown(self) -> None:
            steps = self.history.count("r")
            assert steps > 2
            assert steps != 5
            self.log("g")

    runner.run(Machine, runs=40, steps=8)
    assert "rrrgrgrrgrgrg" in Machine.histories
    for history in Machine.histories:
        assert "rrrgrgrrgrgrg".startswith(history) or history.startswith("rrrgrgrrgrgrg"), history


def test_16_a_precondition_of_an_invariant_is_asked_after_init_and_after_each_step(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def fits(self) -> bool:
            self.log("?")
            return False

        @rule()
        def step(self) -> None:
            self.log("r")

        @precondition(fits)
        @invariant()
        def never(self) -> None:
            raise AssertionError("its precondition does not hold")

    runner.run(Machine, runs=10, steps=4, branch=False)
    for history in Machine.histories:
        assert re.fullmatch(r"\?(r\?)+", history), history

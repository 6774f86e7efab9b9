"""What faults decide by chance is among the choices that Hypothesis' own test is given, or the failure is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import _native, faults
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.export.example_database import DatabaseOutcome, save_to_database
from ordeal._engine.replay.loading import tape_of
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import Fault

from ...samples.shop import shop_app
from .test_example_database import Machine, configure, reason, run_plainly, tape


def shop_under(*chosen: Fault) -> Machine:
    """A machine with these faults. It fails when the second of three answers is missing, or a letter is a digit."""

    class Saved(ChaosTest):
        faults: ClassVar[list[Fault]] = list(chosen)

        @rule(amount=st.integers(0, 9))
        def pay(self, amount: int) -> None:
            answers = [sys.modules["shop_app.api"].charge(amount) for _ in range(3)]
            if answers == [amount, None, amount]:
                raise ValueError("missing")

        @rule()
        def read(self) -> None:
            if str(sys.modules["shop_app.api"].charge("a")).isdigit():
                raise TypeError("damaged")

    return Saved


def found_by_explorer(machine: Machine) -> dict[str, _native.Tape]:
    driver = make_driver(machine)
    failures = Explorer(machine, seed=1).run(max_runs=400).failures
    return {str(found.error): tape_of(found.trace, driver) for found in failures if found.trace is not None}


def test_what_faults_decide_by_chance_is_said_too(tmp_path: Path) -> None:
    with shop_app():
        machine = shop_under(
            faults.io.corrupt_output("shop_app.api.charge"),
            faults.io.return_empty("shop_app.api.charge").limited(probability=0.4),
        )
        configure(machine, tmp_path)
        failures = found_by_explorer(machine)
        assert set(failures) == {"missing", "damaged"}
        for text, error in (("missing", ValueError), ("damaged", TypeError)):
            assert save_to_database(make_driver(machine), [failures[text]]) == DatabaseOutcome(1, ())
            with pytest.raises(error, match=text):
                run_plainly(machine)
            configure(machine, tmp_path / text)


def test_a_fault_that_lets_a_call_pass_which_it_meets_under_hypothesis_cannot_be_said(tmp_path: Path) -> None:
    fault = faults.io.return_empty("shop_app.api.charge").limited(probability=1)

    class Saved(ChaosTest):
        faults: ClassVar[list[Fault]] = [fault]

        def pay(self) -> object:
            return sys.modules["shop_app.api"].charge(1)

        @rule()
        def buy(self) -> None:
            assert self.pay() == 1

        def teardown(self) -> None:
            self.pay()
            super().teardown()

    with shop_app():
        configure(Saved, tmp_path)
        driver = make_driver(Saved)
        why = reason(save_to_database(driver, [tape(driver, [f"+{fault.name}", "buy"])]))
    assert "outside of the steps, faults with a probability of 1 act under Hypothesis only" in why

"""The TestCase of a rule machine: one for each class, known to Hypothesis, with settings and a time limit."""

from __future__ import annotations

import functools
import unittest
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import precondition, rule

from ordeal import ChaosTest
from ordeal.errors import MachineError
from ordeal.stateful import RuleBasedStateMachine
from ordeal.stateful.test_case import MutableSettings, run_rule_machines

QUICK = settings(
    max_examples=20, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)


def make_counted(fails_after: int = 10**6) -> Any:
    class Counted(RuleBasedStateMachine):
        made = 0

        def __init__(self) -> None:
            super().__init__()
            type(self).made += 1

        @rule()
        def act(self) -> None:
            assert type(self).made < fails_after, "too many"

    return Counted


def test_each_class_has_its_own_and_always_the_same() -> None:
    base = make_counted()
    derived: Any = type("Derived", (base,), {})
    assert base.TestCase is base.TestCase
    assert derived.TestCase is not base.TestCase
    derived.TestCase.settings.max_examples = 3
    assert base.TestCase.settings.max_examples != 3


def test_it_bears_the_name_that_hypothesis_gives_and_is_known_as_its_test() -> None:
    machine = make_counted()
    case, theirs = machine.TestCase, super(RuleBasedStateMachine, machine).TestCase
    assert issubclass(case, unittest.TestCase)
    assert (case.__name__, case.__qualname__) == (theirs.__name__, theirs.__qualname__)
    assert case.__module__ == __name__
    assert case.runTest.is_hypothesis_test
    assert case.runTest._hypothesis_state_machine_class is machine


def test_chosen_settings_outweigh_those_of_the_class_and_a_function_has_none() -> None:
    machine = make_counted()
    machine.TestCase.settings = settings(QUICK, max_examples=7)
    run_rule_machines(machine, settings(QUICK, max_examples=3))
    assert machine.made == 3
    run_rule_machines(functools.partial(machine), settings(QUICK, max_examples=2))
    assert machine.made == 5


def limited(seconds: float) -> MutableSettings:
    chosen = MutableSettings(QUICK)
    with pytest.warns(DeprecationWarning, match="not a setting of Hypothesis any more"):
        chosen.timeout = seconds
    return chosen


def test_the_end_of_the_time_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    machine = make_counted()
    run_rule_machines(machine, limited(1e-9))
    assert capsys.readouterr().out == ""
    assert machine.made == 0


class Forgetful(RuleBasedStateMachine):
    def __init__(self) -> None:
        self.count = 0

    @rule()
    def act(self) -> None: ...


class ForgetfulChaos(ChaosTest):
    __init__ = Forgetful.__init__
    act = Forgetful.act


class RaisingPrecondition(ChaosTest):
    @rule()
    def act(self) -> None: ...

    @precondition(lambda self: self.missing)
    @rule()
    def other(self) -> None: ...


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        (Forgetful, r"Forgetful.__init__\(\) does not call that of its base class"),
        (ForgetfulChaos, r"ForgetfulChaos.__init__\(\) does not call that of its base class"),
        (
            RaisingPrecondition,
            r"a precondition of RaisingPrecondition.other raised AttributeError.*\(test_test_case.py:",
        ),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_machine_that_cannot_be_judged_says_what_the_explorer_says(cls: Any, said: str) -> None:
    with pytest.raises(MachineError, match=said):
        unittest.TestCase.debug(cls.TestCase())

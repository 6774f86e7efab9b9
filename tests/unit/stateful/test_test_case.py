"""The TestCase of a rule machine: one for each class, its settings and time limit, and machines of any factory."""

from __future__ import annotations

import functools
import unittest
from typing import Any

import hypothesis.stateful
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import precondition, rule

from ordeal import ChaosTest
from ordeal.errors import ConfigError, MachineError
from ordeal.stateful import GenericStateMachine, RuleBasedStateMachine, run_state_machine_as_test, test_case
from ordeal.stateful.test_case import rule_machines, run_rule_machines

from .engines import QUIET

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


def make_logged() -> Any:
    """A class of machines that notes, for each, how many steps it took."""

    class Counted(RuleBasedStateMachine):
        steps: list[int] = []  # noqa: RUF012 - all machines of the test share it

        def __init__(self) -> None:
            super().__init__()
            self.steps.append(0)

        @rule(x=st.integers())
        def act(self, x: int) -> None:
            self.steps[-1] += 1

    return Counted


class TestSettings:
    def test_they_are_changed_one_by_one(self) -> None:
        machine = make_logged()
        machine.TestCase.settings.max_examples = 5
        machine.TestCase.settings.stateful_step_count = 3
        machine.TestCase("runTest").debug()
        assert len(machine.steps) == 5
        assert max(machine.steps) == 3

    def test_what_is_not_changed_is_as_hypothesis_has_it_for_machines(self) -> None:
        theirs = hypothesis.stateful.RuleBasedStateMachine.TestCase.settings
        ours = make_logged().TestCase.settings
        assert issubclass(type(ours), settings)
        ours.max_examples = theirs.max_examples
        for name in ("max_examples", "stateful_step_count", "deadline", "suppress_health_check", "database", "phases"):
            assert getattr(ours, name) == getattr(theirs, name)

    def test_a_setting_that_is_none_is_named(self) -> None:
        chosen = make_logged().TestCase.settings
        with pytest.raises(ConfigError) as caught:
            chosen.max_exampels = 5
        assert caught.value.message == "`max_exampels` is not a setting"
        assert caught.value.hint == "did you mean `max_examples`?"
        with pytest.raises(ConfigError, match="`stateful_step_count`"):
            chosen.zzz = 5
        with pytest.raises(InvalidArgument, match="max_examples"):
            chosen.max_examples = "many"

    def test_a_run_keeps_the_settings_it_began_with(self) -> None:
        machine = make_logged()
        machine.TestCase.settings.max_examples = 5
        before = machine.TestCase.settings.frozen
        machine.TestCase.settings.max_examples = 6
        assert before.max_examples == 5
        assert machine.TestCase.settings.frozen.max_examples == 6


class TestTimeout:
    @pytest.fixture(autouse=True)
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """The time; a test moves it on."""
        now = [0.0]
        monkeypatch.setattr(test_case, "monotonic", lambda: now[0])
        return now

    def machine(self, clock: list[float], fails_at: int | None = None) -> Any:
        counted = make_logged()

        class Timed(counted):  # type: ignore[misc, valid-type]
            def teardown(self) -> None:
                clock[0] += 1
                assert fails_at is None or self.steps[-1] < fails_at

        Timed.TestCase.settings = type(Timed.TestCase.settings)(QUIET)
        with pytest.warns(DeprecationWarning, match="not a setting of Hypothesis any more") as warned:
            Timed.TestCase.settings.timeout = 3
        assert warned[0].filename == __file__
        return Timed

    def test_no_example_begins_once_the_time_is_up(
        self, clock: list[float], capsys: pytest.CaptureFixture[str]
    ) -> None:
        machine = self.machine(clock)
        machine.TestCase("runTest").debug()
        assert len(machine.steps) == 3
        assert capsys.readouterr().out == ""

    def test_a_failure_is_shrunk_and_reported_all_the_same(self, clock: list[float]) -> None:
        machine = self.machine(clock, fails_at=5)
        with pytest.raises(AssertionError) as caught:
            machine.TestCase("runTest").debug()
        assert "\n".join(caught.value.__notes__).count("state.act(x=0)") == 5

    def test_what_is_no_number_is_refused(self, clock: list[float]) -> None:
        with pytest.raises(ConfigError, match="timeout is 'long', which is not a number of seconds"):
            self.machine(clock).TestCase.settings.timeout = "long"


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

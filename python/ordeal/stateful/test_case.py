"""The TestCase of a rule machine, with settings that can be changed, and how Hypothesis runs it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import hypothesis.stateful
from hypothesis import settings
from hypothesis.reporting import with_reporter
from hypothesis.stateful import get_state_machine_test

from ordeal._hypothesis import failure_types, mark_as_machine_test
from ordeal._native import monotonic
from ordeal.stateful.mutable_settings import MutableSettings


class TestCaseOfMachine:
    """The attribute ``TestCase`` of machines: a separate class for each, made on first use."""

    __test__ = False

    def __get__(self, machine: object, cls: type) -> type[Any]:
        return _test_case(cls)


class RuleBasedStateMachine(hypothesis.stateful.RuleBasedStateMachine):
    """A rule machine of Hypothesis, whose ``TestCase.settings`` can also be changed one by one."""

    TestCase = TestCaseOfMachine()


_test_cases: dict[type, type[Any]] = {}


def _test_case(cls: type[RuleBasedStateMachine]) -> type[Any]:
    if cls not in _test_cases:
        _test_cases[cls] = _new_test_case(cls)
    return _test_cases[cls]


def _new_test_case(cls: type[RuleBasedStateMachine]) -> type[Any]:
    hypothesis_case: Any = super(RuleBasedStateMachine, cls).TestCase

    class RuleMachineTestCase(hypothesis_case):  # type: ignore[misc]
        settings = MutableSettings(hypothesis_case.settings)

        def runTest(self) -> None:  # noqa: N802 - as unittest has it
            run_rule_machines(cls, self.settings)

        mark_as_machine_test(runTest, cls)

    RuleMachineTestCase.__name__ = hypothesis_case.__name__
    RuleMachineTestCase.__qualname__ = hypothesis_case.__qualname__
    RuleMachineTestCase.__module__ = cls.__module__
    return RuleMachineTestCase


def run_rule_machines(factory: Callable[[], hypothesis.stateful.RuleBasedStateMachine], chosen: Any) -> None:
    """Have Hypothesis run the machines that ``factory``, a class or a function, makes.

    ``chosen`` are the settings; None means those of the class, or else the defaults of a TestCase.
    """
    if chosen is None:
        chosen = getattr(getattr(factory, "TestCase", None), "settings", None)
    machines: Any = factory
    if not isinstance(chosen, MutableSettings):
        hypothesis.stateful.run_state_machine_as_test(machines, settings=chosen)
    elif chosen.timeout <= 0:
        hypothesis.stateful.run_state_machine_as_test(machines, settings=chosen.frozen)
    else:
        _run_for(chosen.timeout, machines, chosen.frozen)


class _TimeIsUp(KeyboardInterrupt):
    """Ends a test in which nothing has failed. As for Ctrl-C, Hypothesis saves nothing and calls nothing flaky."""


def _run_for(seconds: float, machines: Any, chosen: settings) -> None:
    """Run a test, and begin no further example after this time, unless one has failed."""
    test: Any = get_state_machine_test(machines, settings=chosen)
    run_example = test.hypothesis.inner_test
    deadline = monotonic() + seconds
    has_failed = False
    with ExitStack() as quiet:

        @functools.wraps(run_example)
        def run_in_time(*args: Any, **kwargs: Any) -> None:
            nonlocal has_failed
            if not has_failed and monotonic() >= deadline:
                # Hypothesis would print how to reproduce it.
                quiet.enter_context(with_reporter(_say_nothing))
                raise _TimeIsUp
            try:
                run_example(*args, **kwargs)
            except failure_types():
                has_failed = True
                raise

        test.hypothesis.inner_test = run_in_time
        try:
            test()
        except _TimeIsUp:
            return


def _say_nothing(text: object) -> None:
    del text

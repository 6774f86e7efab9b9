"""Runs the machines of any factory as a test, for machines whose constructors take arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import hypothesis
import hypothesis.stateful

from ordeal.errors import MachineError
from ordeal.stateful.generic import (
    AnyMachine,
    GenericStateMachine,
    as_rule_machine,
    check_generic_class,
    rule_machine_class,
)
from ordeal.stateful.test_case import run_rule_machines


def run_state_machine_as_test(factory: Callable[[], AnyMachine], settings: hypothesis.settings | None = None) -> None:
    """Run the machines that ``factory``, a class or a function without arguments, makes: pass, or raise the failure.

    With ``settings`` None, those of the TestCase of a class apply.

    Raises:
        MachineError: it makes neither a rule machine nor a generic one.
    """
    run_rule_machines(rule_machines(factory), settings)


def rule_machines(factory: Any) -> Callable[[], hypothesis.stateful.RuleBasedStateMachine]:
    """Make a factory of rule machines from one of any machines. A class of rule machines is one already.

    Raises:
        MachineError: ``factory`` cannot be called, or is the class of a generic machine that cannot be used.
    """
    if inspect.isclass(factory) and issubclass(factory, GenericStateMachine):
        check_generic_class(factory)
        return rule_machine_class(factory)
    if inspect.isclass(factory) and issubclass(factory, hypothesis.stateful.RuleBasedStateMachine):
        return factory
    if not callable(factory):
        raise MachineError(
            f"{factory!r} makes no machines", hint="give a class, or a function: `lambda: MyMachine(size=3)`"
        )

    # Hypothesis identifies the test by the source of the function.
    @functools.wraps(factory)
    def make() -> hypothesis.stateful.RuleBasedStateMachine:
        return as_rule_machine(factory(), factory)

    return make

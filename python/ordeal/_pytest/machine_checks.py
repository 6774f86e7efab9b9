"""Refuses machines that cannot run while pytest collects them: wrong use is not a failing test."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.execution.machine import usable_definition
from ordeal._hypothesis.definition_checks import (
    check_constructor,
    forgotten_constructor,
    hint_for_definition,
    is_constructed,
    may_forget_constructor,
)
from ordeal._hypothesis.markers import machine_of_test_case
from ordeal.errors import OrdealError


class MachineChecks:
    """The plugin of one pytest run with --chaos. A refused machine ends the run before its first test."""

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector, obj: object) -> Generator[None, Any, Any]:
        """Check the machine behind a TestCase.

        Raises:
            CollectError: it cannot run.
        """
        machine = machine_of_test_case(obj)
        if machine is not None and issubclass(machine, RuleBasedStateMachine):
            try:
                check_machine(machine)
            except OrdealError as error:
                raise collector.CollectError(f"error: {error}") from None
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        """Add a hint when a mistake in a machine makes the import of a module fail."""
        report = yield
        error = report.call.excinfo.value if report.failed and report.call.excinfo is not None else None
        cause = None if error is None else error.__cause__ or error.__context__ or error
        hint = "" if cause is None else hint_for_definition(cause)
        if hint:
            report.sections.append(("ordeal", f"hint: {hint}"))
        return report


def check_machine(cls: type[RuleBasedStateMachine]) -> None:
    """Check that Hypothesis can run machines of ``cls``.

    Raises:
        OrdealError: it cannot; the hint is the line to write.
    """
    check_constructor(cls)
    try:
        usable_definition(cls)
    except InvalidDefinition:
        return  # Hypothesis raises the same error when the test runs
    if may_forget_constructor(cls) and not is_constructed(cls()):
        raise forgotten_constructor(cls)


make_plugin = MachineChecks

"""Runs collected tests of pytest one by one, and stops at the first that fails."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from unittest import SkipTest

import pytest

#: The type of what a test raised, for all assertions.
ASSERTED = "AssertionError"
#: Receives the number of each test that is about to run.
Before = Callable[[int], object]


def same_chance() -> None:
    """Seed the global generators the same each time: a fork would begin with new states."""
    random.seed(0)
    if numpy := sys.modules.get("numpy.random"):
        numpy.seed(0)


def kind_of(error: BaseException) -> str:
    """Return the report on what a test has raised."""
    asserted = isinstance(error, AssertionError | pytest.fail.Exception)
    return ASSERTED if asserted else type(error).__name__


def ignored(number: int) -> None:
    """Do nothing before a test."""


class FailureWatch:
    """A plugin that sees failures before pytest writes a report of them, which takes most of the time of one.

    Tests that pass get an empty report as well.
    """

    def __init__(self) -> None:
        self.on_failure: Callable[[str], None] | None = None
        self.reports: list[Any] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> pytest.TestReport | None:
        """Note an exception that is a failure, neither a skip nor an expected one, and make its report empty.

        Raising here instead would make pluggy warn, which is slow, and fails where warnings are errors.
        """
        # unittest keeps what a test raised until its plugin asks for it, which comes after us.
        kept = getattr(item, "_excinfo", None)
        excinfo = call.excinfo if call.excinfo is not None or not kept else kept[0]
        if self.on_failure is None:
            return None
        if excinfo is None:
            return pytest.TestReport(item.nodeid, item.location, {}, "passed", None, call.when)
        if isinstance(excinfo.value, pytest.skip.Exception | SkipTest | pytest.xfail.Exception):
            return None
        self.on_failure(kind_of(excinfo.value))
        vars(item).pop("_excinfo", None)
        return pytest.TestReport(item.nodeid, item.location, {}, "failed", "", call.when)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure whose report no exception preceded, such as that of a subtest."""
        self.reports.append(report)
        if self.on_failure is not None and report.failed:
            self.on_failure(ASSERTED)


class Items:
    """The collected tests of a session."""

    def __init__(self, session: Any, watch: FailureWatch) -> None:
        self.all: list[Any] = list(session.items)
        self._watch = watch
        # The lines of pytest's terminal, which are not shown, take a tenth of the time.
        manager = session.config.pluginmanager
        reporter = manager.get_plugin("terminalreporter")
        for name in ("pytest_runtest_logstart", "pytest_runtest_logreport", "pytest_runtest_logfinish"):
            with suppress(AttributeError, ValueError):
                getattr(manager.hook, name)._remove_plugin(reporter)

    def __len__(self) -> int:
        return len(self.all)

    def names(self) -> list[str]:
        """Return their node ids."""
        return [item.nodeid for item in self.all]

    def outcomes(self, numbers: Sequence[int]) -> Iterator[tuple[int, str, float, float, str]]:
        """Run tests to their end. Yield the number, outcome, CPU time, wall time and reason of failure of each."""
        self._watch.on_failure = None
        for at, number in enumerate(numbers):
            self._watch.reports.clear()
            cpu, wall = time.process_time(), time.perf_counter()
            self._run(numbers, at)
            took = time.process_time() - cpu, time.perf_counter() - wall
            reports = self._watch.reports
            failed = [report for report in reports if report.failed]
            plain = all(report.passed and not hasattr(report, "wasxfail") for report in reports) and reports
            why = str(getattr(failed[0], "longreprtext", ""))[-2000:] if failed else ""
            yield number, "failed" if failed else "passed" if plain else "other", *took, why

    def first_failure(self, numbers: Sequence[int], *, before: Before = ignored) -> tuple[int, str] | None:
        """Run tests in this order until one fails, and return it and the type of what it raised; None if none does.

        No fixture is left over, so that this process can go on. ``before`` is called with the number of each test.
        """
        found: list[tuple[int, str]] = []
        for at, number in enumerate(numbers):
            self._watch.reports.clear()
            self._watch.on_failure = lambda kind, number=number: found.append((number, kind))
            before(number)
            self._run(numbers, at)
            if found:
                self._watch.on_failure = None
                with suppress(Exception):
                    self.all[number].session._setupstate.teardown_exact(None)
                break
        return found[0] if found else None

    def _run(self, numbers: Sequence[int], at: int) -> None:
        same_chance()
        item = self.all[numbers[at]]
        following = self.all[numbers[at + 1]] if at + 1 < len(numbers) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

"""Switches buggify on and tracks properties in a pytest run with --chaos, and reports the properties at its end."""

from __future__ import annotations

import random
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import hypothesis  # noqa: F401 - its tests are seeded, also those that are not loaded yet
import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal import buggify
from ordeal._base.formatting import one_line
from ordeal._base.outside import outside
from ordeal._engine.properties.history import PROPERTIES_PATH, add_reached
from ordeal._hypothesis.definition_checks import raised_in_precondition
from ordeal._hypothesis.markers import forced_seed, machine_of_test_case
from ordeal._report.pytest_lines import property_sections
from ordeal.assertions import report, tracker
from ordeal.chaos import check_observed
from ordeal.errors import PropertyError

# The key under which a worker of xdist sends what it has tracked.
_KEY = "ordeal_properties"


class ChaosRun:
    """The plugin of one pytest run with --chaos."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._chaos_seed: int | None = config.getoption("chaos_seed")
        self._fails_run = False
        self._trouble: list[str] = []
        self._undo = ExitStack()
        self._undo.callback(tracker.restore, tracker.snapshot())
        # Counting starts here; the run's own results must survive until its summary.
        self._undo.enter_context(tracker.recording())
        self._undo.enter_context(buggify.activated(config.getoption("buggify_prob")))
        if self._chaos_seed is not None and config.getoption("hypothesis_seed", None) is None:
            self._undo.enter_context(forced_seed(self._chaos_seed))

    def pytest_report_header(self) -> str:
        """Say which seed the run depends on."""
        seed = "" if self._chaos_seed is None else f", --chaos-seed {self._chaos_seed}"
        return f"ordeal: --chaos, --buggify-prob {self._config.getoption('buggify_prob'):g}{seed}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Start each test from the seed, so that it does not matter which tests ran before it, or where."""
        if self._chaos_seed is None:
            return
        buggify.set_seed(self._chaos_seed)
        random.seed(self._chaos_seed)
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(self._chaos_seed % 2**32)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail the test of a machine with what fails outside of the frames of its steps."""
        if machine_of_test_case(getattr(item, "cls", None)) is None:
            return (yield)
        with outside.watching(outside.mode), _checks_observed():
            result = yield
            outside.end_run()
            return result

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Name a precondition that raised in the test of a machine that is not a ChaosTest, which does so itself."""
        machine = machine_of_test_case(getattr(item, "cls", None))
        error = None if call.excinfo is None else call.excinfo.value
        if isinstance(error, Exception) and machine is not None and issubclass(machine, RuleBasedStateMachine):
            wrong = raised_in_precondition(machine, error)
            if wrong is not None:
                call.excinfo = pytest.ExceptionInfo.from_exception(wrong.with_traceback(error.__traceback__))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker of xdist has tracked; one that crashed sends nothing."""
        snapshot = getattr(node, "workeroutput", {}).get(_KEY)
        if snapshot is None:
            return
        try:
            tracker.merge(snapshot)
        except PropertyError as error:
            self._trouble.append(f"of a worker: {error.message}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what was tracked to the controller, or fail the run for a failed property."""
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_KEY] = tracker.snapshot()
            return
        try:
            add_reached(self._config.rootpath / PROPERTIES_PATH, tracker.results)  # for `ordeal catalog`
        except PropertyError as error:
            self._trouble.append(error.message)
        # A run that is only listed, empty or interrupted has its own exit status, and shows nothing about properties.
        ran = session.testscollected > 0 and not session.config.getoption("collectonly")
        if ran and session.exitstatus == pytest.ExitCode.OK and (tracker.failures or self._trouble):
            self._fails_run = True
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the sections on properties."""
        if not self._config.getoption("collectonly"):
            write_properties(terminalreporter, chaos=True, fails_run=self._fails_run, chaos_seed=self._chaos_seed)
            for trouble in self._trouble:
                terminalreporter.line(f"  {one_line(trouble)}")

    def pytest_unconfigure(self) -> None:
        """Restore everything."""
        self._undo.close()


make_plugin = ChaosRun


@contextmanager
def _checks_observed() -> Iterator[None]:
    """Observe the steps of machines that are not a ChaosTest too, during the block."""
    found = RuleBasedStateMachine.check_invariants

    def check_invariants(self: RuleBasedStateMachine, *arguments: Any, **named: Any) -> None:
        check_observed(self, partial(found, self), *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RuleBasedStateMachine, "check_invariants", check_invariants)
        yield


def write_properties(
    terminalreporter: pytest.TerminalReporter,
    *,
    chaos: bool = False,
    fails_run: bool = False,
    chaos_seed: int | None = None,
) -> None:
    """Report the tracked properties, if there are any."""
    for title, lines in property_sections(report(), chaos=chaos, fails_run=fails_run, chaos_seed=chaos_seed):
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.line(line)


@contextmanager
def chaos(config: pytest.Config) -> Iterator[None]:
    """Track properties with buggify active during the block; under --chaos they already are."""
    if config.getoption("chaos"):
        yield
        return
    with tracker.recording(), buggify.activated(config.getoption("buggify_prob"), seed=config.getoption("chaos_seed")):
        yield

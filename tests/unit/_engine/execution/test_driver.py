"""The reference driver of one run: what runs in which order, what is rejected, and how a run ends."""

from __future__ import annotations

import subprocess
import sys
import time
import unittest
from contextlib import suppress
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

import ordeal._native as _native
from ordeal._engine.execution.driver import (
    END,
    FAULT_OFF,
    FAULT_ON,
    INITIALIZE,
    RULE,
    STUCK,
    Driver,
    Outcome,
    Status,
    TimedReplay,
)
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal.assertions import always
from ordeal.chaos import ChaosTest
from ordeal.errors import MachineError
from ordeal.faults import Fault, LambdaFault


class Steps:
    """A script of steps, each a kind and the name of a rule or fault, that notes which are rejected."""

    def __init__(self, driver: Driver, *steps: tuple[int, str], seed: int = 1, then: int = END) -> None:
        self._live = _native.Redraw(seed)
        self.source = self._live.source
        tables: dict[int, list[str]] = {
            RULE: [each.name for each in driver.definition.rules],
            INITIALIZE: [each.name for each in driver.definition.initializers],
            FAULT_ON: [each.name for each in driver.faults],
            FAULT_OFF: [each.name for each in driver.faults],
        }
        self._left = [kind | tables[kind].index(name) << 3 for kind, name in steps]
        self._then = then
        self.given: list[int] = []
        self.rejected: list[int] = []

    def next(self) -> int:
        self.given.append(self._left.pop(0) if self._left else self._then)
        return self.given[-1]

    def reject(self) -> None:
        self.rejected.append(len(self.given) - 1)


class Shop(ChaosTest):
    """Writes down what happens to it."""

    log: ClassVar[list[str]] = []
    faults: ClassVar[list[Fault]] = [
        LambdaFault("power", lambda: Shop.log.append("power on"), lambda: Shop.log.append("power off"))
    ]
    jars: Bundle[int] = Bundle("jars")
    fails: ClassVar[dict[str, BaseException]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.note("made")

    def note(self, what: str) -> None:
        self.log.append(what)
        if what in self.fails:
            raise self.fails[what]

    @initialize(target=jars)
    def first(self) -> int:
        self.note("first")
        return 7

    @initialize()
    def second(self) -> None:
        self.note("second")

    @rule(jar=jars, size=st.integers(3, 3))
    def use(self, jar: int, size: int) -> None:
        self.note(f"use {jar} {size}")

    @precondition(lambda self: False)
    @rule()
    def never(self) -> None:
        self.note("never")

    @rule()  # type: ignore[arg-type]
    async def wait(self) -> None:
        self.note("wait")

    @invariant()
    def holds(self) -> None:
        self.note("holds")

    @invariant(check_during_init=True)
    def always_holds(self) -> None:
        self.note("always holds")

    def teardown(self) -> None:
        self.note("teardown")
        super().teardown()


BEGIN = ((INITIALIZE, "first"), (INITIALIZE, "second"))


@pytest.fixture(autouse=True)
def fresh() -> None:
    Shop.log.clear()
    Shop.fails = {}


def run(*steps: tuple[int, str], **options: Any) -> tuple[Outcome, Steps]:
    """What comes of a run of ``Shop`` in plain Python."""
    driver = make_driver(Shop)
    driver.in_cpp = False
    step_source = Steps(driver, *steps)
    return driver.execute(step_source, **options), step_source


def test_a_fault_is_off_again_also_where_there_is_no_machine_to_tear_down() -> None:
    switched: list[str] = []

    class Hasty(ChaosTest):
        faults: ClassVar[list[Fault]] = [
            LambdaFault("power", lambda: switched.append("on"), lambda: switched.append("off"))
        ]

        def __init__(self) -> None:
            super().__init__()
            self.faults[0].activate()
            raise LookupError

        @rule()
        def act(self) -> None: ...

    driver = make_driver(Hasty)
    assert driver.execute(Steps(driver, (RULE, "act"))).status is Status.FAILED
    assert switched == ["on", "off"]


class Breaks(ChaosTest):
    """Its invariant fails once ``at`` has happened."""

    faults: ClassVar[list[Fault]] = [LambdaFault("power", int, int)]
    at: ClassVar[str] = ""
    teardown_fails: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.seen = {"made"}

    @initialize()
    def begin(self) -> None:
        self.seen.add("begin")

    @rule()
    def go(self) -> None:
        self.seen.add("go")

    @invariant(check_during_init=True)
    def holds(self) -> None:
        if self.faults[0].active:
            self.seen.add("on")
        elif "on" in self.seen:
            self.seen.add("off")
        assert self.at not in self.seen

    def teardown(self) -> None:
        super().teardown()
        if self.teardown_fails:
            raise LookupError


@pytest.mark.parametrize("in_cpp", [False, True], ids=["in Python", "in C++"])
@pytest.mark.parametrize(
    ("at", "broken_by"),
    [("made", ""), ("begin", "begin"), ("on", ""), ("go", "go"), ("off", ""), ("never", "")],
)
def test_the_rule_is_named_after_which_an_invariant_failed(
    monkeypatch: pytest.MonkeyPatch, at: str, broken_by: str, in_cpp: bool
) -> None:
    monkeypatch.setattr(Breaks, "at", at)
    driver = make_driver(Breaks)
    driver.in_cpp = in_cpp
    steps = [(INITIALIZE, 0), (FAULT_ON, 0), (RULE, 0), (FAULT_OFF, 0)]
    tape = _native.Tape.from_steps((kind, target, origin, []) for origin, (kind, target) in enumerate(steps))
    outcome = driver.execute(_native.Replay(tape))
    assert (outcome.status is Status.FAILED, outcome.broken_by) == (at != "never", broken_by)
    monkeypatch.setattr(Breaks, "teardown_fails", True)
    outcome = driver.execute(_native.Replay(tape))
    first = LookupError if at == "never" else AssertionError
    assert (type(outcome.error), outcome.broken_by) == (first, broken_by)


def test_in_a_process_of_its_own_an_interruption_is_a_failure() -> None:
    Shop.fails = {"second": KeyboardInterrupt()}
    driver = make_driver(Shop)
    driver.in_cpp, driver.isolated = False, True
    outcome = driver.execute(Steps(driver, *BEGIN))
    assert outcome.status is Status.FAILED
    assert isinstance(outcome.error, KeyboardInterrupt)


def test_a_state_without_any_rule_that_can_run_is_named() -> None:
    driver = make_driver(Shop)
    outcome = driver.execute(Steps(driver, *BEGIN, then=STUCK))
    assert outcome.status is Status.DONE
    assert outcome.stuck.startswith("no rule of Shop can run in state Shop(")
    assert outcome.stuck.endswith("every precondition is false or a bundle is empty (rules: never, wait, use)")


class Wrapping(RuleBasedStateMachine):
    """Answers whatever is raised with an error of its own."""

    @rule()
    def wrap(self) -> None:
        try:
            time.sleep(60)
        except BaseException as error:
            raise ValueError("something went wrong") from error


def test_a_rule_that_wraps_the_end_of_its_time_takes_too_long_all_the_same() -> None:
    driver = make_driver(Wrapping, 0.05)
    with driver.watchdog.watching():
        outcome = driver.execute(Steps(driver, (RULE, "wrap")))
    assert type(outcome.error).__name__ == "RuleTimeoutError"


def test_the_end_of_a_search_is_no_failure_of_the_rule_that_wraps_it() -> None:
    driver = make_driver(Wrapping, 60)
    with driver.watchdog.until(time.monotonic() + 0.05), pytest.raises(OutOfTime):
        driver.execute(Steps(driver, (RULE, "wrap")))


@pytest.mark.parametrize("in_cpp", [True, False])
def test_time_that_is_up_is_neither_failure_nor_rejection(in_cpp: bool) -> None:
    driver = make_driver(Shop)
    driver.in_cpp = in_cpp
    step_source = TimedReplay(_native.Replay(_native.Tape.from_steps([(INITIALIZE, 0, 0, [])])), time.monotonic())
    with pytest.raises(OutOfTime):
        driver.execute(step_source)
    assert Shop.log[-1] == "teardown"


class TornError(Exception):
    __traceback__: Any = 5


class OtherError(Exception):
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise LookupError("no class")


@pytest.mark.parametrize("kind", [TornError, OtherError])
def test_a_precondition_is_refused_for_what_it_raised_also_where_that_hides_its_details(kind: type[Exception]) -> None:
    def fail(_machine: object) -> bool:
        raise kind

    class Refused(RuleBasedStateMachine):
        @precondition(fail)
        @rule()
        def other(self) -> None: ...

    driver = make_driver(Refused)
    with pytest.raises(MachineError, match=f"a precondition of Refused.other raised {kind.__name__}"):
        driver.execute(Steps(driver, (RULE, "other")))


def test_what_was_violated_before_a_skip_is_a_failure() -> None:
    class Skipping(RuleBasedStateMachine):
        @rule()
        def skip(self) -> None:
            with suppress(AssertionError):
                always(False, "kept")
            raise unittest.SkipTest("after it")

    driver = make_driver(Skipping)
    with driver.watching():
        outcome = driver.execute(Steps(driver, (RULE, "skip")))
    assert (outcome.status, str(outcome.error)) == (Status.FAILED, "always violated: kept")


FORKING = """
import os, sys
from hypothesis.stateful import RuleBasedStateMachine, rule
from ordeal._engine.execution.driver import Driver
from ordeal.explore import Explorer

class Forking(RuleBasedStateMachine):
    forks = 0

    @rule()
    def go(self):
        if Forking.forks < 3:
            Forking.forks += 1
            if child := os.fork():
                os.waitpid(child, 0)

Driver.in_cpp = "python" not in sys.argv
result = Explorer(Forking, workers=1).run(max_runs=10)
os.write(1, b"%d runs" % result.total_runs)
"""


@pytest.mark.parametrize("loop", ["C++", "python"])
def test_the_child_of_a_fork_of_the_program_does_not_search_as_well(loop: str) -> None:
    command = [sys.executable, "-Wignore", "-c", FORKING, loop]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "10 runs"

"""Checks 17, 18, 26, 31, 32 and 34: how a run can end, and what is a failure."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn
from unittest import SkipTest

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.errors import FailedHealthCheck
from hypothesis.stateful import invariant, rule

from .machines import LoggedMachine
from .runners import Interruption, Runner

STEPS = 6


class EndingMachine(LoggedMachine):
    """Fails when anything happens to a machine that was torn down, or when teardown comes twice."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = False

    @rule()
    def step(self) -> None:
        assert not self.ended, "a step after teardown"
        self.log("s")

    def teardown(self) -> None:
        assert not self.ended, "a second teardown"
        self.ended = True
        super().teardown()


class FailingRule(EndingMachine):
    """Its rule raises at the fourth step."""

    @rule()
    def fail(self) -> None:
        self.log("f")
        if len(self.history) >= 4:
            raise LookupError("planted")


class FailingInvariant(EndingMachine):
    """Its invariant raises after the fourth step."""

    @invariant()
    def short(self) -> None:
        if len(self.history) >= 4:
            raise LookupError("planted")


class Rejecting(EndingMachine):
    """Rejects every run at its fourth step."""

    @rule()
    def reject(self) -> None:
        self.log("j")
        assume(len(self.history) < 4)


@pytest.mark.branching
@pytest.mark.parametrize("base", [FailingRule, FailingInvariant])
def test_17_teardown_follows_a_failure(runner: Runner, base: type[EndingMachine]) -> None:
    class Machine(base):  # type: ignore[valid-type, misc]
        """One whose histories are its own."""

    outcome = runner.explore(Machine, runs=40, steps=STEPS)
    assert [(type(error), str(error)) for error in outcome.failures] == [(LookupError, "planted")]
    assert any(len(history) == 4 for history in Machine.histories), "the failing machine was not torn down"


@pytest.mark.branching
def test_17_teardown_follows_a_rejection(runner: Runner) -> None:
    class Machine(Rejecting):
        """One whose histories are its own."""

    assert runner.explore(Machine, runs=40, steps=STEPS).failures == ()
    assert any(len(history) >= 4 and history.endswith("j") for history in Machine.histories)


@pytest.mark.parametrize("base", [FailingRule, FailingInvariant, Rejecting])
def test_17_every_machine_that_was_made_is_torn_down(runner: Runner, base: type[EndingMachine]) -> None:
    class Machine(base):  # type: ignore[valid-type, misc]
        """Counts how often it was made."""

        made = 0

        def __init__(self) -> None:
            super().__init__()
            type(self).made += 1

    runner.explore(Machine, runs=30, steps=STEPS, branch=False)
    assert Machine.made == len(Machine.histories) > 1


def test_17_an_error_in_teardown_is_a_failure(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")

        def teardown(self) -> None:
            super().teardown()
            raise LookupError("left a lock behind")

    with pytest.raises(LookupError, match="left a lock behind"):
        runner.run(Machine, runs=5, steps=3)


@pytest.mark.branching
def test_18_a_failed_assumption_rejects_the_run_and_is_no_failure(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.rejected = False

        @rule(x=st.integers(0, 9))
        def step(self, x: int) -> None:
            assert not self.rejected, "a rejected run went on"
            self.rejected = x == 3
            self.log("3" if x == 3 else ".")
            assume(x != 3)
            assert x != 3

    outcome = runner.explore(Machine, runs=80, steps=8)
    assert outcome.failures == ()
    assert any(history.endswith("3") for history in Machine.histories)
    assert any(history.endswith(".") for history in Machine.histories)


def test_26_a_rule_without_a_target_must_return_nothing(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()  # type: ignore[arg-type]
        def step(self) -> int:
            return 1

    with pytest.raises(FailedHealthCheck, match="step"):
        runner.run(Machine, runs=5, steps=3)


def test_26_an_invariant_must_return_nothing(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")

        @invariant()
        def answer(self) -> bool:
            return True

    with pytest.raises(FailedHealthCheck, match="answer"):
        runner.run(Machine, runs=5, steps=3)


@pytest.mark.parametrize("skip", [SkipTest, pytest.skip.Exception])
def test_31_a_skip_goes_through_to_the_caller(runner: Runner, skip: type[BaseException]) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")
            raise skip("no database here")

    with pytest.raises(skip, match="no database here"):
        runner.explore(Machine, runs=10, steps=3)
    assert Machine.histories == ["s"], "one step, one teardown, no further run"


@pytest.mark.parametrize("kind", [ValueError, TypeError, SystemExit, GeneratorExit, pytest.fail.Exception])
def test_32_everything_that_ends_a_program_is_a_failure(runner: Runner, kind: type[BaseException]) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")
            if self.history == "ss":
                raise kind("planted")

    outcome = runner.explore(Machine, runs=20, steps=5)
    assert [type(error) for error in outcome.failures] == [kind]
    assert "planted" in str(outcome.failures[0])


def interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    raise Interruption


def test_32_an_interruption_stops_the_exploration_at_once_and_is_no_failure(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            self.log("s")
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        outcome = runner.explore(Machine, runs=20, steps=5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert outcome.interrupted
    assert outcome.failures == ()
    assert Machine.histories == ["s"]


def test_34_an_error_in_the_constructor_is_a_failure_without_teardown(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            raise LookupError("no such file")

        @rule()
        def step(self) -> None:
            self.log("s")

    with pytest.raises(LookupError, match="no such file"):
        runner.run(Machine, runs=5, steps=3)
    assert Machine.histories == []

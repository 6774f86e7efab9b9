"""Settings of a TestCase that change one by one, and a time limit for tests that Hypothesis runs."""

from __future__ import annotations

from typing import Any

import hypothesis.stateful
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from ordeal.errors import ConfigError
from ordeal.stateful import RuleBasedStateMachine, rule, test_case

from .engines import QUIET


def make_counted() -> Any:
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
        machine = make_counted()
        machine.TestCase.settings.max_examples = 5
        machine.TestCase.settings.stateful_step_count = 3
        machine.TestCase("runTest").debug()
        assert len(machine.steps) == 5
        assert max(machine.steps) == 3

    def test_what_is_not_changed_is_as_hypothesis_has_it_for_machines(self) -> None:
        theirs = hypothesis.stateful.RuleBasedStateMachine.TestCase.settings
        ours = make_counted().TestCase.settings
        assert issubclass(type(ours), settings)
        ours.max_examples = theirs.max_examples
        for name in ("max_examples", "stateful_step_count", "deadline", "suppress_health_check", "database", "phases"):
            assert getattr(ours, name) == getattr(theirs, name)

    def test_each_class_has_its_own(self) -> None:
        one, other = make_counted(), make_counted()
        one.TestCase.settings.max_examples = 7
        assert one.TestCase.settings.max_examples == 7
        assert one.TestCase is one.TestCase
        assert other.TestCase.settings.max_examples != 7
        assert type("Derived", (one,), {}).TestCase.settings.max_examples != 7  # type: ignore[attr-defined]

    def test_a_setting_that_is_none_is_named(self) -> None:
        chosen = make_counted().TestCase.settings
        with pytest.raises(ConfigError) as caught:
            chosen.max_exampels = 5
        assert caught.value.message == "`max_exampels` is not a setting"
        assert caught.value.hint == "did you mean `max_examples`?"
        with pytest.raises(ConfigError, match="`stateful_step_count`"):
            chosen.zzz = 5
        with pytest.raises(InvalidArgument, match="max_examples"):
            chosen.max_examples = "many"

    def test_a_run_keeps_the_settings_it_began_with(self) -> None:
        machine = make_counted()
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
        counted = make_counted()

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

"""Tests of what ordeal asks Hypothesis' own machinery: ends of runs, keys of failures, its settings."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, find, given, note, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import DidNotReproduce
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ordeal import Explorer
from ordeal._hypothesis.internals import database_key, reproducing_test, skip_types
from ordeal._hypothesis.markers import forced_seed


@pytest.mark.parametrize("skip", [unittest.SkipTest, pytest.skip.Exception])
def test_a_skip_is_no_failure_of_the_code(skip: type[BaseException]) -> None:
    assert issubclass(skip, skip_types())


QUIET = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))


class Failing(RuleBasedStateMachine):
    """Fails with a large number."""

    @rule(number=st.integers(0, 100))
    def act(self, number: int) -> None:
        assert number < 50


def test_the_key_is_the_one_under_which_hypothesis_saves() -> None:
    database = InMemoryExampleDatabase()
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Failing, settings=settings(QUIET, database=database, phases=[Phase.generate]))
    assert set(database.fetch(database_key(Failing)))


STEP = (False, 0, False)  # go on, all rules are enabled, so is this one


def test_choices_run_alone() -> None:
    seen: list[int] = []

    class Noting(Failing):
        @rule(number=st.integers(0, 100))
        def act(self, number: int) -> None:
            seen.append(number)
            assert number < 50

    with pytest.raises(AssertionError):
        reproducing_test(Noting, (*STEP, 3, False, False, 77), QUIET)()
    assert seen == [3, 77]


@pytest.mark.parametrize("choices", [(*STEP, 3, True), ()])
def test_choices_that_do_not_fail_are_told_of(choices: tuple[Any, ...]) -> None:
    with pytest.raises(DidNotReproduce):
        reproducing_test(Failing, choices, QUIET)()


class Noting(RuleBasedStateMachine):
    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        note(f"drew {data.draw(st.integers())}")


@pytest.fixture
def verbose() -> Iterator[None]:
    before = settings()
    settings.register_profile("verbose for a test", verbosity=Verbosity.verbose)
    settings.load_profile("verbose for a test")
    yield
    settings.register_profile("before", parent=before)
    settings.load_profile("before")


@pytest.mark.usefixtures("verbose")
def test_a_search_prints_no_notes_in_a_verbose_profile(capsys: pytest.CaptureFixture[str]) -> None:
    Explorer(Noting, workers=1, seed=1).run(max_runs=5)
    assert not capsys.readouterr().out
    assert settings().verbosity is Verbosity.verbose


class Nesting(RuleBasedStateMachine):
    """Runs tests of Hypothesis in each place where code of a machine runs."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []
        self.check()

    def check(self) -> None:
        @settings(max_examples=2)
        @given(st.integers(0, 10**6))
        def test(number: int) -> None:
            self.drawn.append(number)
            assert number != settings().deadline  # none: a step may be slow

        test()

    @initialize()
    def begin(self) -> None:
        self.check()

    @rule()
    def define(self) -> None:
        self.check()

    @rule()
    def find(self) -> None:
        assert find(st.integers(), lambda number: number > 2) == 3

    @rule()
    def run_machine(self) -> None:
        run_state_machine_as_test(Still, settings=settings(max_examples=1, stateful_step_count=1))

    @invariant()
    def is_sound(self) -> None:
        assert settings().deadline is None
        if not self.drawn:
            self.check()

    def teardown(self) -> None:
        self.check()
        SEEN.append(self.drawn)


class Still(RuleBasedStateMachine):
    """Does nothing."""

    @rule()
    def step(self) -> None: ...


SEEN: list[list[int]] = []


@pytest.mark.parametrize("isolate", [False, True])
def test_code_of_a_machine_may_run_tests_as_in_its_test_case(isolate: bool) -> None:
    result = Explorer(Nesting, seed=1, workers=1, isolate=isolate).run(max_runs=3, steps_per_run=4)
    assert not result.failures
    assert result.total_runs == 3


def test_tests_that_a_machine_runs_are_the_same_with_the_same_seed() -> None:
    class Rare(Nesting):
        @rule()
        def define(self) -> None:
            super().define()
            assert sum(self.drawn) % 5

    found = []
    for of_session in (nullcontext(), forced_seed(5)):
        SEEN.clear()
        with of_session:
            result = Explorer(Rare, seed=1, workers=1).run(max_runs=20, steps_per_run=4)
        found.append((list(SEEN), [(failure.flaky, failure.trace) for failure in result.failures]))
    assert found[0][0] == found[1][0]
    assert [flaky for flaky, _ in found[0][1]] == [False]


def test_the_settings_of_a_test_case_hold_in_its_rules() -> None:
    class Asking(RuleBasedStateMachine):
        @rule()
        def ask(self) -> None:
            assert settings().max_examples == 7

    Asking.TestCase.settings = settings(max_examples=7)
    assert not Explorer(Asking, workers=1).run(max_runs=3).failures
    assert settings().max_examples != 7

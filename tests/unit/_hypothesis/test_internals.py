"""Tests of what ordeal asks Hypothesis' own machinery: ends of runs, keys of failures, its settings."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, note, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import DidNotReproduce
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ordeal import Explorer
from ordeal._hypothesis.internals import database_key, reproducing_test, skip_types


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

"""Tests of what ordeal asks Hypothesis' own machinery: ends of runs, keys of failures, its settings."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, assume, note, reject, settings
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import DidNotReproduce, StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ordeal import Explorer
from ordeal._hypothesis.internals import REJECTED, database_key, failure_types, reproducing_test, skip_types


@pytest.mark.parametrize("error", [ValueError, AssertionError, SystemExit, GeneratorExit, pytest.fail.Exception])
def test_what_ends_a_program_is_a_failure(error: type[BaseException]) -> None:
    assert issubclass(error, failure_types())
    assert not issubclass(error, REJECTED)
    assert not issubclass(error, skip_types())


def test_an_interruption_is_none() -> None:
    assert not issubclass(KeyboardInterrupt, (*failure_types(), *skip_types(), *REJECTED))


@pytest.mark.parametrize("skip", [unittest.SkipTest, pytest.skip.Exception])
def test_a_skip_is_no_failure_of_the_code(skip: type[BaseException]) -> None:
    assert issubclass(skip, skip_types())


@pytest.mark.parametrize("end", [lambda: assume(False), reject])
def test_a_failed_assumption_rejects(end: Any) -> None:
    data = ConjectureData.for_choices(())
    with BuildContext(data, is_final=False, wrapped_test=lambda: None), pytest.raises(REJECTED):
        end()
    assert set(REJECTED) == {StopTest, UnsatisfiedAssumption}


QUIET = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))


class Failing(RuleBasedStateMachine):
    """Fails with a large number."""

    @rule(number=st.integers(0, 100))
    def act(self, number: int) -> None:
        assert number < 50


class Other(RuleBasedStateMachine):
    """Another class."""

    @rule(number=st.integers(0, 100))
    def act(self, number: int) -> None:
        assert number < 60


def test_the_key_is_the_one_under_which_hypothesis_saves() -> None:
    database = InMemoryExampleDatabase()
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Failing, settings=settings(QUIET, database=database, phases=[Phase.generate]))
    assert set(database.fetch(database_key(Failing)))


def test_each_class_has_a_key_of_its_own() -> None:
    assert database_key(Failing) == database_key(Failing)
    assert database_key(Failing) != database_key(Other)


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

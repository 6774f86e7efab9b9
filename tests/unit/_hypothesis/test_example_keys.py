"""How Hypothesis finds a failure of a machine again: by its key, and by the choices alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import DidNotReproduce
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ordeal._hypothesis.example_keys import database_key, reproducing_test

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

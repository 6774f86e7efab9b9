"""Which exceptions are failures, which skip, and which only reject a run."""

from __future__ import annotations

import unittest
from typing import Any

import pytest
from hypothesis import assume, reject
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.data import ConjectureData

from ordeal._hypothesis.exceptions import REJECTED, failure_types, skip_types


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

"""Shrinking values of all kinds of strategies: with any seed the least one that fails, the same as Hypothesis finds."""

from typing import Any

import pytest
from hypothesis import HealthCheck, find, settings

from ordeal.explore import Explorer

from .shrinking.values import VALUES, Value

RUNS_MAX = 30
UNLIMITED_S = 3600.0
FINDING = settings(
    database=None, max_examples=5_000, derandomize=True, suppress_health_check=list(HealthCheck), deadline=None
)


def least_failing(value: Value, rng_seed: int) -> Any:
    """The value of the failure that is left after shrinking."""
    failed: list[Any] = []
    explorer = Explorer(value.machine(failed), seed=rng_seed, workers=1)
    result = explorer.run(max_time=UNLIMITED_S, max_runs=RUNS_MAX, steps_per_run=5, max_shrink_time=UNLIMITED_S)
    assert len(result.failures) == 1
    return failed[-1]


def check(value: Value, rng_seed: int) -> None:
    assert repr(least_failing(value, rng_seed)) == value.least


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.name)
def test_is_the_least_with_one_seed(value: Value) -> None:
    check(value, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.name)
def test_is_the_least_with_ten_seeds(value: Value) -> None:
    for rng_seed in range(10):
        check(value, rng_seed)


@pytest.mark.nightly
@pytest.mark.parametrize("value", [value for value in VALUES if value.is_steady], ids=lambda value: value.name)
def test_is_what_hypothesis_finds(value: Value) -> None:
    assert repr(find(value.strategy, value.fails, settings=FINDING)) == value.least

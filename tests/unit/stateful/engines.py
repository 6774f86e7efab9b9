"""Runs a machine of any kind under Hypothesis and under the Explorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from ordeal.explore import ExplorationResult, Explorer
from ordeal.stateful import run_state_machine_as_test

TIME_LIMIT_S = 600.0


QUIET = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


type Run = Callable[[Any], None]


def explored(machine: Any, *, runs: int = 30, **options: Any) -> ExplorationResult:
    result = Explorer(machine, **options).run(max_runs=runs, max_time=TIME_LIMIT_S)
    assert result.unconfirmed == 0, result.notes
    return result


def under_hypothesis(machine: Any) -> None:
    run_state_machine_as_test(machine, QUIET)


def under_the_explorer(machine: Any) -> None:
    for failure in explored(machine).failures:
        raise failure.error


both_engines = pytest.mark.parametrize("run", [under_hypothesis, under_the_explorer])

"""Clocks, streams and builtins that a rule replaces change nothing for the engine: it searches, ends and replays."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.trace import ReplayStatus, rerun

from .clocks import FOR_EVER, MACHINES, Freezegun, Replacing, TimeMachine

RUNS = 50


def check(result: ExplorationResult, machine: type[Replacing], seconds: float) -> None:
    """The ordinary bug was found, shrunk and replays; the engine's clock is the real one."""
    (failure,) = result.failures
    assert isinstance(failure.error, ValueError)
    assert not failure.flaky
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps if step.kind == "rule"] == ["replace", "walk", "walk", "walk"]
    assert rerun(failure.trace, machine).status is ReplayStatus.REPRODUCED
    assert 0 < result.duration_seconds <= seconds


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_in_this_process(machine: type[Replacing], tmp_path: Path) -> None:
    began, real = time.monotonic(), (time.monotonic, time.time, sys.stdout, len)
    explorer = Explorer(machine, seed=1, corpus_dir=tmp_path)
    result = explorer.run(max_runs=RUNS)
    assert result.total_runs == RUNS
    check(result, machine, time.monotonic() - began)
    assert (time.monotonic, time.time, sys.stdout, len) == real


@pytest.mark.parametrize("machine", [Freezegun, TimeMachine], ids=lambda machine: machine.__name__)
def test_a_search_under_a_frozen_clock_ends_in_time(machine: type[Replacing]) -> None:
    result = Explorer(machine, seed=1).run(max_time=0.2, max_runs=10**9, shrink=False)
    assert result.stopped_reason == "time"
    assert result.duration_seconds >= 0.2


@pytest.mark.supervised
@pytest.mark.parametrize("machine", FOR_EVER, ids=lambda machine: machine.__name__)
def test_in_a_worker_that_stays_so(machine: type[Replacing], tmp_path: Path) -> None:
    began = time.monotonic()
    explorer = Explorer(machine, seed=1, workers=1, isolate=True, corpus_dir=tmp_path)
    result = explorer.run(max_runs=RUNS)
    (failure,) = result.failures
    assert type(failure.error).__name__ == "ValueError"  # a stand-in: it was raised in another process
    assert result.total_runs >= RUNS
    assert 0 < result.duration_seconds <= time.monotonic() - began

"""When a failure was decided: the share of runs that fail rises at the step that did it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.trace_view import likelihood as module
from ordeal._engine.trace_view.likelihood import beginnings, decided, likelihood
from ordeal._engine.trace_view.view import Chance
from ordeal.explore import Explorer

from ...samples.decided import PUZZLES, RareArgument, WrongMode


def largest_rise(puzzle: Any) -> tuple[str, list[Chance], list[int]]:
    """The rule of the step at which the share of failing runs rises most."""
    result = Explorer(puzzle, workers=1).run(max_runs=4_000, steps_per_run=30)
    (failure,) = result.failures
    assert failure.trace is not None
    loaded = load_for_replay(failure.trace, puzzle)
    with loaded.running():
        bucket = loaded.replayer.run(loaded.tape).bucket
        chances, steps = likelihood(loaded.driver, loaded.replayer, loaded.tape, bucket, 30.0)
    rises = [
        (now.failed - before.failed, failure.trace.taken_steps()[now.steps - 1].name)
        for before, now in pairwise(chances)
    ]
    return max(rises)[1], chances, steps


@pytest.mark.parametrize("puzzle", [RareArgument, WrongMode])
def test_the_step_that_decided_is_named(puzzle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUNS", 32)
    rule, chances, steps = largest_rise(puzzle)
    assert rule == puzzle.DECIDED_BY
    assert chances[-1].failed == chances[-1].runs
    assert len(steps) == 1
    assert all(0 <= chance.low <= chance.failed / chance.runs <= chance.high <= 1 for chance in chances)


@pytest.mark.nightly
def test_nine_of_ten_puzzles() -> None:
    right = [puzzle for puzzle in PUZZLES if largest_rise(puzzle)[0] == puzzle.DECIDED_BY]
    assert len(right) >= 9


def share(steps: int, failed: int) -> Chance:
    return Chance(steps=steps, runs=10, failed=failed, low=0, high=1)


def test_a_jump_decides_and_else_the_largest_rise() -> None:
    assert decided([share(0, 0), share(1, 4), share(2, 4), share(3, 10)]) == [1, 3]
    assert decided([share(0, 0), share(1, 1), share(2, 3), share(3, 3)]) == [2]
    assert decided([share(0, 5), share(1, 5)]) == []
    assert decided([share(0, 5)]) == []


def test_of_a_long_trace_some_beginnings_are_tried() -> None:
    assert beginnings(3) == [0, 1, 2, 3]
    many = beginnings(1_000)
    assert (len(many), many[0], many[-1]) == (module.BEGINNINGS_MAX, 0, 1_000)


def test_it_ends_when_its_time_is_over() -> None:
    result = Explorer(RareArgument, workers=1).run(max_runs=4_000)
    trace = result.failures[0].trace
    assert trace is not None
    loaded = load_for_replay(trace, RareArgument)
    with loaded.running():
        assert likelihood(loaded.driver, loaded.replayer, loaded.tape, "bucket", 0.0) == ([], [])

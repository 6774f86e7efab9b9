"""The trials of a scaling benchmark: which there are, in which order, how long they take, what they come to."""

from __future__ import annotations

import pytest

from ordeal.config.options import Metric
from ordeal.scaling.law import Measurement
from ordeal.scaling.trials import TrialPlan, WorkerTrial, measurements_of


def plan(max_workers: int, *, repeat: int = 1, seconds: float = 10.0) -> TrialPlan:
    return TrialPlan(max_workers=max_workers, seconds=seconds, metric="runs", repeat=repeat)


def trial(workers: int, runs: int = 100, *, seconds: float = 10.0) -> WorkerTrial:
    return WorkerTrial(round=1, workers=workers, runs=runs, steps=20 * runs, edges=7, seconds=seconds)


@pytest.mark.parametrize(
    ("most", "counts"), [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (64, (1, 2, 4, 8, 16, 32, 64)), (5, (1, 2, 4, 5))]
)
def test_worker_counts_double_and_end_with_the_most(most: int, counts: tuple[int, ...]) -> None:
    assert plan(most).worker_counts == counts


def test_every_count_comes_once_in_a_round_and_rounds_turn_around() -> None:
    assert list(plan(4, repeat=2).trials()) == [(1, 1), (1, 2), (1, 4), (2, 4), (2, 2), (2, 1)]


@pytest.mark.parametrize(("seconds", "total"), [(10.0, 1 + 3 * 3 * 10.0), (0.5, 0.5 + 3 * 3 * 0.5)])
def test_the_time_is_known_before(seconds: float, total: float) -> None:
    assert plan(4, repeat=3, seconds=seconds).total_s == total


@pytest.mark.parametrize(("metric", "throughput"), [("runs", 10.0), ("steps", 200.0), ("edges", 0.7)])
def test_throughput_is_what_was_counted_in_a_second(metric: Metric, throughput: float) -> None:
    assert trial(1).throughput(metric) == throughput


def test_a_trial_that_took_no_time_has_no_throughput() -> None:
    assert trial(1, seconds=0.0).throughput("runs") == 0
    assert trial(1, seconds=0.5).throughput("runs") == 200.0


def test_trials_are_grouped_by_workers_in_rising_order() -> None:
    trials = [trial(1, 100), trial(4, 300), trial(4, 320), trial(1, 90)]
    assert measurements_of(trials, "runs") == [Measurement(1, (10.0, 9.0)), Measurement(4, (30.0, 32.0))]

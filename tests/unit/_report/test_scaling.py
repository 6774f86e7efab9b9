"""What a scaling benchmark says of measurements, with and without a law in them, as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordeal._report.scaling import benchmark_header, scaling_json, scaling_report, trial_line
from ordeal.scaling.law import Law, analyse
from ordeal.scaling.trials import ScalingResult, TrialPlan, WorkerTrial, measurements_of


def plan(**changes: Any) -> TrialPlan:
    values: dict[str, Any] = {"max_workers": 8, "seconds": 10.0, "metric": "runs", "repeat": 3}
    return TrialPlan(**{**values, **changes})


def trial(workers: int, runs: int, *, number: int = 1, seconds: float = 10.0) -> WorkerTrial:
    return WorkerTrial(round=number, workers=workers, runs=runs, steps=10, edges=5, seconds=seconds)


def result(law: Law, *, counts: tuple[int, ...] = (1, 2, 4, 8), **changes: Any) -> ScalingResult:
    """Trials of ten seconds that follow ``law`` but for a run more in each round."""
    trials = tuple(
        trial(workers, round(4000 * law.capacity(workers)) + number, number=number)
        for number in (1, 2, 3)
        for workers in counts
    )
    values: dict[str, Any] = {
        "test_class": "shop:Till",
        "rng_seed": 42,
        "cpus": 8,
        "plan": plan(),
        "trials": trials,
        "analysis": analyse(measurements_of(trials, "runs")),
        "interrupted": False,
    }
    return ScalingResult(**{**values, **changes})


CONTENDED = Law(0.08, 0.005)


@pytest.mark.parametrize(
    ("seconds", "repeat", "about"),
    [(0.5, 1, "about 2.5s"), (10.0, 3, "about 121s"), (60.0, 3, "about 12 min"), (3600.0, 1, "about 4.0 h")],
)
def test_the_header_says_what_will_be_done_and_how_long_it_takes(seconds: float, repeat: int, about: str) -> None:
    header = benchmark_header("shop:Till\n", 8, plan(seconds=seconds, repeat=repeat), tests=1)
    assert header.startswith("Benchmarking shop:Till\\n\n  CPUs: 8, max workers: 8\n")
    assert "N = 1, 2, 4, 8" in header
    assert header.endswith(about)


def test_entries_that_are_left_out_are_counted() -> None:
    header = benchmark_header("shop:Till", 8, plan(), tests=3)
    assert header.split("\n")[1] == "  The first of 3 [[tests]]; the others are left out"


@pytest.mark.parametrize(("metric", "rate"), [("runs", "400 runs/s"), ("steps", "1 steps/s"), ("edges", "0.5 edges/s")])
def test_a_trial_has_a_line_with_the_rate_of_its_metric(metric: Any, rate: str) -> None:
    line = trial_line(trial(2, 4000), plan(metric=metric))
    assert line == f"  N= 2 ...    4000 runs,       10 steps,     5 edges, {rate}"
    assert trial_line(trial(2, 0, seconds=0.0), plan()).endswith(" 0 runs/s"), "a trial of no time has no rate"


def test_a_law_is_told_with_what_it_means() -> None:
    text = scaling_report(result(CONTENDED))
    assert text.startswith("Scaling Analysis (Universal Scaling Law)\n  sigma (contention): 0.08")
    assert "8.0% serialized fraction" in text or "7.9% serialized fraction" in text
    for heading in ("Diagnosis:", "Fit:", "Measurements:"):
        assert f"\n{heading}\n" in text
    assert text.endswith("\n")


def test_without_enough_counts_nothing_is_claimed() -> None:
    text = scaling_report(result(CONTENDED, counts=(1, 2)))
    assert "  Regime: inconclusive\nRaw measurements:\n" in text
    assert "\nMissing:\n" in text
    assert "sigma (contention)" not in text


def test_json_has_measurements_and_the_law() -> None:
    found = json.loads(scaling_json(result(CONTENDED)))
    assert (found["schema_version"], found["tool"], found["metric"]) == (1, "benchmark", "runs")
    assert len(found["trials"]) == 12
    assert [row["workers"] for row in found["measurements"]] == [1, 2, 4, 8]
    assert found["measurements"][0]["efficiency"] == pytest.approx(1.0, abs=0.02)
    assert found["law"]["sigma"] == pytest.approx(0.08, abs=0.01)
    assert found["law"]["optimum_is_extrapolated"] is True


def test_json_has_no_law_where_none_may_be_believed_and_never_an_infinity() -> None:
    few = json.loads(scaling_json(result(CONTENDED, counts=(1, 2))))
    assert few["law"] is None
    endless = scaling_json(result(Law(0.0, 0.0)))
    assert "Infinity" not in endless
    assert "NaN" not in endless
    assert json.loads(endless)["regime"] == "linear"

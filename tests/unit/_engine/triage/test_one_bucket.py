"""Failures in one bucket are one failure, also for the seeds of versions that split a bucket."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.replay.rerun import ReplayStatus, rerun
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, SeedStatus
from ordeal.trace import Trace, shrink

from ...samples.one_place_machines import MODULES, ONE, TWO, Shop


def explored(machine: type[RuleBasedStateMachine], seed: int = 1, **options: Any) -> ExplorationResult:
    return Explorer(machine, seed=seed, workers=1, isolate=False, target_modules=MODULES, **options).run(max_runs=100)


def split(trace: Trace | None) -> Trace:
    """Return the trace as earlier versions saved it, for one of several failures in its bucket."""
    assert trace is not None
    assert trace.failure is not None
    bucket = f"{trace.failure.bucket} [through receive, stock.py: self.total -= 1]"
    return dataclasses.replace(trace, failure=dataclasses.replace(trace.failure, bucket=bucket))


@pytest.mark.parametrize("machine", [*ONE[:2], *list(TWO)[:2]])
def test_a_bucket_is_one_failure(machine: type[RuleBasedStateMachine]) -> None:
    (failure,) = explored(machine).failures
    assert failure.count > 1
    assert failure.shrunk


def test_a_trace_of_a_split_bucket_replays_and_shrinks() -> None:
    (failure,) = explored(Shop).failures
    old = split(failure.trace)
    assert rerun(old, Shop).status is ReplayStatus.REPRODUCED
    small = shrink(old, Shop)
    assert small.failure is not None
    assert old.failure is not None
    assert small.failure.bucket == old.failure.bucket


def test_seeds_of_a_split_bucket_reproduce_and_are_one_failure(tmp_path: Path) -> None:
    (failure,) = explored(Shop, corpus_dir=tmp_path).failures
    path = Path(failure.seed_path or "")
    old = split(failure.trace)
    old.save(path)
    old.save(path.with_name(path.name.replace("seed-", "seed-0")))
    again = explored(Shop, seed=2, corpus_dir=tmp_path)
    assert [seed.status for seed in again.seed_replays] == [SeedStatus.REPRODUCED] * 2
    assert [each.bucket for each in again.failures] == [failure.bucket]

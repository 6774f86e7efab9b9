"""Pairs against four systems of known correctness, and against twenty bugs planted in them."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest

from ordeal.explore import Explorer
from ordeal.model import DivergenceError, Pair
from ordeal.result import Failure, ProgressSnapshot

from .model_pairs.mutants import MUTANTS, Mutant
from .model_pairs.pairs import CachePair, DequePair, DictPair, QueuePair

PAIRS = [DictPair, DequePair, QueuePair, CachePair]
# Runs end these searches, the clock must not: the same seed then gives the same answer on any machine.
UNLIMITED_S = 3600.0
RUNS_MAX = 400


def explored(pair: type[Pair], *, max_runs: int, seed: int = 1) -> list[Failure]:
    """The failures of so many runs, or the first."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt

    explorer = Explorer(pair, target_modules=[pair.impl.__module__], seed=seed)
    return explorer.run(max_time=UNLIMITED_S, max_runs=max_runs, shrink=False, progress=stop).failures


@pytest.mark.parametrize("pair", PAIRS)
def test_a_system_without_a_bug_raises_no_alarm(pair: type[Pair]) -> None:
    assert explored(pair, max_runs=100) == []


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_bug_is_found(mutant: Mutant, tmp_path: Path) -> None:
    assert explored(mutant.planted(tmp_path), max_runs=RUNS_MAX)


def test_what_is_found_is_what_was_planted(tmp_path: Path) -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "resize drops one at most")
    (failure,) = Explorer(mutant.planted(tmp_path), seed=1).run(max_time=UNLIMITED_S, max_runs=50).failures
    assert isinstance(failure.error, DivergenceError)
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps if step.kind == "rule"] == ["put", "put", "resize"]
    assert str(failure.error).startswith("after resize the views differ: the system (LRUCache) shows ")


def test_there_are_five_bugs_in_each_system() -> None:
    assert collections.Counter(mutant.pair for mutant in MUTANTS) == dict.fromkeys(PAIRS, 5)
    assert len({mutant.name for mutant in MUTANTS}) == 20

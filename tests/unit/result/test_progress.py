"""What somebody who watches an exploration is told: values that do not change behind their back."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot, ShrinkSnapshot


class Failing(RuleBasedStateMachine):
    """Fails in its third step."""

    steps = 0

    @rule()
    def step(self) -> None:
        self.steps += 1
        assert self.steps < 3


def test_each_run_and_each_try_is_told_with_figures_that_only_grow() -> None:
    runs: list[ProgressSnapshot] = []
    tries: list[ShrinkSnapshot] = []
    result = Explorer(Failing).run(max_runs=20, progress=runs.append, shrink_progress=tries.append)
    assert [told.total_runs for told in runs] == list(range(1, 21))
    for name in ("elapsed", "total_steps", "failures", "checkpoints"):
        values = [getattr(told, name) for told in runs]
        assert values == sorted(values), name
    assert runs[-1].total_steps == result.total_steps
    assert runs[-1].failures == 1
    assert tries
    assert {(told.number, told.total) for told in tries} == {(1, 1)}
    assert [told.candidates for told in tries] == list(range(1, len(tries) + 1))
    assert all(told.steps <= told.steps_before for told in tries)
    assert tries[-1].steps == 3


def test_they_are_values() -> None:
    told = ShrinkSnapshot(1.0, 1, 2, 30, 9, 80)
    assert told == ShrinkSnapshot(1.0, 1, 2, 30, 9, 80)
    with pytest.raises(FrozenInstanceError):
        told.steps = 3  # type: ignore[misc]


def test_progress_snapshot_is_a_value() -> None:
    assert ProgressSnapshot(12.0, 5832, 148201, 47, 31, 0, 486.0) == ProgressSnapshot(
        12.0, 5832, 148201, 47, 31, 0, 486.0
    )

"""An exploration counts its own runs and nothing else, and goes on from where one came nearer to a property."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal._base.property_tracker import Tallies
from ordeal._engine.properties.watch import PropertyWatch
from ordeal.assertions import always, always_le, declare, sometimes, sometimes_gt, tracker
from ordeal.chaos import ChaosTest
from ordeal.explore import ExplorationResult, Explorer, Tuning

pytestmark = pytest.mark.usefixtures("undeclared")


class Tank(ChaosTest):
    """Has an assertion of each kind of outcome."""

    fails_above = 10**9

    def __init__(self) -> None:
        super().__init__()
        self.level = 0

    @rule(litres=st.integers(0, 100))
    def pour(self, litres: int) -> None:
        self.level += litres
        always(self.level >= 0, "level")
        always(litres < 90, "small", mute=True, litres=litres)
        sometimes(False, "never")
        sometimes_gt(self.level, 10**6, "far")
        always_le(self.level, self.fails_above, "limit")


class Leaky(Tank):
    """Fails soon."""

    fails_above = 500


class Plain(ChaosTest):
    """Asserts nothing."""

    @rule(litres=st.integers(0, 100))
    def pour(self, litres: int) -> None:
        pass


def explore(machine: type[ChaosTest], **options: Any) -> ExplorationResult:
    return Explorer(machine, seed=1).run(**{"max_runs": 30, "max_time": 3600.0} | options)


def counted(result: ExplorationResult) -> dict[str, tuple[int, int, str]]:
    return {each.name: (each.passes, each.failures, each.status) for each in result.properties}


def test_the_runs_are_counted() -> None:
    result = explore(Tank)
    counts = counted(result)
    assert list(counts) == ["far", "level", "limit", "never", "small"]
    steps = result.total_steps
    assert counts["level"] == (steps, 0, "PASS")
    assert counts["never"] == (0, steps, "FAIL")
    passes, failures, status = counts["small"]
    assert (passes + failures, status) == (steps, "FAIL")
    assert not result.failures


def test_shrinking_confirming_and_seeds_are_not_counted(tmp_path: Path) -> None:
    once = explore(Leaky, shrink=False)
    assert counted(explore(Leaky, shrink=True)) == counted(once)
    corpus = Explorer(Leaky, seed=1, corpus_dir=tmp_path)
    assert counted(corpus.run(max_runs=30)) == counted(once)
    again = corpus.run(max_runs=30)
    assert again.seed_replays
    assert counted(again) == counted(once)


def test_a_violation_is_a_failure_as_any() -> None:
    (failure,) = explore(Leaky).failures
    assert isinstance(failure.error, AssertionError)
    assert str(failure.error).startswith("always violated: limit | ")
    assert len(failure.rule_log) == 6


def test_what_is_declared_and_never_seen_is_told() -> None:
    declare("not there", "reachable")
    (row,) = [each for each in explore(Plain).properties if each.name == "not there"]
    assert (row.status, row.evidence_status) == ("FAIL", "NOT EXERCISED")


@pytest.mark.parametrize("active", [False, True])
def test_the_tracker_is_left_as_it_was(active: bool) -> None:
    with tracker.recording():
        tracker.record("reachable", "before", True)
        tracker.active = active
        known = tracker.snapshot()
        explore(Leaky)
        assert tracker.active is active
        assert tracker.snapshot() == known
        assert not tracker.nearer


def test_cells_are_told() -> None:
    class Cells(ChaosTest):
        @rule()
        def go(self) -> None:
            always(True, "holds", operation="go", fault="slow")

    (cell,) = explore(Cells).reliability_cells
    assert (cell.operation, cell.fault, cell.status) == ("go", "slow", "PASS")


def test_the_runs_go_on_from_where_one_came_nearer() -> None:
    def nearest(machine: type[ChaosTest]) -> float:
        result = Explorer(machine, seed=1, tuning=Tuning(swarm_policy="classic")).run(max_runs=300, max_time=3600.0)
        (far,) = [each for each in result.properties if each.name == "far"]
        return float(far.summary.rpartition(", ")[2].partition(" ")[0])

    class Alone(Tank):
        def checkpoint_snapshot_filter(self, name: str, value: Any) -> bool:
            return name != "level"

    # No run of 50 steps pours more than 5,000 litres.
    assert nearest(Tank) < 10**6 - 50_000
    assert nearest(Alone) > 10**6 - 10_000


def test_a_resumed_exploration_goes_on_with_what_was_counted(tmp_path: Path) -> None:
    whole = explore(Tank, max_runs=100)
    explore(Tank, max_runs=40, save_state_to=tmp_path / "s")
    resumed = explore(Tank, max_runs=100, resume_from=tmp_path / "s")
    assert resumed.properties == whole.properties
    assert resumed.checkpoints_saved == whole.checkpoints_saved


def test_a_step_that_fails_leaves_nothing_to_go_on_from() -> None:
    watch = PropertyWatch()
    with watch.recording(), watch.counting():
        sometimes_gt(1, 9, "x")
        watch.begin_run()
        assert not watch.take_nearer()
        sometimes_gt(2, 9, "x")
        assert watch.take_nearer() == ["x"]
        tracker.active = False
        sometimes_gt(3, 9, "x")
        assert not watch.take_nearer()


def test_what_became_true_in_a_fork_came_nearer() -> None:
    watch = PropertyWatch()
    with watch.recording():
        elsewhere = Tallies()
        elsewhere.tally("sometimes", "full").count(1, 0)
        elsewhere.tally("sometimes", "empty").count(0, 1)
        elsewhere.tally("always", "whole").count(1, 0)
        watch.absorb(elsewhere.snapshot())
        assert watch.take_nearer() == ["full"]
        watch.absorb(elsewhere.snapshot())
        assert not watch.take_nearer()


class Counting(ChaosTest):
    """Sees something in its third step at the earliest."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    @rule()
    def go(self) -> None:
        self.steps += 1
        sometimes(self.steps > 2, "three steps")
        sometimes(self.steps < 0, "nothing")
        always(self.steps, "counts")


@pytest.mark.parametrize(("workers", "isolate"), [(1, False), (1, True), (2, True)])
def test_it_is_told_which_run_saw_something_first(workers: int, isolate: bool) -> None:
    result = Explorer(Counting, seed=5, workers=workers, isolate=isolate).run(max_runs=40)
    first = {row.name: row.first_run for row in result.properties}
    assert (first["nothing"], first["counts"]) == (None, None)
    run = first["three steps"]
    assert run is not None
    assert 1 <= run <= 40
    assert f", first in run {run})" in result.summary()
    if workers == 1 and run > 1:
        earlier = Explorer(Counting, seed=5, workers=1, isolate=False).run(max_runs=run - 1)
        assert {row.name: row.passes for row in earlier.properties}["three steps"] == 0

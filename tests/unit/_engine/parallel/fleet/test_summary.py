"""One result of a whole fleet."""

from __future__ import annotations

from ordeal._engine.parallel.fleet.fleet import FleetOutcome
from ordeal._engine.parallel.fleet.summary import fleet_result
from ordeal.result import ExplorationResult, FaultUse, SeedOutcome, SeedStatus


def test_figures_are_those_of_the_members() -> None:
    idle = FaultUse("timeout(pay)", runs=1, calls=0, hits=0)
    here = ExplorationResult(
        test_class="m:A",
        rng_seed=42,
        total_runs=1,
        total_steps=2,
        unique_edges=3,
        checkpoints_saved=0,
        duration_seconds=0.1,
        missed_lines={"m.py": [1]},
        stopped_reason="max_runs",
        faults=[idle],
        notes=(idle.remark(), "The working folder was deleted."),
        seed_replays=[SeedOutcome(name, name, SeedStatus.REPRODUCED, "") for name in ("known", "found now")],
    )
    outcome = FleetOutcome(members=3, seconds=9.0, runs=70, steps=80, lost=1, notes=["Member 1 was lost."])
    result = fleet_result(here, outcome, 55, ["a trace"], kept=True, seeds={"known"})
    assert (result.total_runs, result.total_steps, result.unique_edges) == (70, 80, 55)
    assert result.missed_lines == {}
    # The run that confirmed here is told to be the only one.
    assert result.stopped_reason == "time"
    assert [each.path for each in result.seed_replays] == ["known"]
    assert result.faults == []
    # That a fault met no call is only so in the one run here.
    assert list(result.notes) == [
        "The working folder was deleted.",
        "Explored by a fleet of 3 members, of which 1 was lost.",
        "Member 1 was lost.",
        "Not brought home: a trace.",
    ]

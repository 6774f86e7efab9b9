"""What the faults of worlds struck is counted once for each run, and not in replays."""

from __future__ import annotations

from ordeal._base.world_reach import WorldReach


def test_a_run_counts_once_with_however_many_machines() -> None:
    reach = WorldReach()
    for _ in range(2):
        reach.begin_run()
        reach.add_run([("simulate.crash('*')", 3, 1), ("simulate.pause('x')", 0, 0)])
        reach.add_run([("simulate.crash('*')", 3, 0), ("simulate.pause('x')", 0, 0)])
    assert reach.counts == {"simulate.crash('*')": [2, 12, 2], "simulate.pause('x')": [2, 0, 0]}


def test_nothing_is_counted_while_paused() -> None:
    reach = WorldReach()
    reach.is_paused = True
    reach.add_run([("simulate.crash('*')", 3, 1)])
    assert reach.counts == {}

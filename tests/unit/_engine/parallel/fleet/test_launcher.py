"""The launcher for this machine: its members are processes, and close ends them all."""

from __future__ import annotations

from pathlib import Path

from ordeal._engine.parallel.fleet.launcher import LocalLauncher
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig


def test_close_leaves_nothing_running(tmp_path: Path) -> None:
    task = Task(fleet="f", test_class="no_such_module:A", seconds=60.0, path=(str(tmp_path),))
    launcher = LocalLauncher(
        FleetPlan(task=task, on="local:1", members=1, store=f"dir://{tmp_path}", options=FleetConfig())
    )
    launcher.start(task, 0, 1)
    assert launcher.running() == {0}
    launcher.close(leave=False)
    assert launcher.running() == set()

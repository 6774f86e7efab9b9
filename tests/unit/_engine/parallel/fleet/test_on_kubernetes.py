"""The job of kubernetes: as many tasks as members, and no password in it."""

from __future__ import annotations

from ordeal._engine.parallel.fleet.on_kubernetes import manifest_of
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig


def test_the_job_holds_no_password() -> None:
    task = Task(fleet="night", test_class="m:A", seconds=60.0, path=())
    options = FleetConfig(image="app:1")
    plan = FleetPlan(task=task, on="kubernetes", members=4, store="redis://:sesame@host/0", options=options)
    text = manifest_of(plan, task)
    assert "sesame" not in text
    assert "night" in text
    assert ("--array=0-3" if plan.on == "slurm" else '"completions": 4') in text

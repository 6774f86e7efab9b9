"""The job of kubernetes: as many tasks as members, and no password in it."""

from __future__ import annotations

import kubernetes_validate
import yaml

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
    assert yaml.safe_load(text)["spec"]["completions"] == 4
    # By the schema that the API server has.
    kubernetes_validate.validate(yaml.safe_load(text), "1.30", strict=True)
    (container,) = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each.get("value") for each in container["env"]}
    assert Task.from_json(told["ORDEAL_FLEET_TASK"]) == task

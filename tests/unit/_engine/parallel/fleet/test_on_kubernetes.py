"""The job of kubernetes: as many tasks as members, and no password in it."""

from __future__ import annotations

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from ordeal._engine.parallel.fleet import on_kubernetes
from ordeal._engine.parallel.fleet.on_kubernetes import KubernetesLauncher, manifest_of
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


@pytest.mark.parametrize(
    ("pods", "events", "trouble"),
    [
        ("Pending ErrImagePull no such image\nPending ImagePullBackOff \n", "", "ErrImagePull: no such image"),
        ("Pending ErrImagePull no such image\nPending  \n", "", ""),
        ("Running  \nPending ErrImagePull no such image\n", "", ""),
        ("", 'serviceaccount "x" not found', 'serviceaccount "x" not found'),
        ("", "", ""),
    ],
)
def test_a_job_whose_pods_cannot_start_is_given_up(
    pods: str, events: str, trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pods").write_text(pods)
    (tmp_path / "events").write_text(events)
    (tmp_path / "job").write_text("{}")
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\ncat "{tmp_path}/$2"\n')
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(on_kubernetes, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(on_kubernetes, "STUCK_SECONDS", 0.0)
    task = Task(fleet="night", test_class="m:A", seconds=60.0, path=())
    plan = FleetPlan(task=task, on="kubernetes", members=2, store="redis://host/0", options=FleetConfig(image="app:1"))
    members = KubernetesLauncher(plan)
    monkeypatch.setattr(members, "_applied", True)
    monkeypatch.setattr(members, "_active", True)
    assert members.running() == {0, 1}
    assert members.running() == (set() if trouble else {0, 1})
    assert (trouble in members.trouble) if trouble else not members.trouble

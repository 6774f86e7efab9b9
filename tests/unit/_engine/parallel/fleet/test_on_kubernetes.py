"""The job of kubernetes: as many tasks as members, and no password in it."""

from __future__ import annotations

from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from tests.unit._engine.parallel.fleet.plans import PASSWORD, SECRET_STORE, plan_on

from ordeal._engine.parallel.fleet import on_kubernetes
from ordeal._engine.parallel.fleet.on_kubernetes import KubernetesLauncher, job_text
from ordeal._engine.parallel.fleet.plan import MemberTask


def test_the_job_holds_no_password() -> None:
    plan = plan_on("kubernetes", SECRET_STORE, members=4, image="app:1")
    text = job_text(plan, plan.task)
    assert PASSWORD not in text
    assert yaml.safe_load(text)["spec"]["completions"] == 4
    # By the schema that the API server has.
    kubernetes_validate.validate(yaml.safe_load(text), "1.30", strict=True)
    (container,) = yaml.safe_load(text)["spec"]["template"]["spec"]["containers"]
    told = {each["name"]: each.get("value") for each in container["env"]}
    assert MemberTask.from_json(told["ORDEAL_FLEET_TASK"]) == plan.task


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
    monkeypatch.setattr("ordeal._engine.parallel.fleet.launcher.POLL_SECONDS", 0.0)
    monkeypatch.setattr(on_kubernetes, "STUCK_SECONDS", 0.0)
    members = KubernetesLauncher(plan_on("kubernetes", "redis://host/0", members=2, image="app:1"))
    (tmp_path / "--filename=-").touch()
    for number in range(2):
        members.start(members.plan.task, number, 1)
    assert members.running() == {0, 1}
    assert members.running() == (set() if trouble else {0, 1})
    assert (trouble in members.trouble) if trouble else not members.trouble

"""Jobs of Slurm and Kubernetes: they run as printed, hold no password, and end when they cannot start."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from tests.unit._engine.parallel.fleet.plans import PASSWORD, SECRET_STORE, plan_on

from ordeal._engine.parallel.fleet import on_kubernetes, on_slurm
from ordeal._engine.parallel.fleet.batch import call
from ordeal._engine.parallel.fleet.board import Board
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal._engine.parallel.fleet.plan import MemberTask


@pytest.mark.forks
def test_a_printed_job_of_slurm_runs_in_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text(
        "from hypothesis.stateful import RuleBasedStateMachine, rule\n"
        "class Idle(RuleBasedStateMachine):\n    @rule()\n    def wait(self): pass\n"
    )
    plan = plan_on("slurm", SECRET_STORE, members=4, test_class="idle:Idle", path=str(tmp_path))
    task = replace(plan.task, alone=True, run={"max_runs": 5}, init={"workers": 1})
    text = on_slurm.job_text(plan, task)
    assert PASSWORD not in text
    (output,) = [line.partition("=")[2] for line in text.splitlines() if line.startswith("#SBATCH --output=")]
    assert "/" not in output, "Slurm makes no folder for it"
    assert "#SBATCH --array=0-3" in text
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    # What Slurm does with the script, for one task of the array; without a store it says what is missing.
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_JOB_ID": "7", "SLURM_JOB_ID": "10"}
    environment.pop("ORDEAL_STORE", None)
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    script = ["bash", "-s"]
    missing = subprocess.run(
        script, input=text, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert missing.returncode != 0
    assert "set it to the address of the store" in missing.stderr
    environment["ORDEAL_STORE"] = f"dir://{tmp_path}/store"
    done = subprocess.run(
        script, input=text, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    board = Board(environment["ORDEAL_STORE"], "f")
    record = board.get("member-000003")
    assert (record["state"], record["runs"]) == ("ended", 5)
    assert board.get("launcher")["state"] == "left"


def test_the_job_of_kubernetes_is_valid_and_holds_no_password() -> None:
    plan = plan_on("kubernetes", SECRET_STORE, members=4, image="app:1")
    text = on_kubernetes.job_text(plan, plan.task)
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
    monkeypatch.setattr("ordeal._engine.parallel.fleet.batch.POLL_SECONDS", 0.0)
    monkeypatch.setattr(on_kubernetes, "STUCK_SECONDS", 0.0)
    members = on_kubernetes.KubernetesLauncher(plan_on("kubernetes", "redis://host/0", members=2, image="app:1"))
    (tmp_path / "--filename=-").touch()
    for number in range(2):
        members.start(number, 1)
    assert members.running() == {0, 1}
    assert members.running() == (set() if trouble else {0, 1})
    assert (trouble in members.trouble) if trouble else not members.trouble


def test_what_went_wrong_is_the_last_that_a_command_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squeue").write_text("#!/bin/sh\necho one way >&2\necho no configuration >&2\nexit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(FleetError, match="`squeue` failed: no configuration"):
        call(("squeue",))


def test_a_task_that_the_queue_no_longer_lists_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another job of the user, and then a controller that is away.
    answers = {"sbatch": "echo '7;cluster'", "squeue": "cat queue 2> /dev/null", "scancel": ":"}
    for name, script in answers.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ordeal._engine.parallel.fleet.batch.POLL_SECONDS", 0.0)
    members = on_slurm.SlurmLauncher(plan_on("slurm", members=3))
    queue = tmp_path / "queue"
    queue.write_text("")
    members.open()
    for number in range(3):
        members.start(number, 1)
    queue.write_text("6 0\n7 1\n7 2\n")
    assert members.running() == {1, 2}
    queue.unlink()
    assert members.running() == {1, 2}
    queue.write_text("6 0\n")
    assert members.running() == set()

"""The job of slurm: as many tasks as members, and no password in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._engine.parallel.fleet.plans import PASSWORD, SECRET_STORE, plan_on

from ordeal._engine.parallel.fleet.launcher import FleetError, call
from ordeal._engine.parallel.fleet.on_slurm import SlurmLauncher, job_text


def test_the_job_holds_no_password() -> None:
    plan = plan_on("slurm", SECRET_STORE, members=4)
    text = job_text(plan, plan.task)
    assert PASSWORD not in text
    assert "--job-name=f" in text
    assert "--array=0-3" in text


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
    monkeypatch.setattr("ordeal._engine.parallel.fleet.launcher.POLL_SECONDS", 0.0)
    members = SlurmLauncher(plan_on("slurm", members=3))
    queue = tmp_path / "queue"
    queue.write_text("")
    members.open()
    for number in range(3):
        members.start(members.plan.task, number, 1)
    queue.write_text("6 0\n7 1\n7 2\n")
    assert members.running() == {1, 2}
    queue.unlink()
    assert members.running() == {1, 2}
    queue.write_text("6 0\n")
    assert members.running() == set()

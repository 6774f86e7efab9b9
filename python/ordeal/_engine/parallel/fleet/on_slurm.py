"""Members on Slurm: the tasks of one array job, which the cluster starts, requeues and ends."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import override

from ordeal._engine.parallel.fleet.batch import BatchLauncher, call
from ordeal._engine.parallel.fleet.launcher import AGENT_MODULE, FleetError
from ordeal._engine.parallel.fleet.plan import TASK_VARIABLE, FleetPlan, MemberTask
from ordeal.config.options import STORE_VARIABLE

FOLDER = ".ordeal/fleet"


def job_text(plan: FleetPlan, task: MemberTask, logs: str = "") -> str:
    """Return the script of the array job. The address of the store comes from the environment of `sbatch`.

    Logs are written to the folder ``logs``, which must be there: Slurm makes none.
    """
    minutes = int(task.seconds // 60) + 4
    given = dict(option.partition("=")[::2] for option in plan.options.job_options)
    options = {
        "job-name": task.fleet,
        "array": f"0-{plan.members - 1}",
        "cpus-per-task": str(task.init.get("workers") or 1),
        "time": f"{minutes // 60:02}:{minutes % 60:02}:00",
        "output": f"{logs}{task.fleet}-%a.log",
        "open-mode": "append",
        "requeue": "",
        # The store's address reaches the tasks with the environment, and stands in no file.
        "export": "ALL",
    } | given
    lines = [f"#SBATCH --{name}={value}" if value else f"#SBATCH --{name}" for name, value in options.items()]
    return "\n".join(
        [
            "#!/bin/sh",
            *lines,
            f': "${{{STORE_VARIABLE}:?set it to the address of the store}}"',
            f"export {TASK_VARIABLE}={shlex.quote(task.to_json())}",
            f"exec {shlex.quote(sys.executable)} -m {AGENT_MODULE}",
            "",
        ]
    )


class SlurmLauncher(BatchLauncher):
    """Submits an array job."""

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self._job = ""

    @override
    def open(self) -> None:
        missing = [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]
        if missing:
            message = f"`--on slurm` needs `{missing[0]}`, which is not here"
            raise FleetError(message, hint="start the fleet on a login node")
        call(("squeue", "--noheader"))

    @override
    def submit(self) -> None:
        script = Path(FOLDER, f"{self.plan.task.fleet}.sbatch")
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(job_text(self.plan, self.plan.task, f"{FOLDER}/"), encoding="utf-8")
        answer = call(("sbatch", "--parsable", str(script)), store=self.plan.store)
        self._job = answer.strip().partition(";")[0]

    @override
    def asked(self) -> set[int]:
        # All jobs of this user: one that ended a while ago is not listed, which is not an error.
        listed = call(("squeue", "--noheader", "--array", f"--user={os.getuid()}", "--format=%F %K"))
        rows = [line.split() for line in listed.splitlines()]
        return {int(row[1]) for row in rows if row[0] == self._job and row[1].isdecimal()}

    @override
    def cancel(self, *, waiting: bool) -> None:
        call(("scancel", "--state=PENDING", self._job) if waiting else ("scancel", self._job))


LAUNCHER = SlurmLauncher

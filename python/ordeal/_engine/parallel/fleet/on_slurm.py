"""Members on Slurm: the tasks of one array job, which the cluster starts, requeues and ends."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._engine.parallel.fleet.launcher import AGENT_MODULE, END_SECONDS, FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, FleetPlan, Task

COMMAND_SECONDS_MAX = 8.0
POLL_SECONDS = 2.0
FOLDER = ".ordeal/fleet"


def launcher(plan: FleetPlan) -> SlurmLauncher:
    """Return the launcher of a plan."""
    return SlurmLauncher(plan)


def script_of(plan: FleetPlan, task: Task) -> str:
    """Return the script of the array job. The address of the store comes from the environment of `sbatch`."""
    minutes = int(task.seconds // 60) + 4
    given = dict(option.partition("=")[::2] for option in plan.options.job_options)
    options = {
        "job-name": task.fleet,
        "array": f"0-{plan.members - 1}",
        "cpus-per-task": str(task.init.get("workers") or 1),
        "time": f"{minutes // 60:02}:{minutes % 60:02}:00",
        "output": f"{FOLDER}/{task.fleet}-%a.log",
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
            f": ${{{STORE_VARIABLE}:?set it to the address of the store}}",
            f"export {TASK_VARIABLE}={shlex.quote(task.to_json())}",
            f"exec {shlex.quote(sys.executable)} -m {AGENT_MODULE}",
            "",
        ]
    )


class SlurmLauncher(Launcher):
    """Submits one job when the last member is to start."""

    restarts = False

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._job = ""
        self._wanted = 0
        self._asked_at = 0.0
        self._running: set[int] = set()

    def open(self) -> None:
        missing = [name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None]
        if missing:
            raise FleetError(
                f"`--on slurm` needs `{missing[0]}`, which is not here",
                hint="start the fleet on a login node",
            )
        self._call("squeue", "--noheader")

    def start(self, task: Task, number: int, attempt: int) -> None:
        del number, attempt
        self._wanted += 1
        if self._wanted < self._plan.members:
            return
        folder = Path(FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / f"{task.fleet}.sbatch"
        script.write_text(script_of(self._plan, self._plan.task), encoding="utf-8")
        answer = self._call("sbatch", "--parsable", str(script), store=self._plan.store)
        self._job = answer.strip().partition(";")[0]
        self._running = set(range(self._plan.members))

    def running(self) -> set[int]:
        if self._job and time.monotonic() - self._asked_at >= POLL_SECONDS:
            self._asked_at = time.monotonic()
            # All jobs of this user: one that ended a while ago is not listed, which is no error. While the controller
            # is away, what it said last holds.
            with contextlib.suppress(FleetError):
                listed = ("squeue", "--noheader", "--array", f"--user={os.getuid()}", "--format=%F %K")
                rows = [line.split() for line in self._call(*listed).splitlines()]
                self._running = {int(row[1]) for row in rows if row[0] == self._job and row[1].isdecimal()}
        return self._running

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        if not self._job or leave:
            return
        # The board has told them to end; those that still wait in the queue never start.
        with contextlib.suppress(FleetError):
            self._call("scancel", "--state=PENDING", self._job)
        deadline = time.monotonic() + seconds
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.5)
        with contextlib.suppress(FleetError):
            self._call("scancel", self._job)

    def _call(self, *command: str, store: str = "") -> str:
        return call(command, store=store)


def call(command: tuple[str, ...], *, store: str = "", text: str | None = None) -> str:
    """Run a command of the cluster and return its output.

    Raises:
        FleetError: it failed, or took too long.
    """
    environment = {**os.environ, STORE_VARIABLE: store} if store else None
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_SECONDS_MAX,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"`{command[0]}` did not answer within {COMMAND_SECONDS_MAX:g} s"
        raise FleetError(message, hint="see that the cluster is up") from None
    except OSError as error:
        message = f"`{command[0]}` cannot be run: {error.strerror or error}"
        raise FleetError(message, hint="start the fleet where it is installed") from error
    if done.returncode:
        # What went wrong comes last, after all that was tried.
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        message = f"`{command[0]}` failed: {one_line(said[-1], limit=300)}"
        raise FleetError(message, hint=f"see that `{' '.join(command[:2])}` works in a shell")
    return done.stdout

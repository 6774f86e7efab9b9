"""Members that a scheduler starts from one job, and starts again when they are lost: Slurm and Kubernetes."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import shutil
import signal
import sys
import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, override
from urllib.parse import urlsplit

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import finish, start
from ordeal._engine.parallel.fleet.launcher import AGENT_MODULE, END_SECONDS, FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import TASK_VARIABLE, FleetPlan, MemberTask
from ordeal.config.options import STORE_VARIABLE
from ordeal.errors import ConfigError

#: How long a command of a scheduler may take, and how often a scheduler is asked.
COMMAND_SECONDS_MAX = 8.0
POLL_SECONDS = 2.0


class BatchLauncher(Launcher):
    """Submits one job when the last member is to start; its scheduler starts lost members again.

    ``present`` are the members that were thought to run or wait when the scheduler was asked last.
    """

    restarts = False

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self.present: set[int] = set()
        self._wanted = 0
        self._is_submitted = False
        self._asked_at = 0.0

    @abstractmethod
    def submit(self) -> None:
        """Submit the job of all members."""

    @abstractmethod
    def asked(self) -> set[int]:
        """Ask the scheduler which members run or wait. Raises ``FleetError`` or ``ValueError`` while it is away."""

    @abstractmethod
    def cancel(self, *, waiting: bool) -> None:
        """Cancel the members that wait for a place, or all."""

    @override
    def start(self, number: int, attempt: int) -> None:
        self._wanted += 1
        if self._wanted == self.plan.members:
            self.submit()
            self._is_submitted = True
            self._asked_at = time.monotonic()
            self.present = set(range(self.plan.members))

    @override
    def running(self) -> set[int]:
        if self._is_submitted and time.monotonic() - self._asked_at >= POLL_SECONDS:
            self._asked_at = time.monotonic()
            # A scheduler that is away may come back: what it said last holds.
            with contextlib.suppress(FleetError, ValueError):
                self.present = self.asked()
        return self.present

    @override
    def close(self) -> None:
        if not self._is_submitted:
            return
        # The board has ended them; those that still wait in the queue never start.
        with contextlib.suppress(FleetError):
            self.cancel(waiting=True)
        deadline = time.monotonic() + END_SECONDS
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.5)
        with contextlib.suppress(FleetError):
            self.cancel(waiting=False)


def call(command: tuple[str, ...], *, store: str = "", text: str = "") -> str:
    """Run a command of a scheduler and return its output.

    Raises:
        FleetError: it failed, or took too long.
    """
    environment = {**os.environ, STORE_VARIABLE: store} if store else None
    try:
        process = start(command, pipes=["stdin", "stdout", "stderr"], environment=environment)
    except OSError as error:
        message = f"`{command[0]}` cannot be run: {error.strerror or error}"
        raise FleetError(message, hint="start the fleet where it is installed") from error
    out, err = finish(process, text.encode(), seconds=COMMAND_SECONDS_MAX)
    if process.returncode == -signal.SIGKILL:
        message = f"`{command[0]}` did not answer within {COMMAND_SECONDS_MAX:g} s"
        raise FleetError(message, hint="check that the cluster is up")
    if process.returncode:
        # What went wrong comes last, after all that was tried.
        said = err.decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
        message = f"`{command[0]}` failed: {one_line(said[-1], limit=300)}"
        raise FleetError(message, hint=f"see that `{' '.join(command[:2])}` works in a shell")
    return out.decode(errors="replace")


# -- the tasks of one array job of Slurm, which the cluster starts, requeues and ends

FOLDER = ".ordeal/fleet"


def slurm_job(plan: FleetPlan, task: MemberTask, logs: str = "") -> str:
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
        script.write_text(slurm_job(self.plan, self.plan.task, f"{FOLDER}/"), encoding="utf-8")
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


# -- the pods of one Indexed Job of Kubernetes, applied with kubectl

#: The secret that has the address of a store with a password, and the key in it.
SECRET, SECRET_KEY = "ordeal-store", "url"
#: Why a pod waits that will never start, and how long all pods may wait so, or be missing, until the fleet ends.
STUCK = (
    *("CreateContainerConfigError", "CreateContainerError", "InvalidImageName"),
    *("ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff"),
)
#: A pod may wait for its image for a moment and start after all.
STUCK_SECONDS = 5.0
_WAITING = ".status.containerStatuses[0].state.waiting"
_PODS = f"{{range .items[*]}}{{.status.phase}} {{{_WAITING}.reason}} {{{_WAITING}.message}}{{'\\n'}}{{end}}"
_JOB_OPTIONS = ("namespace", "cpu", "memory", "secret", "service-account")


def _given(plan: FleetPlan) -> dict[str, str]:
    given = dict(option.partition("=")[::2] for option in plan.options.job_options)
    for name in given:
        if name not in _JOB_OPTIONS:
            message = f"`--job-option {name}` is not known for Kubernetes"
            raise ConfigError(message, hint=f"known are {', '.join(_JOB_OPTIONS)}")
    return given


def kubernetes_job(plan: FleetPlan, task: MemberTask) -> str:
    """Return the job as JSON, which is YAML too. An address with a password is that of a secret.

    Raises:
        ConfigError: there is a job option that is not known, or the pods cannot reach the store.
    """
    given = _given(plan)
    if plan.store.startswith("dir://"):
        message = "pods share no folder"
        raise ConfigError(message, hint="use a server: `--store redis://HOST:6379/0`")
    store: dict[str, Any] = {"name": STORE_VARIABLE, "value": plan.store}
    if urlsplit(plan.store).password is not None or "secret" in given:
        reference = {"name": given.get("secret", SECRET), "key": SECRET_KEY}
        store = {"name": STORE_VARIABLE, "valueFrom": {"secretKeyRef": reference}}
    resources = {"cpu": given.get("cpu", str(task.init.get("workers") or 1)), "memory": given.get("memory", "2Gi")}
    sent = dataclasses.replace(task, path=())
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "member",
                "image": plan.options.image,
                "command": ["python", "-m", AGENT_MODULE],
                "env": [store, {"name": TASK_VARIABLE, "value": sent.to_json()}],
                "resources": {"requests": resources, "limits": {"memory": resources["memory"]}},
            }
        ],
    }
    if "service-account" in given:
        pod["serviceAccountName"] = given["service-account"]
    metadata = {"name": task.fleet, "labels": {"app.kubernetes.io/name": "ordeal", "ordeal/fleet": task.fleet}}
    if "namespace" in given:
        metadata["namespace"] = given["namespace"]
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": plan.members,
            "parallelism": plan.members,
            "backoffLimitPerIndex": 3,
            "ttlSecondsAfterFinished": 3600,
            # Exit code 2 is wrong use: it stays so when it is tried again.
            "podFailurePolicy": {
                "rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [2]}}],
            },
            "template": {"metadata": {"labels": metadata["labels"]}, "spec": pod},
        },
    }
    return json.dumps(job, indent=2) + "\n"


class KubernetesLauncher(BatchLauncher):
    """Applies an Indexed Job."""

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self._namespace = tuple(f"--namespace={value}" for value in [_given(plan).get("namespace")] if value)
        self._has_begun = False
        self._stuck_since = 0.0

    @override
    def open(self) -> None:
        if shutil.which("kubectl") is None:
            hint = "install it, or start the fleet where it is installed"
            raise FleetError("`--on kubernetes` needs `kubectl`, which is not here", hint=hint)
        self._kubectl("get", "jobs", "--output=name", "--request-timeout=5s")

    def _kubectl(self, *words: str) -> str:
        return call(("kubectl", *words, *self._namespace))

    @override
    def submit(self) -> None:
        call(("kubectl", "apply", "--filename=-"), text=kubernetes_job(self.plan, self.plan.task))

    @override
    def asked(self) -> set[int]:
        status = json.loads(self._kubectl("get", "job", self.plan.task.fleet, "--output=json")).get("status", {})
        is_over = any(each.get("type") in ("Complete", "Failed") for each in status.get("conditions", []))
        if is_over or (not self._has_begun and self._is_stuck()):
            return set()
        return set(range(self.plan.members))

    def _is_stuck(self) -> bool:
        """Return True if none of the pods can start, and give the reason in ``trouble``."""
        job = self.plan.task.fleet
        listed = self._kubectl("get", "pods", f"--selector=job-name={job}", f"--output=jsonpath={_PODS}")
        pods = [line.split(" ", 2) for line in listed.splitlines()]
        self._has_begun = any(phase != "Pending" for phase, *_ in pods)
        why = ""
        if not pods:
            about = f"--field-selector=involvedObject.name={job},reason=FailedCreate"
            why = self._kubectl("get", "events", about, "--output=jsonpath={.items[-1:].message}").strip()
        elif not self._has_begun and all(reason in STUCK for _, reason, *_ in pods):
            why = ": ".join(pods[0][1:])
        since, now = self._stuck_since, time.monotonic()
        self._stuck_since = (since or now) if why else 0.0
        if not why or not since or now - since < STUCK_SECONDS:
            return False
        self.trouble = f"its pods cannot start: {one_line(why, limit=300)}"
        self.hint = f"mend that; `kubectl describe pods` shows it while `kubectl get job {job}` does"
        return True

    @override
    def cancel(self, *, waiting: bool) -> None:
        # Pods that wait belong to the same job, which is deleted as a whole.
        if not waiting:
            self._kubectl("delete", "job", self.plan.task.fleet, "--wait=false")


#: The texts of the jobs, by the kind of the scheduler.
JOB_TEXTS: dict[str, Callable[[FleetPlan, MemberTask], str]] = {"slurm": slurm_job, "kubernetes": kubernetes_job}

"""Members on Kubernetes: the pods of one Indexed Job, applied with kubectl."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ordeal._base.formatting import one_line
from ordeal._engine.parallel.fleet.launcher import AGENT_MODULE, END_SECONDS, FleetError, Launcher
from ordeal._engine.parallel.fleet.on_slurm import call
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, FleetPlan, Task
from ordeal.errors import ConfigError

POLL_SECONDS = 2.0
#: The secret that has the address of a store with a password, and the key in it.
SECRET, SECRET_KEY = "ordeal-store", "url"
#: Why a pod waits that will not start by itself, and how long all pods wait so, or are none, until the fleet ends.
STUCK = (
    *("CreateContainerConfigError", "CreateContainerError", "InvalidImageName"),
    *("ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff"),
)
STUCK_SECONDS = 5.0
_WAITING = ".status.containerStatuses[0].state.waiting"
_PODS = f"{{range .items[*]}}{{.status.phase}} {{{_WAITING}.reason}} {{{_WAITING}.message}}{{'\\n'}}{{end}}"
_JOB_OPTIONS = ("namespace", "cpu", "memory", "secret", "service-account")


def launcher(plan: FleetPlan) -> KubernetesLauncher:
    """Return the launcher of a plan.

    Raises:
        ConfigError: there is a job option that is not known.
    """
    return KubernetesLauncher(plan)


def _given(plan: FleetPlan) -> dict[str, str]:
    given = dict(option.partition("=")[::2] for option in plan.options.job_options)
    for name in given:
        if name not in _JOB_OPTIONS:
            message = f"`--job-option {name}` is not known for Kubernetes"
            raise ConfigError(message, hint=f"known are {', '.join(_JOB_OPTIONS)}")
    return given


def manifest_of(plan: FleetPlan, task: Task) -> str:
    """Return the job as YAML. An address with a password is that of a secret.

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
    return "\n".join(_yaml(job)) + "\n"


def _yaml(value: Any) -> Iterator[str]:
    """Yield the lines of a mapping or a list. Texts are quoted as in JSON, which YAML reads alike."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        name = f"{key}:" if isinstance(value, dict) else "-"
        if not isinstance(each, dict | list):
            yield f"{name} {json.dumps(each)}"
        elif isinstance(value, dict):
            yield name
            yield from (f"  {line}" for line in _yaml(each))
        else:
            yield from (f"{'  ' if number else '- '}{line}" for number, line in enumerate(_yaml(each)))


class KubernetesLauncher(Launcher):
    """Applies one job when the last member is to start."""

    restarts = False

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._namespace = tuple(f"--namespace={value}" for value in [_given(plan).get("namespace")] if value)
        self._wanted = 0
        self._applied = False
        self._asked_at = 0.0
        self._active = False
        self._has_begun = False
        self._stuck_since = 0.0

    def open(self) -> None:
        if shutil.which("kubectl") is None:
            hint = "install it, or start the fleet where it is installed"
            raise FleetError("`--on kubernetes` needs `kubectl`, which is not here", hint=hint)
        call(("kubectl", "get", "jobs", "--output=name", "--request-timeout=5s", *self._namespace))

    def start(self, task: Task, number: int, attempt: int) -> None:
        del number, attempt
        self._wanted += 1
        if self._wanted == self._plan.members:
            call(("kubectl", "apply", "--filename=-"), text=manifest_of(self._plan, task))
            self._applied = self._active = True
            self._asked_at = time.monotonic()

    def running(self) -> set[int]:
        if self._applied and time.monotonic() - self._asked_at >= POLL_SECONDS:
            self._asked_at = time.monotonic()
            # A server that is away may come back: what it said last holds.
            with contextlib.suppress(FleetError, ValueError):
                command = ("kubectl", "get", "job", self._plan.task.fleet, "--output=json", *self._namespace)
                status = json.loads(call(command)).get("status", {})
                over = any(each.get("type") in ("Complete", "Failed") for each in status.get("conditions", []))
                self._active = not over
                if not over and not self._has_begun:
                    self._look_at_pods()
        return set(range(self._plan.members)) if self._active else set()

    def _look_at_pods(self) -> None:
        """Give the job up when none of its pods can start."""
        why = self._why_stuck()
        self._has_begun = why is None
        if not why:
            self._stuck_since = 0.0
        elif not self._stuck_since:
            self._stuck_since = time.monotonic()
        elif time.monotonic() - self._stuck_since >= STUCK_SECONDS:
            job = self._plan.task.fleet
            self.trouble, self._active = f"its pods cannot start: {one_line(why, limit=300)}", False
            self.hint = f"mend that; `kubectl describe pods` shows it while `kubectl get job {job}` does"

    def _why_stuck(self) -> str | None:
        """Return why the pods cannot start, empty if they may yet, None when one has started."""
        name = self._plan.task.fleet
        command = ("kubectl", "get", "pods", f"--selector=job-name={name}", f"--output=jsonpath={_PODS}")
        pods = [line.split(" ", 2) for line in call((*command, *self._namespace)).splitlines()]
        if not pods:
            about = f"--field-selector=involvedObject.name={name},reason=FailedCreate"
            event = ("kubectl", "get", "events", about, "--output=jsonpath={.items[-1:].message}", *self._namespace)
            return call(event).strip()
        if any(phase != "Pending" for phase, *_ in pods):
            return None
        return ": ".join(pods[0][1:]) if all(reason in STUCK for _, reason, *_ in pods) else ""

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        if not self._applied or leave:
            return
        # The board has told them to end, and they have this long to say what they found.
        deadline = time.monotonic() + seconds
        while self.running() and time.monotonic() < deadline:
            time.sleep(1.0)
        with contextlib.suppress(FleetError):
            call(("kubectl", "delete", "job", self._plan.task.fleet, "--wait=false", *self._namespace))

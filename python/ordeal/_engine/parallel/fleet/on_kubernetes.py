"""Members on Kubernetes: the pods of one Indexed Job, applied with kubectl."""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from typing import Any, override
from urllib.parse import urlsplit

from ordeal._base.formatting import one_line
from ordeal._engine.parallel.fleet.batch import BatchLauncher, call
from ordeal._engine.parallel.fleet.launcher import AGENT_MODULE, FleetError
from ordeal._engine.parallel.fleet.plan import TASK_VARIABLE, FleetPlan, MemberTask
from ordeal.config.options import STORE_VARIABLE
from ordeal.errors import ConfigError

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


def job_text(plan: FleetPlan, task: MemberTask) -> str:
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
        call(("kubectl", "apply", "--filename=-"), text=job_text(self.plan, self.plan.task))

    @override
    def asked(self) -> set[int]:
        status = json.loads(self._kubectl("get", "job", self.plan.task.fleet, "--output=json")).get("status", {})
        is_over = any(each.get("type") in ("Complete", "Failed") for each in status.get("conditions", []))
        members = set(range(self.plan.members))
        if is_over or self._has_begun:
            return set() if is_over else members
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
            return members
        # None of the pods can start.
        self.trouble = f"its pods cannot start: {one_line(why, limit=300)}"
        self.hint = f"mend that; `kubectl describe pods` shows it while `kubectl get job {job}` does"
        return set()

    @override
    def cancel(self, *, waiting: bool) -> None:
        # Pods that wait belong to the same job, which is deleted as a whole.
        if not waiting:
            self._kubectl("delete", "job", self.plan.task.fleet, "--wait=false")


LAUNCHER = KubernetesLauncher

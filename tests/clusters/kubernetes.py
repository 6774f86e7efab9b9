"""What `kubectl` and the controller of indexed jobs do, for a test without a cluster: pods are processes here.

usage: python kubernetes.py STATE kubectl's words...; STATE is a folder, with secrets in `secret-NAME-KEY`

A pod that fails is started again as often as the job says, unless its exit code fails the index. The status is that of
a job, as far as it is read. Manifests must fit the schema of the API server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

VERSION = "1.30"
#: How long a pod may take to end when it is told to.
GRACE_SECONDS = 30.0


def install(folder: Path, state: Path) -> None:
    """Write a ``kubectl`` to ``folder``."""
    state.mkdir(parents=True, exist_ok=True)
    program = folder / "kubectl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).absolute()}" "{state}" "$@"\n')
    program.chmod(0o755)


def environment_of(container: dict[str, Any], state: Path) -> dict[str, str]:
    """Return the variables of a container; those of secrets come from files."""
    found = {}
    for each in container["env"]:
        if "valueFrom" in each:
            reference = each["valueFrom"]["secretKeyRef"]
            found[each["name"]] = (state / f"secret-{reference['name']}-{reference['key']}").read_text()
        else:
            found[each["name"]] = each["value"]
    return found


class Job:
    """Runs the pods of a job until all indexes are done, and keeps its status in a file."""

    def __init__(self, manifest: dict[str, Any], state: Path) -> None:
        self._spec, self._state = manifest["spec"], state
        self._name = manifest["metadata"]["name"]
        (self._container,) = self._spec["template"]["spec"]["containers"]
        (rule,) = self._spec["podFailurePolicy"]["rules"]
        assert (rule["action"], rule["onExitCodes"]["operator"]) == ("FailIndex", "In")
        self._fatal = set(rule["onExitCodes"]["values"])
        self._failures = dict.fromkeys(range(self._spec["completions"]), 0)
        self._pods = {index: self._start(index) for index in self._failures}
        self._done: dict[int, bool] = {}

    def run(self) -> None:
        while len(self._done) < len(self._failures):
            for index, pod in self._pods.items():
                code = pod.poll()
                if index in self._done or code is None:
                    continue
                if code == 0:
                    self._done[index] = True
                elif code in self._fatal or self._failures[index] >= self._spec["backoffLimitPerIndex"]:
                    self._done[index] = False
                else:
                    self._failures[index] += 1
                    self._pods[index] = self._start(index)
                    break
            self._write()
            if (self._state / f"{self._name}.deleted").exists():
                self._end()
                return
            time.sleep(0.2)
        self._write()

    def _start(self, index: int) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **environment_of(self._container, self._state), "JOB_COMPLETION_INDEX": str(index)}
        with (self._state / f"{self._name}-{index}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable if word == "python" else word for word in self._container["command"]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _end(self) -> None:
        for pod in self._pods.values():
            if pod.poll() is None:
                pod.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for pod in self._pods.values():
            try:
                pod.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pod.kill()

    def _write(self) -> None:
        status: dict[str, Any] = {
            "active": len(self._failures) - len(self._done),
            "succeeded": sum(self._done.values()),
            "failed": sum(self._failures.values()),
            "pids": {index: pod.pid for index, pod in self._pods.items()},
        }
        if len(self._done) == len(self._failures):
            status["conditions"] = [{"type": "Complete" if all(self._done.values()) else "Failed", "status": "True"}]
        new = self._state / f"{self._name}.new"
        new.write_text(json.dumps({"status": status}))
        new.replace(self._state / f"{self._name}.json")


def main() -> int:
    """Do what `kubectl` would do."""
    state, words = Path(sys.argv[1]), [word for word in sys.argv[2:] if not word.startswith("-")]
    match words:
        case ["get", "jobs"]:
            return 0
        case ["apply"]:
            manifest = yaml.safe_load(sys.stdin)
            kubernetes_validate.validate(manifest, VERSION, strict=True)
            if os.fork() == 0:
                os.setsid()
                with Path(os.devnull).open("r+b") as nowhere:
                    for descriptor in range(3):
                        os.dup2(nowhere.fileno(), descriptor)
                Job(manifest, state).run()
            return 0
        case ["get", "job", name]:
            sys.stdout.write((state / f"{name}.json").read_text())
            return 0
        case ["delete", "job", name]:
            (state / f"{name}.deleted").touch()
            return 0
    sys.stderr.write(f"error: unknown command {words}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

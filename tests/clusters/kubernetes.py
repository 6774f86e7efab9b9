"""A Kubernetes on this machine, for a test: its own API server and job controller. Only its node is not real.

Pods are processes here, started as what a kubelet reads about them from the server, and told to it as a kubelet would.
`tools/kubernetes` builds the programs.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "build/kubernetes"
NAMESPACE = "/api/v1/namespaces/default"
START_SECONDS = 120.0
#: How often the node looks, and how long a pod may take to end when it is told to.
LOOK_SECONDS = 0.3
GRACE_SECONDS = 30.0
_SERVER_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"


def missing() -> list[str]:
    """Return the programs that are not here."""
    built = [name for name in ("kube-apiserver", "kube-controller-manager", "kubectl") if not (FOLDER / name).exists()]
    return built + [name for name in ("etcd", "openssl") if shutil.which(name, path=_SERVER_PLACES) is None]


@dataclass
class Server:
    """The API server, asked as a kubelet asks it."""

    port: int
    token: str

    def ask(self, method: str, path: str, given: object = None, kind: str = "application/json") -> Any:
        """Return what it answers; None when what is asked for is not there any more."""
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=20, context=ssl._create_unverified_context()
        )
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
            connection.request(method, path, None if given is None else json.dumps(given), headers)
            answer = connection.getresponse()
            data = answer.read()
        if answer.status in (404, 409):
            return None
        assert answer.status < 300, data.decode(errors="replace")
        return json.loads(data) if path.startswith("/api/") else data


@dataclass
class _Pod:
    process: subprocess.Popen[bytes]
    kill_at: float = 0.0


@dataclass
class Node(threading.Thread):
    """Runs the pods that there are, and tells the server how they do.

    Attributes:
        pods: the processes by the names of their pods.
    """

    server: Server
    folder: Path
    logs: Path
    pods: dict[str, _Pod] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._over = threading.Event()

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            for pod in self.server.ask("GET", f"{NAMESPACE}/pods")["items"]:
                self._look_after(pod)

    def end(self) -> None:
        """End with all pods."""
        self._over.set()
        self.join()
        for pod in self.pods.values():
            if pod.process.poll() is None:
                os.killpg(pod.process.pid, signal.SIGKILL)
                pod.process.wait()

    def _look_after(self, pod: dict[str, Any]) -> None:
        name, is_deleted = pod["metadata"]["name"], "deletionTimestamp" in pod["metadata"]
        mine = self.pods.get(name)
        if mine is None:
            if not is_deleted and pod["status"]["phase"] == "Pending":
                self._start(name, pod)
            return
        code = mine.process.poll()
        if code is not None and pod["status"]["phase"] == "Running":
            ended = {"exitCode": code if code >= 0 else 128 - code, "reason": "Error" if code else "Completed"}
            self._tell(name, "Failed" if code else "Succeeded", {"terminated": ended})
        elif is_deleted and code is None and not mine.kill_at:
            mine.kill_at = time.monotonic() + GRACE_SECONDS
            mine.process.send_signal(signal.SIGTERM)
        elif is_deleted and code is None and time.monotonic() > mine.kill_at:
            os.killpg(mine.process.pid, signal.SIGKILL)
        elif is_deleted and code is not None:
            self.server.ask("DELETE", f"{NAMESPACE}/pods/{name}?gracePeriodSeconds=0")

    def _start(self, name: str, pod: dict[str, Any]) -> None:
        (container,) = pod["spec"]["containers"]
        found = {each["name"]: self._value(each, pod) for each in container["env"]}
        variables = {variable: value for variable, value in found.items() if value is not None}
        absent = [variable for variable in found if variable not in variables]
        if absent:
            waits = {"reason": "CreateContainerConfigError", "message": f"nothing for {absent[0]}"}
            self._tell(name, "Pending", {"waiting": waits})
            return
        target = {"apiVersion": "v1", "kind": "Node", "name": "node0"}
        self.server.ask("POST", f"{NAMESPACE}/pods/{name}/binding", {"metadata": {"name": name}, "target": target})
        with (self.logs / f"{name}.log").open("ab") as log:
            self.pods[name] = _Pod(
                subprocess.Popen(
                    [sys.executable if word == "python" else word for word in container["command"]],
                    env={**os.environ, **variables},
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        self._tell(name, "Running", {"running": {"startedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}})

    def _value(self, variable: dict[str, Any], pod: dict[str, Any]) -> str | None:
        source = variable.get("valueFrom", {})
        if found := source.get("fieldRef"):
            names = re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", found["fieldPath"])
            assert names, found
            return str(pod["metadata"][names[1]][names[2]])
        if found := source.get("secretKeyRef"):
            secret = self.server.ask("GET", f"{NAMESPACE}/secrets/{found['name']}")
            return secret and base64.b64decode(secret["data"][found["key"]]).decode()
        return str(variable["value"])

    def _tell(self, name: str, phase: str, state: dict[str, Any]) -> None:
        container = {"name": "member", "image": "", "imageID": "", "ready": phase == "Running", "restartCount": 0}
        status = {"phase": phase, "containerStatuses": [container | {"state": state}]}
        kind = "application/strategic-merge-patch+json"
        self.server.ask("PATCH", f"{NAMESPACE}/pods/{name}/status", {"status": status}, kind)


@dataclass(frozen=True)
class Kubernetes:
    """A running cluster; ``environment`` lets `kubectl` find it."""

    environment: dict[str, str]
    node: Node

    def call(self, *words: str, text: str | None = None) -> str:
        """Run `kubectl` and return what it prints."""
        return subprocess.run(
            ["kubectl", *words],
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    def pid_of(self, index: int) -> int:
        """Return the process of the pod with an index."""
        (name,) = (name for name in self.node.pods if re.search(rf"-{index}-\w+$", name))
        return self.node.pods[name].process.pid


@contextlib.contextmanager
def running(place: Path, project: Path) -> Iterator[Kubernetes]:
    """Start a cluster in the folder ``place``, whose pods begin in ``project``, and end all of its processes."""
    place.mkdir()
    client, peer, port = _free_ports(3)
    server = Server(port, secrets.token_hex(16))
    (place / "tokens.csv").write_text(f'{server.token},admin,admin,"system:masters"\n')
    (place / "kubeconfig").write_text(_config(server))
    subprocess.run(["openssl", "genrsa", "-out", place / "key", "2048"], check=True, capture_output=True)
    commands = (
        (
            *("etcd", f"--data-dir={place}/etcd", f"--listen-client-urls=http://127.0.0.1:{client}"),
            *(f"--advertise-client-urls=http://127.0.0.1:{client}", f"--listen-peer-urls=http://127.0.0.1:{peer}"),
        ),
        (
            *(f"{FOLDER}/kube-apiserver", f"--etcd-servers=http://127.0.0.1:{client}", f"--secure-port={port}"),
            *("--bind-address=127.0.0.1", f"--cert-dir={place}/certificates", f"--token-auth-file={place}/tokens.csv"),
            *(f"--service-account-key-file={place}/key", f"--service-account-signing-key-file={place}/key"),
            *("--service-account-issuer=https://kubernetes.default.svc", "--authorization-mode=AlwaysAllow"),
            "--disable-admission-plugins=ServiceAccount",
        ),
        (
            *(f"{FOLDER}/kube-controller-manager", f"--kubeconfig={place}/kubeconfig", "--leader-elect=false"),
            *("--controllers=job-controller,garbage-collector-controller", "--secure-port=0"),
        ),
    )
    environment = {**os.environ, "PATH": f"{FOLDER}:{_SERVER_PLACES}", "KUBECONFIG": f"{place}/kubeconfig"}
    daemons: list[subprocess.Popen[bytes]] = []
    with (place / "log").open("wb") as log, contextlib.ExitStack() as ends:
        ends.callback(_end, daemons)
        for command in commands:
            daemons.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
            if "apiserver" in command[0]:
                _wait_until_ready(server)
        node = Node(server, project, place)
        node.start()
        ends.callback(node.end)
        yield Kubernetes(environment, node)


def _wait_until_ready(server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError, AssertionError):
            if server.ask("GET", "/readyz") == b"ok" and server.ask("GET", NAMESPACE):
                return
        if time.monotonic() > deadline:
            raise TimeoutError("the API server did not start")
        time.sleep(0.3)


def _config(server: Server) -> str:
    address = {"server": f"https://127.0.0.1:{server.port}", "insecure-skip-tls-verify": True}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": address}],
        "users": [{"name": "admin", "user": {"token": server.token}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "admin", "namespace": "default"}}],
        "current-context": "here",
    }
    return json.dumps(config)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


def _end(daemons: list[subprocess.Popen[bytes]]) -> None:
    for daemon in reversed(daemons):
        daemon.kill()
        daemon.wait()

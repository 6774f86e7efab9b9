"""Clusters of Ray and Dask on this machine, whose nodes are processes that a test can kill, with all they started."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: A guard against hangs alone: what waits for a cluster waits for an event.
START_SECONDS = 600.0
#: How many processors each node says that it has: room for the member of a node that is lost.
PROCESSORS = 2


def has(kind: str) -> bool:
    """Return whether the library of ``ray`` or ``dask`` is here."""
    return importlib.util.find_spec({"ray": "ray", "dask": "distributed"}[kind]) is not None


def descendants(pid: int) -> list[int]:
    """Return a process and all that it and those started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for each in found:
        found += [own for own, parent in parents if parent == each]
    return found


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill everything on a node."""
    for pid in descendants(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


@dataclass
class Cluster:
    """A running cluster. ``address`` is what ``--on`` takes."""

    kind: str
    address: str
    commands: list[list[str]]
    environment: dict[str, str]
    log: Path
    heads: int = 0
    head: subprocess.Popen[bytes] | None = None
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Start a process of it."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, env=self.environment, cwd=self.log.parent, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def start_head(self) -> None:
        """Start the head, also after it was killed, and wait until it listens."""
        self.heads += 1
        joined = self._joined()
        # The folder of a head that was killed may still be that of its nodes.
        command = [each.replace("HEAD", str(self.heads)) for each in self.commands[0]]
        host, _, port = self.address.partition("//")[2].partition(":")
        # What the head of Ray says of itself later would pass for the first node.
        self.head = self._started(
            command, lambda: _listens(host, int(port)) and (self.kind == "dask" or self._joined() > joined)
        )

    def start_node(self) -> None:
        """Start another node, and wait until it has joined."""
        joined = self._joined()
        self.nodes.append(self._started(self.commands[1], lambda: self._joined() > joined))

    def _started(self, command: list[str], is_there: Callable[[], bool]) -> subprocess.Popen[bytes]:
        """Start a process, and again if it ends, as a busy machine lets it, until it is there."""
        process, deadline = self.start(command), time.monotonic() + START_SECONDS
        while not is_there():
            if time.monotonic() > deadline:
                kill(process)
                said = self.log.read_text(encoding="utf-8", errors="replace")[-2_000:]
                raise TimeoutError(f"the cluster did not start; it said:\n{said}")
            if process.poll() is not None:
                process = self.start(command)
            time.sleep(0.2)
        return process

    def _joined(self) -> int:
        """Return how many nodes have said that they joined; the head of Ray says it of itself as well."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return text.count("Ray runtime started.") if self.kind == "ray" else text.count("Registered to:")

    def end(self) -> None:
        """End all processes, by their ids."""
        for process in [*self.nodes, *([self.head] if self.head else [])]:
            if process.poll() is None:
                kill(process)


@contextlib.contextmanager
def running(
    kind: str,
    folder: Path,
    *,
    nodes: int = 2,
    processors: int = PROCESSORS,
    python: str = sys.executable,
    path: str = "",
) -> Iterator[Cluster]:
    """Start a cluster of ``python`` in ``folder``, whose path must be short, and end it. ``path`` is its PYTHONPATH."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["RAY_USAGE_STATS_ENABLED"] = "0"
    if path:
        environment["PYTHONPATH"] = path
    address, commands = (_ray if kind == "ray" else _dask)(python, folder, processors)
    cluster = Cluster(kind, address, commands, environment, folder / "log")
    try:
        cluster.start_head()
        for _ in range(nodes):
            cluster.start_node()
        yield cluster
    finally:
        cluster.end()


def _dask(python: str, folder: Path, processors: int) -> tuple[str, list[list[str]]]:
    (port,) = _free_ports(1)
    command = [python, "-m", "distributed.cli.dask_"]
    head = [*command[:2], command[2] + "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    node = [*command[:2], command[2] + "worker", f"tcp://127.0.0.1:{port}", "--nthreads", str(processors)]
    node += ["--no-dashboard", "--local-directory", str(folder), "--nworkers", "1"]
    return f"dask://127.0.0.1:{port}", [head, node]


def _ray(python: str, folder: Path, processors: int) -> tuple[str, list[list[str]]]:
    port, client = _free_ports(2)
    start = [python, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
    start += ["--object-store-memory", str(100 * 2**20)]
    head = [*start, "--head", "--port", str(port), "--ray-client-server-port", str(client), "--num-cpus", "0"]
    head += ["--include-dashboard", "false", "--temp-dir", str(folder / "HEAD"), "--node-ip-address", "127.0.0.1"]
    node = [*start, "--address", f"127.0.0.1:{port}", "--num-cpus", str(processors)]
    return f"ray://127.0.0.1:{client}", [head, node]


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        return True
    return False


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]

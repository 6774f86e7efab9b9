"""Members on a Ray cluster: each is a task that takes as many CPUs as it has workers."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any, override

from ordeal._base.formatting import one_line
from ordeal._engine.isolation.working_folder import present_folder
from ordeal._engine.parallel.fleet.launcher import ClusterLauncher, FleetError, library, listens
from ordeal._engine.parallel.fleet.plan import FleetPlan, MemberTask
from ordeal._engine.parallel.fleet.project_files import pack
from ordeal.errors import ConfigError

PACKAGE = "ray[client]"
#: How long Ray's client tries to reach a head again by itself. A head that refuses a client, as one of another version
#: does, waits for it as long, and the client waits for the head.
RECONNECT_SECONDS = 4
#: How long another node of the same machine may take to unpack a project.
UNPACK_SECONDS = 5.0
#: How long a node may take to answer that is asked before a member is given to it, and how many are asked.
ANSWER_SECONDS = 0.5
SILENT_MAX = 4


def run_member(task: str, number: int, attempt: int, store: str) -> int:
    """Run one member; this is what Ray calls."""
    _enter_again()
    agent = importlib.import_module("ordeal._engine.parallel.fleet.agent")
    # A cluster may run a task again by itself when a node is lost.
    code: int = agent.Agent(MemberTask.from_json(task), number, store, attempt=attempt, resumes=True).run()
    return code


class StayingMember:
    """A member that goes on when its launcher leaves; Ray ends the tasks of whoever is gone, and not such actors."""

    def run(self, task: str, number: int, attempt: int, store: str) -> int:
        """Run it."""
        return run_member(task, number, attempt, store)

    def end(self) -> None:
        """End its process, which would keep its place otherwise."""
        importlib.import_module("ray").actor.exit_actor()


def _enter_again() -> None:
    """Enter the folder of the project again if it is gone, as where another node of this machine unpacked it anew."""
    deadline = time.monotonic() + UNPACK_SECONDS
    while present_folder() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError, KeyError):
            os.chdir(os.environ["PWD"])
            return
        time.sleep(0.1)


def what_was_wrong(error: BaseException) -> str:
    """Return what an error says, in one line: the end of one that holds the traceback of another machine."""
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    is_traceback = any(line.startswith("Traceback (most recent call last)") for line in lines)
    return one_line(lines[-1] if is_traceback else " ".join(lines), limit=300)


class RayLauncher(ClusterLauncher):
    """Speaks to the head of a cluster through Ray's client."""

    kind, port = "ray", 10001
    no_answer = f"start one with `ray start --head --ray-client-server-port={port}`, or name another address"

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        # Otherwise any call of Ray that comes while the head is away starts a cluster here, and waits for it.
        os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
        os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", str(RECONNECT_SECONDS))
        self._ray = library("ray", "ray", PACKAGE)
        # Without it, Ray is here and cannot reach a cluster.
        library("grpc", "ray", PACKAGE)
        self._project = _project(plan.options.project)
        # What is sent is kept until the end: a head that comes back gets the same.
        self._kept = contextlib.ExitStack()
        self._package: Path | None = None
        self._actors: dict[int, Any] = {}
        self._asked: set[Any] = set()

    @override
    def is_greeting(self, data: bytes) -> bool:
        return data[3:4] == b"\x04"  # a frame of HTTP/2 with settings

    @override
    def connect(self) -> None:
        if self._project is not None and self._package is None:
            self._package = self._packed(self._project)
        self._actors = {}
        try:
            self._init()
        except ConnectionAbortedError:
            # The head starts a process for each client, which may die before it listens. The next one seldom does.
            self._ray.shutdown()
            self._init()

    def _init(self) -> None:
        environment = {} if self._package is None else {"working_dir": str(self._package)}
        address = "ray://{}:{}".format(*self.place)
        self._ray.init(address, runtime_env=environment, log_to_driver=False, logging_level="error")

    def _packed(self, project: Path) -> Path:
        try:
            folder = self._kept.enter_context(tempfile.TemporaryDirectory(prefix="ordeal-"))
            package = Path(folder, "sent.zip")
            self.left_out = pack(project, package, self.plan.store)
        except OSError as error:
            message = f"the project {project} cannot be packed: {error.strerror or error}"
            raise FleetError(message, hint="see that there is room among the temporary files") from error
        return package

    @override
    def disconnect(self) -> None:
        self._ray.shutdown()

    @override
    def submit(self, task: MemberTask, number: int, attempt: int) -> Any:
        # Ray unpacks what was sent somewhere else, and starts its workers there.
        sent = task if self._project is None else dataclasses.replace(task, path=())
        given = (sent.to_json(), number, attempt, self.plan.store)
        place: dict[str, Any] = {"num_cpus": int(task.init.get("workers") or 1), "scheduling_strategy": "SPREAD"}
        if attempt and (node := self._answering_node(number)):
            place["scheduling_strategy"] = self._near(node)
        if self.plan.options.on_interrupt != "leave":
            return self._ray.remote(max_retries=0, **place)(run_member).remote(*given)
        name = f"{task.fleet}-{number}-{attempt}"
        actor = self._ray.remote(StayingMember).options(name=name, lifetime="detached", max_restarts=0, **place)
        self._actors[number] = member = actor.remote()
        running = member.run.remote(*given)
        # It comes after the other call.
        member.end.remote()
        return running

    def _answering_node(self, number: int) -> str:
        """Return the id of a node at whose port something answers, another for each number; empty if none is found.

        For as long as it takes to miss some reports of a node that died, a quarter of a minute, Ray gives it new tasks.
        """
        nodes = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        for place in range(min(len(nodes), SILENT_MAX)):
            node = nodes[(number + place) % len(nodes)]
            if not listens(node["NodeManagerAddress"], int(node["NodeManagerPort"]), seconds=ANSWER_SECONDS):
                return str(node["NodeID"])
        return ""

    @staticmethod
    def _near(node: str) -> Any:
        """Return Ray's word for on this node, or on any other if that has no room."""
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        return strategies.NodeAffinitySchedulingStrategy(node, soft=True, _spill_on_unavailable=True)

    @override
    def waiting(self) -> set[int]:
        if not self._ray.util.client.ray.is_connected():
            raise ConnectionError
        references = {reference: number for number, reference in self.members.items()}
        done, waiting = self._ray.wait(list(references), num_returns=len(references), timeout=0.01)
        for reference in done:
            # A member that ran says itself why it failed.
            if not self.trouble and reference not in self._asked:
                self._asked.add(reference)
                try:
                    self._ray.get(reference, timeout=1.0)
                except Exception as error:  # noqa: BLE001, Ray raises errors of many types
                    self.trouble = what_was_wrong(error)
        return {references[each] for each in waiting}

    @override
    def cancel(self, seconds: float) -> None:
        references = list(self.members.values())
        _, waiting = self._ray.wait(references, num_returns=len(references), timeout=seconds)
        for number, reference in self.members.items():
            if reference in waiting and number in self._actors:
                self._ray.kill(self._actors[number])
            elif reference in waiting:
                self._ray.cancel(reference, force=True)

    @override
    def why(self, error: Exception) -> str:
        return what_was_wrong(error)

    @override
    def close(self, *, leave: bool) -> None:
        super().close(leave=leave)
        self._kept.close()


def _project(given: str) -> Path | None:
    if given == "none":
        return None
    folder = Path.cwd() if given == "auto" else Path(given)
    if not folder.is_dir():
        message = f"`--project {given}` is no folder"
        raise ConfigError(message, hint="name the folder with your tests, or write `--project none`")
    return folder


LAUNCHER = RayLauncher

"""Members on a Ray cluster: each is a task that takes as many CPUs as it has workers."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._engine.isolation.working_folder import present_folder
from ordeal._engine.parallel.fleet.endpoint import host_and_port, listens, must_greet
from ordeal._engine.parallel.fleet.launcher import END_SECONDS, FleetError, Launcher, library
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal._engine.parallel.fleet.project_files import pack
from ordeal.errors import ConfigError

PORT = 10001
PACKAGE = "ray[client]"
#: How long a head may be away before its members count as lost for good.
AWAY_SECONDS_MAX = 120.0
#: How long Ray's client tries to reach a head again by itself. A head that refuses a client, as one of another version
#: does, waits for it as long, and the client waits for the head.
RECONNECT_SECONDS = 4
#: How long another node of the same machine may take to unpack a project.
UNPACK_SECONDS = 5.0
#: How long a node may take to answer that is asked before a member is given to it.
ANSWER_SECONDS = 0.5
#: So many are asked: where the launcher reaches no node but the head, it does not try all of them.
SILENT_MAX = 4


def launcher(plan: FleetPlan) -> RayLauncher:
    """Return the launcher of a plan.

    Raises:
        ConfigError: Ray is not installed, or there is no project to send.
    """
    return RayLauncher(plan)


def run_member(task: str, number: int, attempt: int, store: str) -> int:
    """Run one member; this is what Ray calls."""
    _enter_again()
    agent = importlib.import_module("ordeal._engine.parallel.fleet.agent")
    # A cluster may run a task again by itself when a node is lost.
    code: int = agent.Agent(Task.from_json(task), number, store, attempt=attempt, resumes=True).run()
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


def _is_greeting(data: bytes) -> bool:
    """Return whether these may be the first bytes of a head: a frame of HTTP/2 with settings."""
    return data[3:4] == b"\x04"


class RayLauncher(Launcher):
    """Speaks to the head of a cluster through Ray's client."""

    restarts = True

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._host, self._port = host_and_port(plan.on, PORT)
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
        self._members: dict[int, Any] = {}
        self._actors: dict[int, Any] = {}
        self._numbers: set[int] = set()
        self._asked: set[Any] = set()
        self._away_since = 0.0

    def open(self) -> None:
        hint = f"start one with `ray start --head --ray-client-server-port={PORT}`, or name another address"
        must_greet("Ray", self._host, self._port, hint, _is_greeting)
        self._pack()
        try:
            try:
                self._connect()
            except ConnectionAbortedError:
                # The head starts a process for each client, which may die before it listens. The next one seldom does.
                self._ray.shutdown()
                self._connect()
        except Exception as error:
            # Ray raises errors of many types, also for another version of Python or Ray.
            raise FleetError(
                f"the Ray cluster at {self._host}:{self._port} cannot be used: {what_was_wrong(error)}",
                hint="use the same versions of Python and Ray here and there, and see that the head is not overloaded",
            ) from error

    def _pack(self) -> None:
        if self._project is None:
            return
        try:
            folder = self._kept.enter_context(tempfile.TemporaryDirectory(prefix="ordeal-"))
            self._package = Path(folder, "sent.zip")
            self.left_out = pack(self._project, self._package, self._plan.store).secrets
        except OSError as error:
            message = f"the project {self._project} cannot be packed: {error.strerror or error}"
            raise FleetError(message, hint="see that there is room among the temporary files") from error

    def _connect(self) -> None:
        environment = {} if self._package is None else {"working_dir": str(self._package)}
        self._ray.init(
            f"ray://{self._host}:{self._port}", runtime_env=environment, log_to_driver=False, logging_level="error"
        )

    def start(self, task: Task, number: int, attempt: int) -> None:
        self._numbers.add(number)
        # Ray unpacks what was sent somewhere else, and starts its workers there.
        sent = task if self._project is None else dataclasses.replace(task, path=())
        given = (sent.to_json(), number, attempt, self._plan.store)
        place: dict[str, Any] = {"num_cpus": int(task.init.get("workers") or 1), "scheduling_strategy": "SPREAD"}
        # Ray reports a node that vanished when the result is asked for.
        with contextlib.suppress(Exception):
            if attempt and (node := self._answering_node(number)):
                place["scheduling_strategy"] = self._near(node)
            if self._plan.options.on_interrupt == "leave":
                name = f"{task.fleet}-{number}-{attempt}"
                actor = self._ray.remote(StayingMember).options(name=name, lifetime="detached", max_restarts=0, **place)
                self._actors[number] = member = actor.remote()
                self._members[number] = member.run.remote(*given)
                # It comes after the other call.
                member.end.remote()
            else:
                self._members[number] = self._ray.remote(max_retries=0, **place)(run_member).remote(*given)

    def _answering_node(self, number: int) -> str:
        """Return the id of a node at whose port somebody answers, another for each number; empty where none is found.

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

    def running(self) -> set[int]:
        if self._away_since:
            return self._while_away()
        references = {reference: number for number, reference in self._members.items()}
        try:
            if not self._ray.util.client.ray.is_connected():
                raise ConnectionError
            done, waiting = self._ray.wait(list(references), num_returns=len(references), timeout=0.01)
            for reference in done:
                self._ask_why(reference)
        except Exception:  # noqa: BLE001, such libraries raise errors of many types
            self._away_since = time.monotonic()
            return set(self._numbers)
        return {references[each] for each in waiting}

    def _ask_why(self, reference: Any) -> None:
        """Note why a task failed; a member that ran says so itself."""
        if not self.trouble and reference not in self._asked:
            self._asked.add(reference)
            try:
                self._ray.get(reference, timeout=1.0)
            except Exception as error:  # noqa: BLE001, such libraries raise errors of many types
                self.trouble = what_was_wrong(error)

    def _while_away(self) -> set[int]:
        """Connect again to a head that was restarted: it knows nothing of its former members."""
        if time.monotonic() - self._away_since > AWAY_SECONDS_MAX:
            self.restarts = False
            return set()
        if listens(self._host, self._port, seconds=1.0):
            return set(self._numbers)
        try:
            self._ray.shutdown()
            self._connect()
        except Exception:  # noqa: BLE001, such libraries raise errors of many types
            return set(self._numbers)
        self._members, self._actors, self._away_since = {}, {}, 0.0
        self.absences += 1
        return set()

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        """Let members end by themselves, which the board tells them to, then cancel what is left."""
        with contextlib.suppress(Exception):
            references = list(self._members.values())
            if references and not leave and not self._away_since:
                _, waiting = self._ray.wait(references, num_returns=len(references), timeout=seconds)
                for number, reference in self._members.items():
                    if reference not in waiting:
                        continue
                    if number in self._actors:
                        self._ray.kill(self._actors[number])
                    else:
                        self._ray.cancel(reference, force=True)
            self._ray.shutdown()
        self._kept.close()


def _project(given: str) -> Path | None:
    if given == "none":
        return None
    folder = Path.cwd() if given == "auto" else Path(given)
    if not folder.is_dir():
        message = f"`--project {given}` is no folder"
        raise ConfigError(message, hint="name the folder with your tests, or write `--project none`")
    return folder

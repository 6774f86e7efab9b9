"""Members on a Ray cluster: each is a task that takes as many CPUs as it has workers."""

from __future__ import annotations

import importlib
import os
from typing import Any, override

from ordeal._engine.parallel.fleet.cluster import ClusterLauncher, library, listens, run_member, what_was_wrong
from ordeal._engine.parallel.fleet.plan import FleetPlan

PACKAGE = "ray[client]"
#: How long Ray's client retries to reach a head. A head that refuses a client, as one of another version
#: does, waits for it as long, and the client waits for the head.
RECONNECT_SECONDS = 4
#: How long a node may take to answer that is asked before a member is given to it, and how many are asked.
ANSWER_SECONDS = 0.5
SILENT_MAX = 4


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
        self._asked: set[Any] = set()
        self._kept: Any = None

    @override
    def is_greeting(self, data: bytes) -> bool:
        return data[3:4] == b"\x04"  # a frame of HTTP/2 with settings

    @override
    def connect(self) -> None:
        try:
            self._init()
        except ConnectionAbortedError:
            # The head starts a process for each client, which may die before it listens. The next one seldom does.
            self._ray.shutdown()
            self._init()
        # The head keeps it for all members.
        self._kept = None if self.sent is None else self._ray.put(self.sent)

    def _init(self) -> None:
        self._ray.init("ray://{}:{}".format(*self.place), log_to_driver=False, logging_level="error")

    @override
    def disconnect(self) -> None:
        self._ray.shutdown()

    @override
    def submit(self, number: int, attempt: int, task: str, store: str) -> Any:
        given = (task, number, attempt, store, self._kept)
        workers = self.plan.task.init.get("workers") or 1
        place: dict[str, Any] = {"num_cpus": int(workers), "scheduling_strategy": "SPREAD"}
        if attempt > 1 and (node := self._answering_node(number)):
            place["scheduling_strategy"] = self._near(node)
        return self._ray.remote(max_retries=0, **place)(run_member).remote(*given)

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
        for reference in waiting:
            self._ray.cancel(reference, force=True)


LAUNCHER = RayLauncher

"""Members on a Ray cluster: each is a task that takes as many CPUs as it has workers."""

from __future__ import annotations

import os
from typing import Any, override

from ordeal._engine.parallel.fleet.cluster import ClusterLauncher, library, run_member, what_was_wrong
from ordeal._engine.parallel.fleet.plan import FleetPlan

PACKAGE = "ray[client]"


class RayLauncher(ClusterLauncher):
    """Speaks to the head of a cluster through Ray's client."""

    kind, port = "ray", 10001
    no_answer = f"start one with `ray start --head --ray-client-server-port={port}`, or name another address"

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        # Otherwise any call of Ray that comes while the head is away starts a cluster here, and waits for it.
        os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
        # For this many seconds Ray's client retries to reach a head. A head that refuses a client, as one of another
        # version does, waits for it as long, and the client waits for the head.
        os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "4")
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
        remote = self._ray.remote(max_retries=0, num_cpus=int(workers), scheduling_strategy="SPREAD")
        return remote(run_member).remote(*given)

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

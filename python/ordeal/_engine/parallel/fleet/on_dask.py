"""Members on a Dask cluster: each is a task, on the next worker in turn."""

from __future__ import annotations

import contextlib
import importlib
import logging
import time
from typing import Any, override

from ordeal._engine.parallel.fleet.cluster import (
    GREETING_SIZE,
    ClusterLauncher,
    library,
    listens,
    run_member,
    what_was_wrong,
)
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal._engine.parallel.fleet.plan import FleetPlan


def run_beside(task: str, number: int, attempt: int, store: str, project: bytes | None) -> int:
    """Run one member; this is what Dask calls. It leaves its thread to others: a lost member must find a place."""
    importlib.import_module("distributed").secede()
    return run_member(task, number, attempt, store, project)


class DaskLauncher(ClusterLauncher):
    """Speaks to the scheduler of a cluster."""

    kind, port = "dask", 8786
    no_answer = "start one with `dask scheduler` and `dask worker HOST:8786` on each node, or name another address"

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self._dask = library("distributed", "dask", "distributed")
        # What it logs while a scheduler is away is not for people: the report says so.
        for name in [*logging.root.manager.loggerDict, "asyncio"]:
            if name.startswith(("distributed", "tornado", "asyncio")):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client: Any = None

    @override
    def is_greeting(self, data: bytes) -> bool:
        return len(data) == GREETING_SIZE and 0 < int.from_bytes(data, "little") < 2**20  # the length of what follows

    @override
    def connect(self) -> None:
        host, port = self.place
        self._client = self._dask.Client(f"tcp://{host}:{port}", timeout=8, set_as_default=False)
        if not self._workers():
            hint = f"start some: `dask worker {host}:{port}`"
            raise FleetError(f"the Dask cluster at {host}:{port} has no workers", hint=hint)

    def _workers(self) -> list[str]:
        return sorted(self._client.scheduler_info(n_workers=-1)["workers"])

    @override
    def disconnect(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=5)
            # A client that lost its scheduler closes, and leaves its thread, in which nothing can be forked.
            self._client._loop_runner.stop(timeout=5)

    @override
    def submit(self, number: int, attempt: int, task: str, store: str) -> Any:
        workers = self._workers()
        worker = workers[number % len(workers)]
        # For each attempt: what lies on a worker that is lost cannot be made again.
        project = self.sent and self._client.scatter(self.sent, workers=[worker], hash=False)
        return self._client.submit(
            *(run_beside, task, number, attempt, store, project),
            key=f"{self.plan.task.fleet}-{number}-{attempt}",
            pure=False,
            workers=worker,
            allow_other_workers=True,
        )

    @override
    def waiting(self) -> set[int]:
        if self._client.status != "running" or listens(*self.place, seconds=1.0):
            raise ConnectionError
        for future in self.members.values():
            if future.status == "error" and not self.trouble:
                with contextlib.suppress(Exception):
                    self.trouble = what_was_wrong(future.exception(timeout=1))
        return {number for number, future in self.members.items() if future.status == "pending"}

    @override
    def cancel(self, seconds: float) -> None:
        futures = list(self.members.values())
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(future.status == "pending" for future in futures):
            time.sleep(0.2)
        self._client.cancel(futures, force=True)


LAUNCHER = DaskLauncher

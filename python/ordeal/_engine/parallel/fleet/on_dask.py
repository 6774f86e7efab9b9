"""Members on a Dask cluster: each is a task, on the next worker in turn. All nodes must have the project."""

from __future__ import annotations

import contextlib
import importlib
import logging
import time
from typing import Any

from ordeal._base.formatting import describe_error, one_line
from ordeal._engine.parallel.fleet.endpoint import GREETING_SIZE, host_and_port, listens, must_greet
from ordeal._engine.parallel.fleet.launcher import END_SECONDS, FleetError, Launcher, library
from ordeal._engine.parallel.fleet.on_ray import AWAY_SECONDS_MAX, run_member
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.store.open import Address

PORT = 8786
TIMEOUT_SECONDS = 8


def launcher(plan: FleetPlan) -> DaskLauncher:
    """Return the launcher of a plan.

    Raises:
        ConfigError: Dask is not installed.
    """
    return DaskLauncher(plan)


def _is_greeting(data: bytes) -> bool:
    """Return whether these may be the first bytes of a scheduler: the length of what follows."""
    return len(data) == GREETING_SIZE and 0 < int.from_bytes(data, "little") < 2**20


def innermost(error: BaseException) -> str:
    """Return what was wrong at first: Dask tells of it as the cause of errors that speak of its own work."""
    while error.__cause__ is not None:
        error = error.__cause__
    return one_line(describe_error(error), limit=300)


def run_beside(task: str, number: int, attempt: int, store: str) -> int:
    """Run one member; this is what Dask calls. It leaves its thread to others: a lost member must find a place."""
    importlib.import_module("distributed").secede()
    return run_member(task, number, attempt, store)


class DaskLauncher(Launcher):
    """Speaks to the scheduler of a cluster."""

    restarts = True

    def __init__(self, plan: FleetPlan) -> None:
        self._plan = plan
        self._host, self._port = host_and_port(plan.on, PORT)
        self._dask = library("distributed", "dask", "distributed")
        # What it logs while a scheduler is away is no news to people: the report says so.
        for name in [*logging.root.manager.loggerDict, "asyncio"]:
            if name.startswith(("distributed", "tornado", "asyncio")):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client: Any = None
        self._members: dict[int, Any] = {}
        self._numbers: set[int] = set()
        self._away_since = 0.0

    def open(self) -> None:
        hint = "start one with `dask scheduler` and `dask worker HOST:8786` on each node, or name another address"
        must_greet("Dask", self._host, self._port, hint, _is_greeting)
        try:
            self._connect()
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:
            # Dask raises errors of many types, also for another version.
            self.close(leave=True)
            raise FleetError(
                f"the Dask cluster at {self._host}:{self._port} cannot be used: {one_line(str(error), limit=400)}",
                hint="use the same versions of Python and Dask here and on the cluster",
            ) from error
        if not workers:
            self.close(leave=True)
            raise FleetError(
                f"the Dask cluster at {self._host}:{self._port} has no workers",
                hint=f"start some: `dask worker {self._host}:{self._port}`",
            )

    def _connect(self) -> None:
        self._client = self._dask.Client(
            f"tcp://{self._host}:{self._port}", timeout=TIMEOUT_SECONDS, set_as_default=False
        )

    def start(self, task: Task, number: int, attempt: int) -> None:
        self._numbers.add(number)
        # A scheduler that is away is noticed when members are counted.
        with contextlib.suppress(Exception):
            workers = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
            self._members[number] = self._client.submit(
                run_beside,
                task.to_json(),
                number,
                attempt,
                Address(self._plan.store),
                key=f"{task.fleet}-{number}-{attempt}",
                pure=False,
                workers=workers[number % len(workers)],
                allow_other_workers=True,
            )

    def running(self) -> set[int]:
        if self._away_since:
            return self._while_away()
        if self._client.status != "running" or listens(self._host, self._port, seconds=1.0):
            self._away_since = time.monotonic()
            return set(self._numbers)
        for future in self._members.values():
            if future.status == "error" and not self.trouble:
                with contextlib.suppress(Exception):
                    self.trouble = innermost(future.exception(timeout=1))
        return {number for number, future in self._members.items() if future.status == "pending"}

    def _while_away(self) -> set[int]:
        """Connect again to a scheduler that was restarted: it knows nothing of its former members."""
        if time.monotonic() - self._away_since > AWAY_SECONDS_MAX:
            self.restarts = False
            return set()
        if listens(self._host, self._port, seconds=1.0):
            return set(self._numbers)
        try:
            self.close(leave=True)
            self._connect()
            if not self._client.scheduler_info(n_workers=-1)["workers"]:
                return set(self._numbers)
        except Exception:  # noqa: BLE001, such libraries raise errors of many types
            return set(self._numbers)
        self._members, self._away_since = {}, 0.0
        self.absences += 1
        return set()

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        """Let members end by themselves, which the board tells them to, then cancel what is left."""
        if self._client is None:
            return
        with contextlib.suppress(Exception):
            futures = list(self._members.values())
            if futures and not leave:
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline and any(future.status == "pending" for future in futures):
                    time.sleep(0.2)
                self._client.cancel(futures, force=True)
            if leave:
                self._dask.fire_and_forget(futures)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        # A client that lost its scheduler closes by itself, and leaves its thread, in which nothing can be forked.
        with contextlib.suppress(Exception):
            self._client._loop_runner.stop(timeout=5)

"""What a launcher does: it starts members somewhere, watches them and stops them. Their logs are in their records.

``LocalLauncher`` starts processes here. A ``ClusterLauncher`` hands members to a library one by one, and starts lost
ones again; a ``BatchLauncher`` submits one job, and the scheduler does that.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast, override

from ordeal._base.interpreter import end, start
from ordeal._base.limits import ANSWER_SECONDS
from ordeal._engine.parallel.fleet.plan import TASK_VARIABLE, FleetPlan
from ordeal.config.options import STORE_VARIABLE
from ordeal.errors import OrdealError

AGENT_MODULE = "ordeal._engine.parallel.fleet.agent"
#: How long members may take to end by themselves, and how long after the second Ctrl-C.
END_SECONDS = 60.0


class FleetError(OrdealError):
    """A fleet cannot be started, or none of its members could explore."""


class Launcher(ABC):
    """Runs members somewhere. Owned by one thread.

    Attributes:
        restarts: whether lost members are started again by ``start``; schedulers do so themselves.
        absences: how often the cluster was away and came back.
        trouble: what went wrong where a member should have started, empty if nothing did or it is unknown.
        hint: what to do about that.
        left_out: files of the project that were not sent to the members, each with the reason.
    """

    restarts: bool = True
    absences: int = 0
    trouble: str = ""
    left_out: Mapping[str, str] = MappingProxyType({})
    hint: str = "see that the members can reach it, and that ordeal is installed where they run"

    def __init__(self, plan: FleetPlan) -> None:
        self.plan = plan

    def open(self) -> None:  # noqa: B027 - there is nothing to reach on this machine
        """Reach the cluster.

        Raises:
            FleetError: it cannot be reached or used.
        """

    @abstractmethod
    def start(self, number: int, attempt: int) -> None:
        """Start a member for the nth time."""

    @abstractmethod
    def running(self) -> set[int]:
        """Return the members that are thought to run or wait for a place."""

    @abstractmethod
    def close(self) -> None:
        """End all members, and release the cluster. Does not raise an error.

        They may take END_SECONDS to end by themselves. Ctrl-C meanwhile ends them at once, and is raised.
        """


def launcher_for(plan: FleetPlan) -> Launcher:
    """Return the launcher of a plan; the libraries of others are not loaded.

    Raises:
        ConfigError: what the launcher needs is not installed, or not given.
    """
    if plan.kind == "local":
        return LocalLauncher(plan)
    module = importlib.import_module(f"ordeal._engine.parallel.fleet.on_{plan.kind}")
    return cast("Launcher", module.LAUNCHER(plan))


class LocalLauncher(Launcher):
    """Members are processes of this machine."""

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self._members: dict[int, subprocess.Popen[bytes]] = {}

    @override
    def start(self, number: int, attempt: int) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if name != STORE_VARIABLE},
            TASK_VARIABLE: self.plan.task.to_json(),
            "ORDEAL_FLEET_MEMBER": str(number),
            "ORDEAL_FLEET_ATTEMPT": str(attempt),
        }
        member = start([sys.executable, "-m", AGENT_MODULE], pipes=["stdin"], environment=environment)
        self._members[number] = member
        assert member.stdin is not None
        # The address may hold a password, and others who list processes may see what is in their environment.
        with contextlib.suppress(BrokenPipeError), member.stdin as stdin:
            stdin.write(f"{self.plan.store}\n".encode())

    @override
    def running(self) -> set[int]:
        return {number for number, member in self._members.items() if member.poll() is None}

    @override
    def close(self) -> None:
        try:
            self._end_within(END_SECONDS)
        except KeyboardInterrupt:
            # After the second signal, a member waits for nothing.
            self._end_within(ANSWER_SECONDS)
            raise

    def _end_within(self, seconds: float) -> None:
        for member in self._members.values():
            with contextlib.suppress(ProcessLookupError):
                member.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for member in self._members.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                member.wait(timeout=max(0.1, deadline - time.monotonic()))
            end(member)

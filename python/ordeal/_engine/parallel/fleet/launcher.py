"""What a launcher does, and the one for this machine. A launcher knows where members run, and nothing else."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from typing import Any, Protocol, cast

from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, FleetPlan, Task
from ordeal.errors import ConfigError, OrdealError

AGENT_MODULE = "ordeal.cli.fleet.agent"
#: How long members may take to end by themselves, and how long where they cannot save what they found.
END_SECONDS = 60.0
SHORT_END_SECONDS = 6.0
AT_ONCE_SECONDS = 4.0


class FleetError(OrdealError):
    """A fleet cannot be started, or none of its members could explore."""


class Launcher(Protocol):
    """Runs members somewhere. Owned by one thread.

    Attributes:
        restarts: whether lost members are started again by ``start``; schedulers do so themselves.
        absences: how often the cluster was away and came back.
        trouble: what went wrong where a member should have started, empty if nothing did or nobody knows.
        hint: what to do about that.
        left_out: files of the project that were not sent to the members, as they may hold secrets.
    """

    restarts: bool
    absences: int = 0
    trouble: str = ""
    left_out: tuple[str, ...] = ()
    hint: str = "see that the members can reach it, and that ordeal is installed where they run"

    def open(self) -> None:
        """Reach the cluster.

        Raises:
            FleetError: it cannot be reached or used.
        """

    def start(self, task: Task, number: int, attempt: int) -> None:
        """Start a member."""

    def running(self) -> set[int]:
        """Return the members that are thought to run or wait for a place."""

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        """End all members, unless they are to be left, and let go of the cluster. Does not raise an error.

        They may take ``seconds`` to end by themselves. Ctrl-C meanwhile ends them at once, and is raised.
        """


def launcher_for(plan: FleetPlan) -> Launcher:
    """Return the launcher of a plan; the libraries of others are not loaded."""
    if plan.kind == "local":
        return LocalLauncher(plan)
    module = importlib.import_module(f"ordeal._engine.parallel.fleet.on_{plan.kind}")
    return cast("Launcher", module.launcher(plan))


def library(name: str, kind: str, package: str) -> Any:
    """Return a library of a cluster, which is loaded only for those who ask for it, and comes with ``package``.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"`--on {kind}://` needs the Python package `{package}`: {error}"
        raise ConfigError(message, hint=f"install it with `pip install '{package}'`") from error


class LocalLauncher(Launcher):
    """Members are processes of this machine."""

    restarts = True

    def __init__(self, plan: FleetPlan) -> None:
        self._store = plan.store
        self._members: dict[int, subprocess.Popen[bytes]] = {}

    def open(self) -> None:
        pass

    def start(self, task: Task, number: int, attempt: int) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if name != STORE_VARIABLE},
            TASK_VARIABLE: task.to_json(),
            "ORDEAL_FLEET_MEMBER": str(number),
            "ORDEAL_FLEET_ATTEMPT": str(attempt),
        }
        # A session of its own: Ctrl-C at the terminal is for the launcher, which then stops or leaves them.
        member = self._members[number] = subprocess.Popen(
            [sys.executable, "-m", AGENT_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment,
        )
        assert member.stdin is not None
        # The address may hold a password, and others who list processes may see what is in their environment.
        with contextlib.suppress(BrokenPipeError), member.stdin as stdin:
            stdin.write(f"{self._store}\n".encode())

    def running(self) -> set[int]:
        return {number for number, member in self._members.items() if member.poll() is None}

    def close(self, *, leave: bool, seconds: float = END_SECONDS) -> None:
        if leave:
            return
        try:
            self._end_within(seconds)
        except KeyboardInterrupt:
            # Told once more, a member waits for nothing.
            self._end_within(AT_ONCE_SECONDS)
            raise

    def _end_within(self, seconds: float) -> None:
        for member in self._members.values():
            with contextlib.suppress(ProcessLookupError):
                member.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for member in self._members.values():
            try:
                member.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()

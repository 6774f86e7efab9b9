"""What a launcher does: it knows where members run, and nothing else. With what launchers of a kind share.

``LocalLauncher`` starts processes here. A ``ClusterLauncher`` hands members to a library one by one, and starts lost
ones again; a ``BatchLauncher`` submits one job, and the scheduler does that.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, cast, override
from urllib.parse import urlsplit

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import end, finish, start
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, FleetPlan, MemberTask
from ordeal.errors import ConfigError, OrdealError

AGENT_MODULE = "ordeal._engine.parallel.fleet.agent"
#: How long members may take to end by themselves, and how long after the second Ctrl-C.
END_SECONDS = 60.0
AT_ONCE_SECONDS = 4.0
#: How long a cluster may be away before its members count as lost for good.
AWAY_SECONDS_MAX = 120.0
#: The longest wait for a connection, and then for the first bytes of a cluster; how many of them are checked.
CONNECT_SECONDS = 4.0
GREETING_SIZE = 8
#: How long a command of a scheduler may take, and how often a scheduler is asked.
COMMAND_SECONDS_MAX = 8.0
POLL_SECONDS = 2.0


class FleetError(OrdealError):
    """A fleet cannot be started, or none of its members could explore."""


class Launcher(ABC):
    """Runs members somewhere: start, watch, stop. Their logs are in their records. Owned by one thread.

    Attributes:
        restarts: whether lost members are started again by ``start``; schedulers do so themselves.
        absences: how often the cluster was away and came back.
        trouble: what went wrong where a member should have started, empty if nothing did or it is unknown.
        hint: what to do about that.
        left_out: files of the project that were not sent to the members, as they may hold secrets.
    """

    restarts: bool = True
    absences: int = 0
    trouble: str = ""
    left_out: tuple[str, ...] = ()
    hint: str = "see that the members can reach it, and that ordeal is installed where they run"

    def __init__(self, plan: FleetPlan) -> None:
        self.plan = plan

    def open(self) -> None:  # noqa: B027 - there is nothing to reach on this machine
        """Reach the cluster.

        Raises:
            FleetError: it cannot be reached or used.
        """

    @abstractmethod
    def start(self, task: MemberTask, number: int, attempt: int) -> None:
        """Start a member."""

    @abstractmethod
    def running(self) -> set[int]:
        """Return the members that are thought to run or wait for a place."""

    @abstractmethod
    def close(self, *, leave: bool) -> None:
        """End all members, unless they are to be left, and release the cluster. Does not raise an error.

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
    def start(self, task: MemberTask, number: int, attempt: int) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if name != STORE_VARIABLE},
            TASK_VARIABLE: task.to_json(),
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
    def close(self, *, leave: bool) -> None:
        if leave:
            return
        try:
            self._end_within(END_SECONDS)
        except KeyboardInterrupt:
            # After the second signal, a member waits for nothing.
            self._end_within(AT_ONCE_SECONDS)
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


class ClusterLauncher(Launcher):
    """Speaks to the head of a cluster through its library, whose calls raise errors of many types.

    ``members`` has the handle of each member, as the library knows it.
    """

    #: The scheme of its address, its usual port, and the hint for when nothing answers there.
    kind: ClassVar[str]
    port: ClassVar[int]
    no_answer: ClassVar[str]

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self.place = host_and_port(plan.on, self.port)
        self.members: dict[int, Any] = {}
        self._numbers: set[int] = set()
        self._away_since = 0.0

    @abstractmethod
    def is_greeting(self, data: bytes) -> bool:
        """Return True if these may be the first bytes that such a cluster says."""

    @abstractmethod
    def connect(self) -> None:
        """Connect to the head; ``FleetError`` says more than other errors."""

    @abstractmethod
    def disconnect(self) -> None:
        """End the connection."""

    @abstractmethod
    def submit(self, task: MemberTask, number: int, attempt: int) -> Any:
        """Hand a member to the cluster, and return its handle."""

    @abstractmethod
    def waiting(self) -> set[int]:
        """Return the members that have not ended, and note in ``trouble`` why others failed. Raises if it is away."""

    @abstractmethod
    def cancel(self, seconds: float) -> None:
        """Wait at most this long for members to end, and cancel the others."""

    @abstractmethod
    def why(self, error: Exception) -> str:
        """Return what an error says, in one line."""

    @override
    def open(self) -> None:
        must_greet(self.kind.capitalize(), *self.place, self.no_answer, self.is_greeting)
        try:
            self.connect()
        except FleetError:
            self.close(leave=True)
            raise
        except Exception as error:
            self.close(leave=True)
            name = self.kind.capitalize()
            raise FleetError(
                f"the {name} cluster at {':'.join(map(str, self.place))} cannot be used: {self.why(error)}",
                hint=f"use the same versions of Python and {name} here and there, and see that it is not overloaded",
            ) from error

    @override
    def start(self, task: MemberTask, number: int, attempt: int) -> None:
        self._numbers.add(number)
        # A cluster that is away, or a node that vanished, is noticed when members are counted.
        with contextlib.suppress(Exception):
            self.members[number] = self.submit(task, number, attempt)

    @override
    def running(self) -> set[int]:
        if not self._away_since:
            try:
                return self.waiting()
            except Exception:  # noqa: BLE001
                self._away_since = time.monotonic()
                return set(self._numbers)
        if time.monotonic() - self._away_since > AWAY_SECONDS_MAX:
            self.restarts = False
            return set()
        if listens(*self.place, seconds=1.0):
            return set(self._numbers)
        try:
            self._drop()
            self.connect()
        except Exception:  # noqa: BLE001
            return set(self._numbers)
        # A head that was restarted knows nothing of its former members.
        self.members, self._away_since = {}, 0.0
        self.absences += 1
        return set()

    @override
    def close(self, *, leave: bool) -> None:
        """Let members end by themselves, which the board tells them to, then cancel what is left."""
        if self.members and not leave and not self._away_since:
            with contextlib.suppress(Exception):
                self.cancel(END_SECONDS)
        self._drop()

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self.disconnect()


class BatchLauncher(Launcher):
    """Submits one job when the last member is to start; its scheduler starts lost members again.

    ``present`` are the members that were thought to run or wait when the scheduler was asked last.
    """

    restarts = False

    def __init__(self, plan: FleetPlan) -> None:
        super().__init__(plan)
        self.present: set[int] = set()
        self._wanted = 0
        self._is_submitted = False
        self._asked_at = 0.0

    @abstractmethod
    def submit(self, task: MemberTask) -> None:
        """Submit the job of all members."""

    @abstractmethod
    def asked(self) -> set[int]:
        """Ask the scheduler which members run or wait. Raises ``FleetError`` or ``ValueError`` while it is away."""

    @abstractmethod
    def cancel(self, *, waiting: bool) -> None:
        """Cancel the members that wait for a place, or all."""

    @override
    def start(self, task: MemberTask, number: int, attempt: int) -> None:
        self._wanted += 1
        if self._wanted == self.plan.members:
            self.submit(task)
            self._is_submitted = True
            self._asked_at = time.monotonic()
            self.present = set(range(self.plan.members))

    @override
    def running(self) -> set[int]:
        if self._is_submitted and time.monotonic() - self._asked_at >= POLL_SECONDS:
            self._asked_at = time.monotonic()
            # A scheduler that is away may come back: what it said last holds.
            with contextlib.suppress(FleetError, ValueError):
                self.present = self.asked()
        return self.present

    @override
    def close(self, *, leave: bool) -> None:
        if not self._is_submitted or leave:
            return
        # The board has told them to end; those that still wait in the queue never start.
        with contextlib.suppress(FleetError):
            self.cancel(waiting=True)
        deadline = time.monotonic() + END_SECONDS
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.5)
        with contextlib.suppress(FleetError):
            self.cancel(waiting=False)


def call(command: tuple[str, ...], *, store: str = "", text: str = "") -> str:
    """Run a command of a scheduler and return its output.

    Raises:
        FleetError: it failed, or took too long.
    """
    environment = {**os.environ, STORE_VARIABLE: store} if store else None
    try:
        process = start(command, pipes=["stdin", "stdout", "stderr"], environment=environment)
    except OSError as error:
        message = f"`{command[0]}` cannot be run: {error.strerror or error}"
        raise FleetError(message, hint="start the fleet where it is installed") from error
    out, err = finish(process, text.encode(), seconds=COMMAND_SECONDS_MAX)
    if process.returncode == -signal.SIGKILL:
        message = f"`{command[0]}` did not answer within {COMMAND_SECONDS_MAX:g} s"
        raise FleetError(message, hint="see that the cluster is up")
    if process.returncode:
        # What went wrong comes last, after all that was tried.
        said = err.decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
        message = f"`{command[0]}` failed: {one_line(said[-1], limit=300)}"
        raise FleetError(message, hint=f"see that `{' '.join(command[:2])}` works in a shell")
    return out.decode(errors="replace")


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


def host_and_port(address: str, default: int) -> tuple[str, int]:
    """Return host and port of ``scheme://HOST:PORT``.

    Raises:
        ConfigError: there is no host in it, or no valid port.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0:
        kind = address.partition("://")[0]
        message = f"`--on {kind}://...` has no valid host and port"
        raise ConfigError(message, hint=f"write for example `--on {kind}://HOST:{default}`")
    return host, port or default


def listens(host: str, port: int, *, seconds: float, is_greeting: Callable[[bytes], bool] | None = None) -> str:
    """Return why nothing can be reached at an address, empty if something listens there.

    With ``is_greeting``, it must also speak first, as a cluster does.
    """
    try:
        with socket.create_connection((host, port), timeout=seconds) as connection:
            if is_greeting and not is_greeting(connection.recv(GREETING_SIZE, socket.MSG_WAITALL)):
                return "something else listens there"
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""


def must_greet(kind: str, host: str, port: int, hint: str, is_greeting: Callable[[bytes], bool]) -> None:
    """Check that a cluster answers at an address: its library may wait for minutes.

    Raises:
        FleetError: none does.
    """
    if why := listens(host, port, seconds=CONNECT_SECONDS, is_greeting=is_greeting):
        raise FleetError(f"no {kind} cluster answers at {host}:{port}: {why}", hint=hint)

"""Members that a library hands to the nodes of a cluster, one by one: Ray and Dask."""

from __future__ import annotations

import contextlib
import importlib
import socket
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, override
from urllib.parse import urlsplit

from ordeal._base.formatting import one_line
from ordeal._base.limits import ANSWER_SECONDS
from ordeal._engine.parallel.fleet.agent import Agent
from ordeal._engine.parallel.fleet.launcher import END_SECONDS, FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import FleetPlan, MemberTask
from ordeal._engine.parallel.fleet.project_files import Sent, pack, unpack
from ordeal.errors import ConfigError
from ordeal.store.open import Address

#: The first bytes of a cluster that are checked.
GREETING_SIZE = 8


def run_member(task: str, number: int, attempt: int, store: str, project: bytes | None) -> int:
    """Run one member on a node; this is what a cluster calls. ``project`` is unpacked for as long as it runs."""
    given = MemberTask.from_json(task)
    with TemporaryDirectory(prefix="ordeal-", ignore_cleanup_errors=True) as folder:
        if project is not None:
            unpack(project, Path(folder))
            given = replace(given, path=(folder,))
        return Agent(given, number, store, attempt=attempt).run()


class ClusterLauncher(Launcher):
    """Speaks to the head of a cluster through its library, whose calls raise errors of many types.

    Attributes:
        members: the handle of each member, as the library knows it.
        sent: the packed project, None if the nodes have it.
    """

    #: The scheme of its address, its usual port, and the hint for when nothing answers there.
    kind: ClassVar[str]
    port: ClassVar[int]
    no_answer: ClassVar[str]

    def __init__(self, plan: FleetPlan) -> None:
        """Raises ``ConfigError`` where the address has no host, or no valid port."""
        super().__init__(plan)
        try:
            parts = urlsplit(plan.on)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or port == 0:
            message = f"`--on {plan.kind}://...` has no valid host and port"
            raise ConfigError(message, hint=f"write for example `--on {plan.kind}://HOST:{self.port}`")
        self.place = host, port or self.port
        self.members: dict[int, Any] = {}
        self.sent: bytes | None = None
        self._numbers: set[int] = set()
        self._away_since = 0.0
        self._project = project_of(plan)

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
    def submit(self, number: int, attempt: int, task: str, store: str) -> Any:
        """Have the cluster call ``run_member``, and return the handle of that."""

    @abstractmethod
    def waiting(self) -> set[int]:
        """Return the members that have not ended, and note in ``trouble`` why others failed. Raises if it is away."""

    @abstractmethod
    def cancel(self, seconds: float) -> None:
        """Wait at most this long for members to end, and cancel the others."""

    @override
    def open(self) -> None:
        host, port = self.place
        name = self.kind.capitalize()
        # Its library may wait for minutes.
        if why := listens(host, port, seconds=ANSWER_SECONDS, is_greeting=self.is_greeting):
            raise FleetError(f"no {name} cluster answers at {host}:{port}: {why}", hint=self.no_answer)
        if self._project is not None:
            packed = packed_project(self._project, self.plan.store)
            self.sent, self.left_out = packed.data, packed.left_out
        try:
            self.connect()
        except FleetError:
            self._drop()
            raise
        except Exception as error:
            self._drop()
            raise FleetError(
                f"the {name} cluster at {host}:{port} cannot be used: {what_was_wrong(error)}",
                hint=f"see that the same versions of Python and {name} run here and there, and what its head logs",
            ) from error

    @override
    def start(self, number: int, attempt: int) -> None:
        self._numbers.add(number)
        task = self.plan.task if self.sent is None else replace(self.plan.task, path=())
        # A cluster that is away, or a node that vanished, is noticed when members are counted. No log shows a password.
        with contextlib.suppress(Exception):
            self.members[number] = self.submit(number, attempt, task.to_json(), Address(self.plan.store))

    @override
    def running(self) -> set[int]:
        if not self._away_since:
            try:
                return self.waiting()
            except Exception:  # noqa: BLE001
                self._away_since = time.monotonic()
                return set(self._numbers)
        # Members of a cluster that is away for longer count as lost for good.
        if time.monotonic() - self._away_since > 120.0:
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
    def close(self) -> None:
        """Wait for the members to obey the board and end, then cancel what is left."""
        if self.members and not self._away_since:
            with contextlib.suppress(Exception):
                self.cancel(END_SECONDS)
        self._drop()

    def _drop(self) -> None:
        with contextlib.suppress(Exception):
            self.disconnect()


def project_of(plan: FleetPlan) -> Path | None:
    """Return the folder of the project that is sent to the members, None if none is.

    Raises:
        ConfigError: the folder does not exist.
    """
    given = plan.options.project
    if given == "none":
        return None
    folder = Path.cwd() if given == "auto" else Path(given)
    if not folder.is_dir():
        hint = "name the folder with your tests, or write `--project none`"
        raise ConfigError(f"`--project {given}` is not a folder", hint=hint)
    return folder


def packed_project(project: Path, store: str) -> Sent:
    """Pack a project; see ``pack``.

    Raises:
        FleetError: it cannot be packed.
    """
    try:
        return pack(project, store)
    except OSError as error:
        message = f"the project {project} cannot be packed: {error.strerror or error}"
        raise FleetError(message, hint="check that this user may read it") from error


def what_was_wrong(error: BaseException) -> str:
    """Return the message of an error on one line: of its first cause, or the end of a traceback from another host."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).strip().splitlines()]
    is_traceback = any(line.startswith("Traceback (most recent call last)") for line in lines)
    said = lines[-1] if is_traceback else f"{type(error).__name__}: {' '.join(lines)}"
    return one_line(said, limit=300)


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

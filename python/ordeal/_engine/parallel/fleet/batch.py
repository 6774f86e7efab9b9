"""Members that a scheduler starts from one job, and starts again when they are lost: Slurm and Kubernetes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from abc import abstractmethod
from typing import override

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import finish, start
from ordeal._engine.parallel.fleet.launcher import END_SECONDS, FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import FleetPlan
from ordeal.config.options import STORE_VARIABLE

#: How long a command of a scheduler may take, and how often a scheduler is asked.
COMMAND_SECONDS_MAX = 8.0
POLL_SECONDS = 2.0


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
    def submit(self) -> None:
        """Submit the job of all members."""

    @abstractmethod
    def asked(self) -> set[int]:
        """Ask the scheduler which members run or wait. Raises ``FleetError`` or ``ValueError`` while it is away."""

    @abstractmethod
    def cancel(self, *, waiting: bool) -> None:
        """Cancel the members that wait for a place, or all."""

    @override
    def start(self, number: int, attempt: int) -> None:
        self._wanted += 1
        if self._wanted == self.plan.members:
            self.submit()
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
    def close(self) -> None:
        if not self._is_submitted:
            return
        # The board has ended them; those that still wait in the queue never start.
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
        raise FleetError(message, hint="check that the cluster is up")
    if process.returncode:
        # What went wrong comes last, after all that was tried.
        said = err.decode(errors="replace").strip().splitlines() or [f"exit code {process.returncode}"]
        message = f"`{command[0]}` failed: {one_line(said[-1], limit=300)}"
        raise FleetError(message, hint=f"see that `{' '.join(command[:2])}` works in a shell")
    return out.decode(errors="replace")

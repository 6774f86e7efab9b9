"""Runs one member: starts the process that explores, reports to the board how it is, and ends it with the fleet.

``python -m ordeal._engine.parallel.fleet.agent`` is what every launcher runs somewhere, for the member that the
environment describes. It stops when the launcher is gone, so that a killed launcher leaves no member behind.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import ordeal._native as _native
from ordeal._base import interrupts
from ordeal._base.formatting import one_line
from ordeal._base.interpreter import LineReader, end, start
from ordeal._base.limits import LOOK_SECONDS, RECORDED_CHARS_MAX, STATUS_SECONDS
from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    Board,
    BoardError,
    Record,
    member_key,
    number_of,
    text_of,
    total_of,
    when_back,
)
from ordeal._engine.parallel.fleet.plan import TASK_VARIABLE, MemberTask
from ordeal.config.options import STORE_VARIABLE
from ordeal.errors import WRONG_USE, OrdealError

#: The module that explores; it is above this room, so it is known by name alone.
EXPLORER_MODULE = "ordeal.cli.fleet.member"
#: A member stops when its launcher was silent for this long, unless the launcher announced that it leaves.
LEASE_SECONDS = 30.0
#: How long the process that explores may take to report when it is to stop.
STOP_SECONDS = 45.0
#: What is counted over all attempts at a member.
_PAST = ("runs", "steps")
#: How long a member that a scheduler started waits for a store that is away: no other process starts it again.
STORE_SECONDS = 600.0
#: Where the schedulers write which member this is.
_NUMBER_VARIABLES = ("ORDEAL_FLEET_MEMBER", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")


@dataclass(slots=True)
class _Lease:
    """Checks if the launcher is alive: it keeps changing its record. Only the clock of this host counts."""

    seen: object = None
    since: float = field(default_factory=time.monotonic)

    def pause(self) -> None:
        """Begin to wait again: while the store is away, it does not say if the launcher is there."""
        self.since = time.monotonic()

    def has_ended(self, record: Record) -> bool:
        """Return True if this member is to stop, from the launcher's record, which was read just now."""
        state = text_of(record, "state")
        if state in ("stopping", "ended"):
            return True
        if record and (state == "left" or record.get("at") != self.seen):
            self.seen, self.since = record.get("at"), time.monotonic()
        return time.monotonic() - self.since > LEASE_SECONDS


class Agent:
    """One member of a fleet, in the process or thread that a launcher gave it."""

    def __init__(
        self, task: MemberTask, number: int, store: str, *, attempt: int = 0, say: Callable[[str], object] = len
    ) -> None:
        """``say`` writes errors to the log of this member.

        An ``attempt`` of 0 comes from a scheduler that restarts lost members.
        """
        self._task = task
        self._say = say
        self._number = number
        self._store = store
        self._lease = _Lease()
        self._board: Board
        self._since = time.time()
        self._record: Record = {
            "state": "starting",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "attempt": attempt,
            "python": platform.python_version(),
            "job": os.environ.get("SLURM_JOB_ID", ""),
            "since": self._since,
        }
        self._stops = 0

    def stop(self) -> None:
        """End the member soon, and at once on a second call. May be called from a signal handler."""
        self._stops += 1

    def run(self) -> int:
        """Run the member to its end; return 0 when it is done, 2 for wrong use, 3 when it was lost."""
        try:
            launcher, former = when_back(self._opened, 0.0 if self._record["attempt"] else STORE_SECONDS)
        except OrdealError as error:
            self._say(f"error: {error.message}\nhint: {error.hint}\n")
            return WRONG_USE
        left = self._take_up(launcher, former)
        python = ".".join(platform.python_version_tuple()[:2])
        versions = ("Python", python, self._task.python), ("ordeal", _native.__version__, self._task.ordeal)
        for name, here, there in versions:
            if here != there:
                self._record["state"] = "failed"
                self._record["error"] = (
                    f"the member on {socket.gethostname()} has {name} {here}, and the launcher {there}"
                )
                self._record["hint"] = f"install {name} {there} there, or start the fleet from {name} {here}"
                self._tell()
                return WRONG_USE
        if left <= 0:
            self._record |= {"state": "ended", "stopped": "time"}
            self._tell()
            return 0
        self._task = replace(self._task, seconds=max(1.0, left))
        self._tell()
        with tempfile.TemporaryFile() as log:
            code = self._supervise(log)
            if self._record["state"] not in ("ended", "failed"):
                self._record |= {"state": "lost", "error": f"the process that explores ended with {code}"}
            if self._record["state"] != "ended":
                log.seek(max(0, log.seek(0, os.SEEK_END) - RECORDED_CHARS_MAX))
                ending = log.read().decode("utf-8", "replace").splitlines()
                self._record["log"] = "".join(f"{one_line(line)}\n" for line in ending)
                self._say(str(self._record["log"]))
        # The last record says what was found: worth some patience, less for those who wait for a member to end.
        for _ in range(1 if self._stops > 1 else 5 if self._stops else 10):
            if self._tell():
                break
            time.sleep(STATUS_SECONDS)
        return {"ended": 0, "failed": WRONG_USE}.get(str(self._record["state"]), 3)

    def _opened(self) -> tuple[Record, Record]:
        """Open the board, and return the records of the launcher and of the former attempts at this member."""
        self._board = Board(self._store, self._task.fleet)
        if self._task.alone:
            # No launcher made the board. The tasks of one array share this number.
            self._board.begin()
            record = {"state": "left", "on": "a job", "members": self._task.members, "class": self._task.test_class}
            job = os.environ.get("SLURM_ARRAY_JOB_ID", "")
            if text_of(former := self._board.get(LAUNCHER), "job") != job or not former:
                self._board.put(LAUNCHER, {**record, "job": job, "began": time.time()})
        return self._board.get(LAUNCHER), self._board.get(member_key(self._number))

    def _take_up(self, launcher: Record, former: Record) -> float:
        """Continue where a former attempt at this member ended, and return how much time is left."""
        is_done = text_of(former, "state") in ("ended", "failed") and text_of(former, "stopped") != "interrupted"
        # Otherwise the same job was submitted once more.
        if former and not is_done and text_of(former, "job") in ("", self._record["job"]):
            self._record |= {f"past_{name}": total_of(former, name) for name in _PAST}
            self._record["restarts"] = number_of(former, "restarts")
            if text_of(former, "state") != "waiting":
                # A cluster restarts lost tasks, too.
                self._record["restarts"] += 1
            self._since = min(number_of(former, "since") or self._since, self._since)
            self._record["since"] = self._since
        if "left" in launcher:
            return number_of(launcher, "left")
        return self._task.seconds - (time.time() - self._since)

    def _supervise(self, log: BinaryIO) -> int:
        hidden = (STORE_VARIABLE, TASK_VARIABLE)
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        command = [sys.executable, "-m", EXPLORER_MODULE]
        child = start(command, pipes=["stdin", "stdout"], stderr=log, environment=environment)
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError), child.stdin as stdin:
            stdin.write(json.dumps({"task": self._task.to_json(), "store": self._store}).encode())
        lines, due, has_ended, stop_at = LineReader(child.stdout), 0.0, False, math.inf
        try:
            while not lines.is_over and self._stops < 2 and time.monotonic() <= stop_at:
                new = lines.read(min(LOOK_SECONDS, due - time.monotonic()))
                for line in new:
                    with contextlib.suppress(ValueError):
                        found = json.loads(line)
                        self._record |= found if isinstance(found, dict) else {}
                if not new and child.poll() is not None:
                    break
                if time.monotonic() >= due:
                    due = time.monotonic() + STATUS_SECONDS
                    self._tell()
                    try:
                        has_ended = self._lease.has_ended(self._board.get(LAUNCHER))
                    except BoardError:
                        self._lease.pause()
                if (self._stops or has_ended) and stop_at == math.inf:
                    stop_at = time.monotonic() + STOP_SECONDS
                    with contextlib.suppress(ProcessLookupError):
                        child.send_signal(signal.SIGINT)
            return child.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return -1
        finally:
            end(child)

    def _tell(self) -> bool:
        try:
            self._board.put(member_key(self._number), self._record)
        except BoardError:
            return False
        return True


def number_from(environment: Mapping[str, str]) -> int:
    """Return which member this is, as the launcher or the scheduler says."""
    texts = [environment[name] for name in _NUMBER_VARIABLES if name in environment]
    return int(texts[0]) if texts and texts[0].isdecimal() else 0


def main() -> int:
    """Run the member of the environment; return 0 when it is done, 2 for wrong use, 3 when it was lost.

    The address of the store, which may hold a password, is in the environment too, or is the first line of stdin.
    """
    say = sys.stderr.write  # the log that the launcher keeps
    task = os.environ.get(TASK_VARIABLE)
    store = os.environ.get(STORE_VARIABLE) or (task and sys.stdin.readline().strip())
    if not task or not store:
        missing = STORE_VARIABLE if task else TASK_VARIABLE
        say(f"error: {missing} is not set\nhint: `ordeal explore --on ...` starts members\n")
        return WRONG_USE
    attempt = os.environ.get("ORDEAL_FLEET_ATTEMPT", "")
    agent = Agent(
        MemberTask.from_json(task),
        number_from(os.environ),
        store,
        attempt=int(attempt) if attempt.isdecimal() else 0,
        say=say,
    )
    interrupts.heed(lambda *_: agent.stop())
    return agent.run()


if __name__ == "__main__":
    sys.exit(main())

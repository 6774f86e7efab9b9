"""What the process that takes findings home says: which failures were confirmed here while the fleet goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from ordeal._base.formatting import one_line
from ordeal._engine.parallel.fleet.plan import STORE_VARIABLE, TASK_VARIABLE, FleetPlan
from ordeal.result import FoundFailure

#: The module of that process; it is above this room, so it is known by name alone.
HOME_MODULE = "ordeal.cli.fleet.home"
#: How long it may take to finish what it does when the fleet has ended.
END_SECONDS = 10.0
_LINE_SIZE_MAX = 2**16


class Arrivals:
    """Runs that process, and knows what it said. A fleet goes on without it when it ends too early.

    Attributes:
        found: the failures that were confirmed here so far; the same object until there is another one.
    """

    def __init__(self, plan: FleetPlan, corpus: Path) -> None:
        self.found: tuple[FoundFailure, ...] = ()
        self._buffer = b""
        hidden = (STORE_VARIABLE, TASK_VARIABLE)
        self._process = subprocess.Popen(
            [sys.executable, "-m", HOME_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name not in hidden},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        given = {"task": plan.task.to_json(), "store": plan.store, "corpus": str(corpus.absolute())}
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{json.dumps(given)}\n".encode())
            self._process.stdin.flush()

    def look(self) -> None:
        """Read what was said since."""
        assert self._process.stdout is not None
        try:
            data = os.read(self._process.stdout.fileno(), _LINE_SIZE_MAX)
        except OSError:
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._buffer = self._buffer[-_LINE_SIZE_MAX:]
        new = tuple(found for line in lines if (found := _read(line)) is not None)
        if new:
            self.found += new

    def close(self, *, seconds: float = END_SECONDS) -> None:
        """End the process and what it started, after so many seconds if it does not end by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
        self.look()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()


def _read(line: bytes) -> FoundFailure | None:
    try:
        said = json.loads(line)
        identity, bucket, error = (one_line(str(said[name])) for name in ("id", "bucket", "error"))
        return FoundFailure(identity, bucket, error, 0, int(said["steps"]))
    except (ValueError, TypeError, KeyError):
        return None

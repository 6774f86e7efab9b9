"""A fleet that a test started, watched from its store alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ordeal.store.open import open_readers

ORDEAL = [sys.executable, "-m", "ordeal"]
#: A guard against hangs alone: what takes this long on a busy machine takes seconds on a quiet one.
WAIT_SECONDS = 600.0


def until(condition: Callable[[], bool]) -> float:
    """Wait until something holds, and return how long that took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() < started + WAIT_SECONDS
        time.sleep(0.3)
    return time.monotonic() - started


@dataclass
class Fleet:
    """A fleet in ``folder`` that meets at ``store``."""

    folder: Path
    store: str
    state: Path

    @property
    def environment(self) -> dict[str, str]:
        """What its launcher gets."""
        return {**os.environ, "ORDEAL_STORE": self.store, "XDG_STATE_HOME": str(self.state)}

    @contextmanager
    def start(self, on: str, *options: str) -> Iterator[subprocess.Popen[str]]:
        """Start it. What fails meanwhile fails with what its launcher and its members said."""
        command = [*ORDEAL, "explore", "--on", on, *options]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as launcher:
            try:
                yield launcher
            except BaseException as error:
                members = self.members()
                launcher.kill()
                error.add_note(f"The launcher said:\n{launcher.communicate()[0]}\nThe members said:\n{members}")
                raise

    def members(self) -> dict[str, dict[str, object]]:
        """Return all members by name, as `ordeal fleet status` tells of them."""
        command = [*ORDEAL, "fleet", "status", "--json"]
        told = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout
        found: dict[str, dict[str, object]] = json.loads(told)["members"] if told else {}
        return found

    def running(self) -> dict[str, dict[str, object]]:
        """Return the members that run."""
        return {name: each for name, each in self.members().items() if each["state"] == "running"}

    def stop(self) -> None:
        """Tell it to stop; what it has found is kept."""
        subprocess.run([*ORDEAL, "fleet", "stop"], env=self.environment, capture_output=True, check=True)

    def acknowledged(self) -> set[int]:
        """Return the edges that the store has."""
        return {edge for reader in open_readers(self.store) for edge in reader.edges()}

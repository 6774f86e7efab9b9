"""Brings back the working folder, where traces, seeds and the state are written to, when a rule has deleted it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class WorkingFolder:
    """The folder that the process works in when this is made. ``tell`` hears when it had to be made again."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._path: Path | None = None
        with suppress(FileNotFoundError):
            self._path = Path.cwd()

    def restore(self) -> None:
        """Make the folder again if it is gone, and work in it. What was in it stays lost."""
        try:
            Path.cwd()
        except FileNotFoundError:
            if self._path is None:
                return
            with suppress(OSError):
                self._path.mkdir(parents=True, exist_ok=True)
                os.chdir(self._path)
                self._tell("The working folder was deleted while code of yours ran. It was made again, and is empty.")

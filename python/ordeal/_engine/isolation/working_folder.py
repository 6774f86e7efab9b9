"""Restores the working folder, to which traces, seeds and the state are written, when a rule left or deleted it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class WorkingFolder:
    """The working folder of the process when this is made. ``note`` gets a sentence when it had to be made again."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._path: Path | None = None
        with suppress(FileNotFoundError):
            self._path = Path.cwd()

    def path_of(self, path: Path) -> Path:
        """Return ``path`` as it was meant when this was made, wherever the process works by now."""
        return path if self._path is None else self._path / path

    def restore(self) -> None:
        """Return to the folder, and make it again if it is gone. Its contents stay lost."""
        if self._path is None or self._is_here(self._path):
            return
        with suppress(OSError):
            if not self._path.is_dir():
                self._path.mkdir(parents=True, exist_ok=True)
                self._note("The working folder was deleted while code of yours ran. It was made again, and is empty.")
            os.chdir(self._path)

    def _is_here(self, path: Path) -> bool:
        try:
            return Path.cwd() == path
        except FileNotFoundError:
            return False

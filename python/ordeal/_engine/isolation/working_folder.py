"""Restores the working folder, to which traces, seeds and the state are written, when a rule left or deleted it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def present_folder() -> Path | None:
    """Return the working folder; None once it is gone, as another process may delete it at any time."""
    with suppress(FileNotFoundError):
        return Path.cwd()
    return None


class WorkingFolder:
    """The working folder of the process when this is made. ``note`` gets a sentence when it had to be made again."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._path = present_folder()

    def path_of(self, path: Path) -> Path:
        """Return ``path`` as it was meant when this was made, wherever the process works by now."""
        return path if self._path is None else self._path / path

    def restore(self) -> None:
        """Return to the folder, and make it again if it is gone. Its contents stay lost."""
        if self._path is None or present_folder() == self._path:
            return
        with suppress(OSError):
            if not self._path.is_dir():
                self._path.mkdir(parents=True, exist_ok=True)
                self._note("The working folder was deleted while code of yours ran. It was made again, and is empty.")
            os.chdir(self._path)

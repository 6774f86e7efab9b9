"""A store of values in one JSON file, which is replaced as a whole: what was put must survive a power cut."""

import json
import os
from pathlib import Path


class Store:
    """The values in ``folder``; read when the store is opened, written with every change."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "values.json"
        folder.mkdir(exist_ok=True)
        self._values: dict[str, int] = json.loads(self._file.read_text()) if self._file.exists() else {}

    def put(self, key: str, value: int) -> None:
        """Set a value. When this returns, it is there for good."""
        self._save({**self._values, key: value})

    def remove(self, key: str) -> None:
        """Take a value away, if it is there. When this returns, it is gone for good."""
        self._save({name: value for name, value in self._values.items() if name != key})

    def values(self) -> dict[str, int]:
        """All values by their keys."""
        return dict(self._values)

    def _save(self, values: dict[str, int]) -> None:
        write_whole(self._file, json.dumps(values))
        self._values = values


def write_whole(path: Path, text: str) -> None:
    """Replace a file such that it has the old text or the new one, and never half of it."""
    new = path.with_suffix(".new")
    with new.open("w") as file:
        file.write(text)
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder reach the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

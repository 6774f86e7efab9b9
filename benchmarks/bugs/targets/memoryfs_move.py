"""fs 2.4.14: a file that was moved in memory is still listed under its old name.

Changelog of 2.4.15: "Fixed ``MemoryFS.move`` and ``MemoryFS.movedir`` not updating the name of moved resources, causing
``MemoryFS.scandir`` to use the old name." The file system has locks, which no copy can take along.
"""

from typing import Any

from fs import errors
from fs.memoryfs import MemoryFS
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

NAMES = ("a", "b", "c")
FOLDERS = ("/", "/a", "/b", "/a/c")

folders = st.integers(0, len(FOLDERS) - 1)
names = st.integers(0, len(NAMES) - 1)


def folder_at(place: int) -> str:
    return FOLDERS[within(place, len(FOLDERS))]


def name_at(place: int) -> str:
    return NAMES[within(place, len(NAMES))]


def joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


class Machine(RuleBasedStateMachine):
    """A file system beside a tree of dictionaries (folders) and bytes (files)."""

    def __init__(self) -> None:
        super().__init__()
        self.fs = MemoryFS()
        self.root: dict[str, Any] = {}

    def _entries(self, folder: str) -> dict[str, Any] | None:
        """What the model has in a folder, None where there is no folder of that path."""
        node: Any = self.root
        for part in filter(None, folder.split("/")):
            if not isinstance(node, dict) or part not in node:
                return None
            node = node[part]
        return node if isinstance(node, dict) else None

    @rule(folder=folders, name=names)
    def make_folder(self, folder: int, name: int) -> None:
        path, entry = folder_at(folder), name_at(name)
        entries = self._entries(path)
        if entries is not None and entry not in entries:
            self.fs.makedir(joined(path, entry))
            entries[entry] = {}

    @rule(folder=folders, name=names, body=st.binary(max_size=4))
    def write(self, folder: int, name: int, body: bytes) -> None:
        path, entry = folder_at(folder), name_at(name)
        entries = self._entries(path)
        if entries is not None and not isinstance(entries.get(entry), dict):
            self.fs.writebytes(joined(path, entry), bytes(body))
            entries[entry] = bytes(body)

    @rule(folder=folders, name=names)
    def remove(self, folder: int, name: int) -> None:
        path, entry = folder_at(folder), name_at(name)
        entries = self._entries(path)
        if entries is None or entry not in entries or (entries[entry] and isinstance(entries[entry], dict)):
            return
        if isinstance(entries[entry], dict):
            self.fs.removedir(joined(path, entry))
        else:
            self.fs.remove(joined(path, entry))
        del entries[entry]

    @rule(folder=folders, name=names, to_folder=folders, to_name=names)
    def move(self, folder: int, name: int, to_folder: int, to_name: int) -> None:
        path, entry = folder_at(folder), name_at(name)
        to_path, to_entry = folder_at(to_folder), name_at(to_name)
        entries, to_entries = self._entries(path), self._entries(to_path)
        if entries is None or to_entries is None or to_entry in to_entries or not isinstance(entries.get(entry), bytes):
            return
        self.fs.move(joined(path, entry), joined(to_path, to_entry))
        to_entries[to_entry] = entries.pop(entry)

    @rule(folder=folders)
    def list_names(self, folder: int) -> None:
        path = folder_at(folder)
        entries = self._entries(path)
        try:
            found = sorted(self.fs.listdir(path))
        except (errors.ResourceNotFound, errors.DirectoryExpected):
            assert entries is None, "a folder is gone"
        else:
            assert entries is not None, "a folder that was never made"
            assert found == sorted(entries), "the names differ"

    @rule(folder=folders)
    def scan(self, folder: int) -> None:
        path = folder_at(folder)
        entries = self._entries(path)
        if entries is not None:
            found = sorted((each.name, each.is_dir) for each in self.fs.scandir(path))
            expected = sorted((name, isinstance(entry, dict)) for name, entry in entries.items())
            assert found == expected, "the scanned entries differ"

    @rule(folder=folders, name=names)
    def read(self, folder: int, name: int) -> None:
        path, entry = folder_at(folder), name_at(name)
        entries = self._entries(path)
        if entries is not None and isinstance(entries.get(entry), bytes):
            assert self.fs.readbytes(joined(path, entry)) == entries[entry], "the content differs"


def reproduce() -> None:
    fs = MemoryFS()
    fs.writetext("/a", "x")
    fs.move("/a", "/b")
    names_found = [each.name for each in fs.scandir("/")]
    assert names_found == ["b"], names_found

"""The unpublished records of a member: its own shard, in memory, and in a file that outlives the process.

The file is locked as long as its member lives. A member that joins later with the same folder finds the files of lost
members, and publishes for them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ordeal.store.backend import ShardName
from ordeal.store.shard import HEADER, SHARD_SIZE_MAX

_SUFFIX = ".shard"


class WriteAhead:
    """The shard of this member, from its first byte. Owned by one thread.

    Attributes:
        trouble: why the file is incomplete, else empty.
    """

    def __init__(self, path: Path | None = None, *, size_max: int = SHARD_SIZE_MAX) -> None:
        """Begin a shard, also in the file ``path``.

        Raises:
            OSError: the file cannot be made.
        """
        self.trouble = ""
        self._data = bytearray(HEADER)
        self._size_max = size_max
        self._path = path
        self._in_file = 0
        self._descriptor = None if path is None else _locked(path)
        self.save()

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self._data)

    def append(self, record: bytes) -> bool:
        """Add a framed record, unless there is no more room."""
        if len(self._data) + len(record) > self._size_max:
            return False
        self._data += record
        return True

    def save(self) -> None:
        """Write everything to the file. What it cannot hold remains in memory; ``trouble`` says so."""
        if self._descriptor is None or self._in_file == len(self._data):
            return
        try:
            self._in_file += os.pwrite(self._descriptor, self._data[self._in_file :], self._in_file)
            self.trouble = ""
        except OSError as error:
            self.trouble = f"{self._path} cannot be written: {error.strerror}"

    def part(self, offset: int, size: int) -> bytes:
        """Return at most ``size`` bytes from ``offset``."""
        return bytes(self._data[offset : offset + size])

    def close(self, *, said: bool) -> None:
        """Release the file, and delete it when everything was published or it is empty."""
        if self._descriptor is None or self._path is None:
            return
        if said or self.size == len(HEADER):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """The unpublished records of a lost member. Nobody else has them while this is held."""

    name: ShardName
    data: bytes
    _path: Path
    _descriptor: int

    def release(self, *, said: bool) -> None:
        """Release the file, and delete it when it was published."""
        if said:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def private_folder() -> Path:
    """Return a folder for files of this user, the same each time; a new one if somebody else has taken its name."""
    folder = Path(tempfile.gettempdir()) / f"ordeal-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077:
            return folder
    return Path(tempfile.mkdtemp(prefix="ordeal-"))


def file_of(folder: Path, place: str, name: ShardName) -> Path:
    """Return the file in ``folder`` for the shard ``name`` of the store ``place``, a text of hex digits."""
    return folder / f"{place}-{name}{_SUFFIX}"


def left_behind(folder: Path, place: str) -> Iterator[LeftBehind]:
    """Yield what members of ``place`` have left in ``folder``. Each must be released."""
    pattern = re.compile(rf"{place}-(.+){re.escape(_SUFFIX)}", re.ASCII)
    for path in sorted(folder.iterdir()):
        match = pattern.fullmatch(path.name)
        name = None if match is None else ShardName.parse(match[1])
        found = None if name is None else _abandoned(path, name)
        if found is not None:
            yield found


def _locked(path: Path) -> int:
    """Return the descriptor of a new locked file, which appears under its name only when it is locked."""
    descriptor, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        Path(name).rename(path)
    except OSError:
        os.close(descriptor)
        Path(name).unlink(missing_ok=True)
        raise
    return descriptor


def _abandoned(path: Path, name: ShardName) -> LeftBehind | None:
    """Return the content of a file whose member is lost, None for any other file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        # Without a link, another member deleted it between the listing and the lock.
        if stat.S_ISREG(status.st_mode) and status.st_nlink and status.st_size <= SHARD_SIZE_MAX:
            data = os.pread(descriptor, SHARD_SIZE_MAX, 0)
            if data.startswith(HEADER):
                return LeftBehind(name, data, path, descriptor)
    except OSError:
        pass
    os.close(descriptor)
    return None

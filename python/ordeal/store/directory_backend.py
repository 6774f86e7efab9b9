"""A folder that members share, on one machine or on a network file system: without locks or mapped files.

``shards`` holds a file for each member, which only it writes; ``fleets``, next to all namespaces, a folder for each
group of records. Files may appear late and be listed in any order.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import override

from ordeal._base.regular_file import read_regular
from ordeal._base.trace_file import write_atomically
from ordeal.errors import StoreError
from ordeal.store.backend import (
    DIGEST,
    RECORD_SIZE_MAX,
    RECORDS_MAX,
    TOKEN,
    Backend,
    Records,
    ShardState,
    Span,
    UnreachableError,
    Unreadable,
)

_SUFFIX = ".shard"


class DirectoryBackend(Backend, Records):
    """The folder of one namespace. Owned by one thread."""

    def __init__(self, folder: Path, *, makes: bool = True) -> None:
        """Make the folder if it does not exist, unless ``makes`` is false.

        Raises:
            StoreError: it cannot be made or written.
        """
        self._shards = folder / "shards"
        self._groups = folder.parent / "fleets"
        if not makes:
            return
        try:
            self._shards.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._shards):
                pass
        except OSError as error:
            raise StoreError(
                f"the store cannot be written: {error.filename or folder}: {error.strerror or error}",
                hint="name a folder that this user may write, as in `--store dir://shared/ordeal`",
            ) from error

    def namespaces(self, number: int) -> list[str]:
        """Return the digests of at most ``number`` namespaces of the store, the one that was joined last first."""
        with self._reached():
            found = [each for each in self._shards.parents[1].iterdir() if DIGEST.fullmatch(each.name)]
            # Members make their files there.
            times = {each.name: (each / "shards").stat().st_mtime for each in found if (each / "shards").is_dir()}
        return sorted(times, key=lambda name: (times[name], name), reverse=True)[:number]

    @override
    def survey(self) -> dict[str, ShardState]:
        states: dict[str, ShardState] = {}
        with self._reached(), os.scandir(self._shards) as files:
            now = time.time()
            for file in files:
                token = file.name.removesuffix(_SUFFIX)
                if not file.name.endswith(_SUFFIX) or not TOKEN.fullmatch(token):
                    continue
                # It may be gone by now.
                with contextlib.suppress(FileNotFoundError):
                    status = file.stat(follow_symlinks=False)
                    states[token] = ShardState(status.st_size, now - status.st_mtime)
        return states

    @override
    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        found: list[bytes | Unreadable] = []
        for span in spans:
            try:
                found.append(read_regular(self._path(span.token), span.size, span.offset)[: span.size])
            except OSError as error:
                found.append(Unreadable(error.strerror or str(error)))
        return found

    @override
    def write(self, token: str, offset: int, data: bytes) -> None:
        path = self._path(token)
        with self._reached():
            if not data:
                os.utime(path)
                return
            # Opened each time: a network file system shows writes to others when the file is closed.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                written = os.pwrite(descriptor, data, offset)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if written < len(data):
                raise UnreachableError(f"{path} takes {written} of {len(data)} bytes: the disk may be full")

    @override
    def begin(self, group: str) -> None:
        with self._reached():
            (self._groups / group).mkdir(parents=True, exist_ok=True)

    @override
    def groups(self) -> list[str]:
        with self._reached(), contextlib.suppress(FileNotFoundError):
            return [path.name for path in self._groups.iterdir()]
        return []

    @override
    def put(self, group: str, key: str, data: bytes) -> None:
        with self._reached():
            write_atomically(self._record(group, key), data)

    @override
    def get(self, group: str, key: str) -> bytes | None:
        with self._reached():
            try:
                return read_regular(self._record(group, key), RECORD_SIZE_MAX)
            except FileNotFoundError:
                (self._groups / group).stat()  # without its group, the store is away
        return None

    @override
    def all(self, group: str) -> dict[str, bytes]:
        with self._reached():
            keys = [path.stem for path in (self._groups / group).iterdir() if path.suffix == ".json"]
        return {key: data for key in keys[:RECORDS_MAX] if (data := self.get(group, key)) is not None}

    @override
    def drop(self, group: str, key: str) -> None:
        with self._reached():
            self._record(group, key).unlink(missing_ok=True)

    @override
    def close(self) -> None:
        """Do nothing: nothing is held open."""

    def _record(self, group: str, key: str) -> Path:
        return self._groups / group / f"{key}.json"

    def _path(self, token: str) -> Path:
        return self._shards / f"{token}{_SUFFIX}"

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UnreachableError(f"{error.filename or self._shards}: {error.strerror or error}") from error

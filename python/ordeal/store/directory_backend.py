"""A folder that members share, on one machine or on a network file system: without locks or mapped files.

``members`` holds a file for each assigned number, ``shards`` one for each member, which only it writes, ``bases`` what
was compacted, and ``leases`` the leases of each failure bucket; ``fleets``, next to all namespaces, a folder for each
group of records. Files may appear late and be listed in any order.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import override

from ordeal._base.trace_file import write_atomically
from ordeal.errors import StoreError
from ordeal.store.backend import (
    BASES_MAX,
    DIGEST,
    LEASE_SECONDS_MAX,
    MEMBERS_MAX,
    RECORD_SIZE_MAX,
    RECORDS_MAX,
    TOKEN_CHARS,
    CountingBackend,
    ReadOnlyStoreError,
    Records,
    ShardName,
    ShardState,
    Span,
    UnreachableError,
    Unreadable,
    new_name,
)

_SUFFIX = ".shard"
_BASE_SUFFIX = ".base"
#: An unfinished base is deleted when nobody has written to it for this long.
_UNFINISHED_SECONDS = 3600.0
#: Errors of a full disk, or of a folder that this user may not write.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
#: The content of a lease: who has it, and until when, in milliseconds.
_LEASE_CHARS = TOKEN_CHARS + 1 + 15
#: An empty lease is being taken, unless it has been empty for this long.
_TAKING_SECONDS = 60.0
#: Each time a lease is taken over from a lost member, it gets a new file.
_LEASE_FILES_MAX = 10_000


class DirectoryBackend(CountingBackend, Records):
    """The folder of one namespace. Owned by one thread."""

    def __init__(self, folder: Path, *, makes: bool = True) -> None:
        """Make the folder if it does not exist, unless ``makes`` is false. A read-only one is accepted.

        Raises:
            StoreError: it cannot be made, or neither be written nor read.
        """
        self._folder = folder
        self._members, self._shards, self._bases, self._leases = (
            folder / name for name in ("members", "shards", "bases", "leases")
        )
        self._groups = folder.parent / "fleets"
        if not makes:
            return
        try:
            self._make_folders()
            with tempfile.TemporaryFile(dir=self._shards):
                pass
        except OSError as error:
            if os.access(self._shards, os.R_OK | os.X_OK):
                return  # joining reports that it cannot be written
            raise StoreError(
                f"the store cannot be written: {error.filename or folder}: {error.strerror or error}",
                hint="name a folder that this user may write, as in `--store dir://shared/ordeal`",
            ) from error

    def identity(self) -> str:
        """Return a text that identifies this namespace of this store."""
        path, token = self._folder / "identity", b""
        with contextlib.suppress(OSError):
            _made(path, new_name().encode())
            token = _read_regular(path, 0, TOKEN_CHARS)
        return f"{self._folder.parent.resolve()} {self._folder.name} {token.decode('ascii', 'replace')}"

    def namespaces(self, number: int) -> list[str]:
        """Return the digests of at most ``number`` namespaces of the store, the one that was joined last first."""
        with self._reached():
            found = [each for each in self._folder.parent.iterdir() if DIGEST.fullmatch(each.name)]
            # Its members make a file there when they join.
            times = {each.name: (each / "members").stat().st_mtime for each in found if (each / "members").is_dir()}
        return sorted(times, key=lambda name: (times[name], name), reverse=True)[:number]

    @override
    def next_number(self) -> int:
        with self._reached():
            self._make_folders()
            return max(_numbers(self._members, MEMBERS_MAX), default=-1) + 1

    @override
    def takes(self, number: int, token: str) -> bool:
        with self._reached():
            self._make_folders()
            path = self._members / f"{number:06}"
            return _made(path, token.encode()) or _read_regular(path, 0, TOKEN_CHARS + 1) == token.encode()

    @override
    def survey(self) -> dict[ShardName, ShardState]:
        states: dict[ShardName, ShardState] = {}
        with self._reached(), os.scandir(self._shards) as files:
            now = time.time()
            for file in files:
                name = ShardName.parse(file.name.removesuffix(_SUFFIX))
                if name is None or not file.name.endswith(_SUFFIX):
                    continue
                # It may be gone by now.
                with contextlib.suppress(FileNotFoundError):
                    status = file.stat(follow_symlinks=False)
                    states[name] = ShardState(status.st_size, now - status.st_mtime)
        return states

    @override
    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        return [self._read(span) for span in spans]

    @override
    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        path = self._path(name)
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
    def bases(self) -> dict[ShardName, int]:
        sizes: dict[ShardName, int] = {}
        with self._reached(), contextlib.suppress(FileNotFoundError), os.scandir(self._bases) as files:
            for file in files:
                name = ShardName.parse(file.name.removesuffix(_BASE_SUFFIX))
                if name is not None and file.name.endswith(_BASE_SUFFIX):
                    with contextlib.suppress(FileNotFoundError):
                        sizes[name] = file.stat(follow_symlinks=False).st_size
        return {name: sizes[name] for name in sorted(sizes, reverse=True)[:BASES_MAX]}

    @override
    def write_base(self, name: ShardName, parts: Iterable[bytes]) -> None:
        path, unfinished = self._base(name), self._bases / f".{name}"
        with self._reached():
            self._bases.mkdir(exist_ok=True)  # the folder may be from an older version
            try:
                descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
                with os.fdopen(descriptor, "wb") as file:
                    file.writelines(parts)
                    file.flush()
                    os.fsync(descriptor)
                unfinished.rename(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
            _sync_folder(self._bases)

    @override
    def remove(self, shards: Collection[ShardName], bases: Collection[ShardName]) -> None:
        with self._reached():
            for path in [*map(self._path, shards), *map(self._base, bases)]:
                path.unlink(missing_ok=True)
            oldest = time.time() - _UNFINISHED_SECONDS
            for path in self._bases.glob(".*"):
                with contextlib.suppress(FileNotFoundError):
                    if path.lstat().st_mtime < oldest:
                        path.unlink()

    @override
    def lease(self, key: str, token: str, seconds: float) -> bool:
        """See ``Backend``. By each machine's clock. Taking over a lease makes a new file, which only one member can."""
        folder = self._leases / key
        now = time.time()
        content = f"{token} {int((now + seconds) * 1000):015}".encode()
        with self._reached():
            folder.mkdir(exist_ok=True)
            last = _last_lease(folder)
            if last >= 0:
                holder, until = _read_lease(folder / str(last))
                if until > now and holder != token:
                    return False
                if until > now:
                    _overwrite(folder / str(last), content)
                    return True
            if last + 1 >= _LEASE_FILES_MAX:
                return False
            return _made(folder / str(last + 1), content)

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
                return _read_regular(self._record(group, key), 0, RECORD_SIZE_MAX + 1)
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

    def _make_folders(self) -> None:
        for folder in (self._members, self._shards, self._bases, self._leases):
            folder.mkdir(parents=True, exist_ok=True)

    def _path(self, name: ShardName) -> Path:
        return self._shards / f"{name}{_SUFFIX}"

    def _base(self, name: ShardName) -> Path:
        return self._bases / f"{name}{_BASE_SUFFIX}"

    def _read(self, span: Span) -> bytes | Unreadable:
        try:
            path = self._base(span.name) if span.is_base else self._path(span.name)
            return _read_regular(path, span.offset, span.size)
        except OSError as error:
            return Unreadable(error.strerror or str(error))

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kind = ReadOnlyStoreError if error.errno in _UNWRITABLE else UnreachableError
            raise kind(f"{error.filename or self._shards}: {error.strerror or error}") from error


def _made(path: Path, content: bytes) -> bool:
    """Make a file if it does not exist; return whether this made it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    except OSError:
        path.unlink(missing_ok=True)  # the disk is full: the incomplete file belongs to nobody
        raise
    finally:
        os.close(descriptor)
    return True


def _sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable, where the file system knows that."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _overwrite(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, content, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_regular(path: Path, offset: int, size: int) -> bytes:
    """Read a part of a file. Raises OSError unless it is a regular file: a pipe would block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)


def _last_lease(folder: Path) -> int:
    """Return the number of the newest file of a lease, -1 if there is none."""
    return max(_numbers(folder, _LEASE_FILES_MAX), default=-1)


def _read_lease(path: Path) -> tuple[str, float]:
    """Return who has a lease, and until when. A malformed one belongs to nobody, and ends when it is old."""
    token, _, until = _read_regular(path, 0, _LEASE_CHARS).decode("ascii", "replace").partition(" ")
    written = path.lstat().st_mtime
    if len(token) == TOKEN_CHARS and until.isdecimal():
        return token, min(int(until) / 1000, written + LEASE_SECONDS_MAX)
    return "", written + _TAKING_SECONDS


def _numbers(folder: Path, below: int) -> Iterator[int]:
    """Yield the numbers that are names of files in ``folder``."""
    with os.scandir(folder) as files:
        for file in files:
            if file.name.isdecimal() and (number := int(file.name)) < below:
                yield number

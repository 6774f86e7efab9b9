"""Paths, descriptors and open files of the simulated file system: Python's own buffers and text layer over it."""

from __future__ import annotations

import errno
import io
import os
import posixpath
from collections.abc import Buffer
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, override

from ordeal.simulate.disk import File, Folder, Resize, Write

#: A FileSystem, which imports this module.
type Files = Any

AnyPath = str | os.PathLike[str]


def absolute(path: AnyPath) -> str:
    """Return the path from the root, without ``.`` and ``..``."""
    return _absolute(os.fspath(path))


@lru_cache(4096)
def _absolute(path: str) -> str:
    # normpath() keeps two leading slashes.
    return "/" + posixpath.normpath(posixpath.join("/", path)).lstrip("/")


def names_of(where: str) -> list[str]:
    """Return the components of an absolute path."""
    return [name for name in where.split("/") if name]


def os_error(code: int, where: str) -> OSError:
    """Return the error of the operating system for a path."""
    return OSError(code, os.strerror(code), where)


#: No operating system uses numbers this high, so a simulated descriptor is never taken for a real one.
FIRST_DESCRIPTOR = 1 << 30

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


@dataclass(eq=False, slots=True)
class Descriptor:
    """One open file or folder, and the offset of the next read or write."""

    where: str
    node: File | Folder
    flags: int
    offset: int = 0

    @property
    def readable(self) -> bool:
        """Whether it was opened for reading."""
        return self.flags & _ACCESS in (os.O_RDONLY, os.O_RDWR)

    @property
    def writable(self) -> bool:
        """Whether it was opened for writing."""
        return self.flags & _ACCESS in (os.O_WRONLY, os.O_RDWR)

    def file(self) -> File:
        """Return the open file. Raises OSError for a folder."""
        if isinstance(self.node, Folder):
            raise os_error(errno.EISDIR, self.where)
        return self.node


class Descriptors:
    """The table of open files. Numbers are not reused, so a stale one never refers to another file."""

    def __init__(self) -> None:
        self._open: dict[int, Descriptor] = {}
        self._next = FIRST_DESCRIPTOR

    def add(self, descriptor: Descriptor) -> int:
        """Add a descriptor; return its number."""
        number = self._next
        self._next += 1
        self._open[number] = descriptor
        return number

    def get(self, number: int) -> Descriptor:
        """Return the descriptor of a number. Raises OSError."""
        if number not in self._open:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._open[number]

    def is_open(self, number: int) -> bool:
        """Return True if the number is open."""
        return number in self._open

    def close(self, number: int) -> None:
        """Remove a number. Raises OSError."""
        self.get(number)
        del self._open[number]

    def forget(self) -> None:
        """Remove everything: the program that opened it is gone."""
        self._open.clear()


def open_descriptor(files: Files, where: str, flags: int) -> int:
    """Open a path as ``os.open`` does. Raises OSError."""
    if flags & os.O_CREAT and flags & os.O_EXCL and files.exists(where):
        raise os_error(errno.EEXIST, where)
    writes = flags & _ACCESS != os.O_RDONLY
    if writes or flags & os.O_CREAT:
        node: File | Folder = files.open_file(where, create=bool(flags & os.O_CREAT))
    else:
        node = files.node(where)
    if flags & os.O_DIRECTORY and isinstance(node, File):
        raise os_error(errno.ENOTDIR, where)
    if writes and flags & os.O_TRUNC and isinstance(node, File) and node.content:
        node.change(Resize(0), files.now_s())
    return int(files.descriptors.add(Descriptor(where, node, flags)))


def read(files: Files, descriptor: Descriptor, size: int) -> bytes:
    """Read up to ``size`` bytes at the descriptor's offset. Raises OSError."""
    file = descriptor.file()
    if not descriptor.readable:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    content = bytes(file.content[descriptor.offset : descriptor.offset + size])
    descriptor.offset += len(content)
    seen: bytes = files.seen(descriptor.where, content)
    return seen


def write(files: Files, descriptor: Descriptor, content: bytes) -> int:
    """Write all of ``content`` at the descriptor's offset, or at the end if it appends. Raises OSError."""
    file = descriptor.file()
    if not descriptor.writable:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    files.check_space(descriptor.where)
    if descriptor.flags & os.O_APPEND:
        descriptor.offset = len(file.content)
    file.change(Write(descriptor.offset, content), files.now_s())
    descriptor.offset += len(content)
    return len(content)


def seek(descriptor: Descriptor, offset: int, whence: int) -> int:
    """Move the descriptor; return its offset. Raises OSError."""
    start = {os.SEEK_SET: 0, os.SEEK_CUR: descriptor.offset, os.SEEK_END: len(descriptor.file().content)}.get(whence)
    if start is None or start + offset < 0:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    descriptor.offset = start + offset
    return descriptor.offset


def resize(files: Files, descriptor: Descriptor, size: int) -> None:
    """Set the size of an open file. Raises OSError."""
    if not descriptor.writable:
        raise os_error(errno.EINVAL, descriptor.where)
    file = descriptor.file()
    if size < 0:
        raise os_error(errno.EINVAL, descriptor.where)
    if size > len(file.content):
        files.check_space(descriptor.where)
    if size != len(file.content):
        file.change(Resize(size), files.now_s())


BUFFER_BYTES = io.DEFAULT_BUFFER_SIZE


class SimulatedFile(io.RawIOBase):
    """The unbuffered layer. After a crash its program is gone: its writes are lost, and it reads nothing."""

    def __init__(self, files: Files, number: int, name: Any, mode: str, closefd: bool) -> None:
        super().__init__()
        self._files = files
        # Not looked up in `files` later, because a reset replaces the table.
        self._descriptors: Descriptors = files.descriptors
        self._number = number
        self._descriptor: Descriptor = self._descriptors.get(number)
        self._closefd = closefd
        self.name = name
        self.mode = mode

    @property
    def _is_gone(self) -> bool:
        return not self._descriptors.is_open(self._number)

    @override
    def fileno(self) -> int:
        self._check_open()
        return self._number

    @override
    def readable(self) -> bool:
        self._check_open()
        return self._descriptor.readable

    @override
    def writable(self) -> bool:
        self._check_open()
        return self._descriptor.writable

    @override
    def seekable(self) -> bool:
        self._check_open()
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        self._check("readable", self.readable())
        view = memoryview(buffer).cast("B")
        content = b"" if self._is_gone else read(self._files, self._descriptor, len(view))
        view[: len(content)] = content
        return len(content)

    @override
    def write(self, content: Buffer, /) -> int:
        self._check("writable", self.writable())
        written = bytes(content)
        return len(written) if self._is_gone else write(self._files, self._descriptor, written)

    @override
    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._check_open()
        return seek(self._descriptor, offset, whence)

    @override
    def tell(self) -> int:
        self._check_open()
        return self._descriptor.offset

    @override
    def truncate(self, size: int | None = None, /) -> int:
        self._check("writable", self.writable())
        wanted = self.tell() if size is None else size
        if not self._is_gone:
            resize(self._files, self._descriptor, wanted)
        return wanted

    @override
    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._closefd and not self._is_gone:
                self._descriptors.close(self._number)

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def _check(self, ability: str, has_it: bool) -> None:
        if not has_it:
            raise io.UnsupportedOperation(f"File not open for {'reading' if ability == 'readable' else 'writing'}")


@lru_cache(256)
def flags_of(mode: str) -> int:
    """Return the flags of ``os.open`` for a mode of ``open``. Raises ValueError for an invalid mode."""
    kinds = [letter for letter in mode if letter in "rwax"]
    if len(kinds) != 1 or set(mode) - set("rwaxbt+") or len(set(mode)) != len(mode) or {"b", "t"} <= set(mode):
        raise ValueError(f"invalid mode: {mode!r}")
    access = os.O_RDWR if "+" in mode else os.O_RDONLY if "r" in mode else os.O_WRONLY
    extra = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "a": os.O_CREAT | os.O_APPEND, "x": os.O_CREAT | os.O_EXCL}
    return access | extra[kinds[0]]


def check_arguments(
    file: object, mode: str, encoding: str | None, errors: str | None, newline: str | None, closefd: bool
) -> None:
    """Raise ValueError for arguments of ``open`` that contradict each other."""
    if "b" in mode and (encoding, errors, newline) != (None, None, None):
        raise ValueError("binary mode doesn't take an encoding, errors or newline argument")
    if not closefd and not isinstance(file, int):
        raise ValueError("Cannot use closefd=False with file name")


def in_layers(
    raw: SimulatedFile, mode: str, buffering: int, encoding: str | None, errors: str | None, newline: str | None
) -> Any:
    """Return what ``open`` returns for a mode: the raw file, or buffers and text over it. Raises ValueError."""
    is_binary = "b" in mode
    if buffering == 0:
        if not is_binary:
            raise ValueError("can't have unbuffered text I/O")
        return raw
    size = buffering if buffering > 1 else BUFFER_BYTES
    buffered: io.BufferedRandom | io.BufferedReader | io.BufferedWriter
    if "+" in mode:
        buffered = io.BufferedRandom(raw, size)
    elif "r" in mode:
        buffered = io.BufferedReader(raw, size)
    else:
        buffered = io.BufferedWriter(raw, size)
    if is_binary:
        return buffered
    text = io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)
    text.mode = mode  # type: ignore[misc]
    return text

"""The files that are open in a simulated file system, by descriptor: where each stands, and what it may do."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Protocol

from ordeal.simulate.disk import File, Folder, Resize, Write
from ordeal.simulate.paths import os_error

#: No operating system hands out numbers this high, so a simulated descriptor is never taken for a real one.
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

    def at(self, offset: int) -> Descriptor:
        """The same at another place, for one read or write. Raises OSError."""
        if offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return Descriptor(self.where, self.node, self.flags, offset)

    def file(self) -> File:
        """The file that is open. Raises OSError for a folder."""
        if isinstance(self.node, Folder):
            raise os_error(errno.EISDIR, self.where)
        return self.node


class Descriptors:
    """The table of what is open. A number is not given twice, so a stale one is never somebody else's."""

    def __init__(self) -> None:
        self._open: dict[int, Descriptor] = {}
        self._next = FIRST_DESCRIPTOR

    def add(self, descriptor: Descriptor) -> int:
        """Enter what was opened; returns its number."""
        number = self._next
        self._next += 1
        self._open[number] = descriptor
        return number

    def get(self, number: int) -> Descriptor:
        """What is open under a number. Raises OSError."""
        if number not in self._open:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._open[number]

    def is_open(self, number: int) -> bool:
        """Whether the number is that of something open."""
        return number in self._open

    def close(self, number: int) -> None:
        """Take a number out. Raises OSError."""
        self.get(number)
        del self._open[number]

    def forget(self) -> None:
        """Take all out: their program is gone."""
        self._open.clear()


class Files(Protocol):
    """What the functions that replace those of the operating system ask of a simulated file system."""

    descriptors: Descriptors

    def exists(self, path: str, /) -> bool:
        """Whether there is anything at ``path``."""

    def node(self, where: str) -> File | Folder:
        """What is there. Raises OSError."""

    def file(self, where: str) -> File:
        """The file there. Raises OSError."""

    def folder(self, where: str) -> Folder:
        """The folder there. Raises OSError."""

    def open_file(self, where: str, *, create: bool) -> File:
        """The file there, made when it is missing and may be made. Raises OSError."""

    def new_folder(self, where: str) -> None:
        """Make a folder. Raises OSError."""

    def make_root(self, where: str) -> None:
        """Make the folder that paths are answered below."""

    def delete(self, path: str, /) -> None:
        """Remove what is there. Raises OSError."""

    def rename(self, source: str, destination: str, /) -> None:
        """Move what is at ``source``. Raises OSError."""

    def is_readonly(self, where: str) -> bool:
        """Whether a fault forbids writing there."""

    def check_space(self, where: str) -> None:
        """Raise OSError where a fault says that the disk is full."""

    def seen(self, where: str, content: bytes) -> bytes:
        """What a reader gets of ``content``: a fault may have damaged it."""

    def sync_node(self, node: File | Folder) -> None:
        """Make what was written to ``node`` survive a crash."""

    def now_s(self) -> float:
        """The time of the file system, in seconds."""


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
    return files.descriptors.add(Descriptor(where, node, flags))


def read(files: Files, descriptor: Descriptor, size: int) -> bytes:
    """Up to ``size`` bytes from where the descriptor stands. Raises OSError."""
    file = descriptor.file()
    if not descriptor.readable:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    content = bytes(file.content[descriptor.offset : descriptor.offset + size])
    descriptor.offset += len(content)
    return files.seen(descriptor.where, content)


def write(files: Files, descriptor: Descriptor, content: bytes) -> int:
    """Put all of ``content`` where the descriptor stands, or at the end when it appends. Raises OSError."""
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
    """Move the descriptor; returns where it stands. Raises OSError."""
    start = {os.SEEK_SET: 0, os.SEEK_CUR: descriptor.offset, os.SEEK_END: len(descriptor.file().content)}.get(whence)
    if start is None or start + offset < 0:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    descriptor.offset = start + offset
    return descriptor.offset


def resize(files: Files, descriptor: Descriptor, size: int) -> None:
    """Set the size of what is open. Raises OSError."""
    if not descriptor.writable:
        raise os_error(errno.EINVAL, descriptor.where)
    resize_file(files, descriptor.where, descriptor.file(), size)


def resize_file(files: Files, where: str, file: File, size: int) -> None:
    """Set the size of a file. Raises OSError."""
    if size < 0:
        raise os_error(errno.EINVAL, where)
    if size > len(file.content):
        files.check_space(where)
    if size != len(file.content):
        file.change(Resize(size), files.now_s())

"""The open files of a simulated file system, by descriptor: their offsets and access modes."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Protocol

from ordeal.simulate.disk import File, Folder, Resize, Write
from ordeal.simulate.paths import os_error

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

    def at(self, offset: int) -> Descriptor:
        """Return the same descriptor at another offset, for one read or write. Raises OSError."""
        if offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return Descriptor(self.where, self.node, self.flags, offset)

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
        """Return whether the number is open."""
        return number in self._open

    def close(self, number: int) -> None:
        """Remove a number. Raises OSError."""
        self.get(number)
        del self._open[number]

    def forget(self) -> None:
        """Remove everything: the program that opened it is gone."""
        self._open.clear()


class Files(Protocol):
    """What the replaced functions of the operating system need of a simulated file system."""

    descriptors: Descriptors

    def exists(self, path: str, /) -> bool:
        """Return whether there is anything at ``path``."""

    def node(self, where: str) -> File | Folder:
        """Return what is there. Raises OSError."""

    def file(self, where: str) -> File:
        """Return the file there. Raises OSError."""

    def folder(self, where: str) -> Folder:
        """Return the folder there. Raises OSError."""

    def open_file(self, where: str, *, create: bool) -> File:
        """Return the file there; with ``create``, make a missing one. Raises OSError."""

    def new_folder(self, where: str) -> None:
        """Make a folder. Raises OSError."""

    def make_root(self, where: str) -> None:
        """Make the root folder of a patch."""

    def delete(self, path: str, /) -> None:
        """Remove what is there. Raises OSError."""

    def rename(self, source: str, destination: str, /) -> None:
        """Move what is at ``source``. Raises OSError."""

    def is_readonly(self, where: str) -> bool:
        """Return whether a fault forbids writing there."""

    def check_space(self, where: str) -> None:
        """Raise OSError if a fault says that the disk is full or broken."""

    def check_works(self, where: str) -> None:
        """Raise OSError if a fault says that the disk is broken."""

    def seen(self, where: str, content: bytes) -> bytes:
        """Return what a reader gets of ``content``, which a fault may damage. Raises OSError."""

    def sync_node(self, node: File | Folder) -> None:
        """Make what was written to ``node`` survive a crash."""

    def now_s(self) -> float:
        """Return the time of the file system, in seconds."""


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
    """Read up to ``size`` bytes at the descriptor's offset. Raises OSError."""
    file = descriptor.file()
    if not descriptor.readable:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    content = bytes(file.content[descriptor.offset : descriptor.offset + size])
    descriptor.offset += len(content)
    return files.seen(descriptor.where, content)


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
    resize_file(files, descriptor.where, descriptor.file(), size)


def resize_file(files: Files, where: str, file: File, size: int) -> None:
    """Set the size of a file. Raises OSError."""
    if size < 0:
        raise os_error(errno.EINVAL, where)
    if size > len(file.content):
        files.check_space(where)
    if size != len(file.content):
        file.change(Resize(size), files.now_s())

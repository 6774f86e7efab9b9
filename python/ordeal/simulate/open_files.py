"""The file objects that ``open`` returns in the simulated file system: Python's own buffers and text layer over it."""

from __future__ import annotations

import io
import os
from collections.abc import Buffer
from functools import lru_cache
from typing import Any, override

from ordeal.simulate import descriptors

BUFFER_BYTES = io.DEFAULT_BUFFER_SIZE


class SimulatedFile(io.RawIOBase):
    """The unbuffered layer. After a crash its program is gone: its writes are lost, and it reads nothing."""

    def __init__(self, files: descriptors.Files, number: int, name: Any, mode: str, closefd: bool) -> None:
        super().__init__()
        self._files = files
        # Not looked up in `files` later, because a reset replaces the table.
        self._descriptors = files.descriptors
        self._number = number
        self._descriptor = self._descriptors.get(number)
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
        content = b"" if self._is_gone else descriptors.read(self._files, self._descriptor, len(view))
        view[: len(content)] = content
        return len(content)

    @override
    def write(self, content: Buffer, /) -> int:
        self._check("writable", self.writable())
        written = bytes(content)
        return len(written) if self._is_gone else descriptors.write(self._files, self._descriptor, written)

    @override
    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._check_open()
        return descriptors.seek(self._descriptor, offset, whence)

    @override
    def tell(self) -> int:
        self._check_open()
        return self._descriptor.offset

    @override
    def truncate(self, size: int | None = None, /) -> int:
        self._check("writable", self.writable())
        wanted = self.tell() if size is None else size
        if not self._is_gone:
            descriptors.resize(self._files, self._descriptor, wanted)
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

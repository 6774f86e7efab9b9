"""Reads files that somebody else may have put there: none but regular ones, and no more of them than is wanted."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, size_max: int) -> bytes:
    """The content of a file; of a larger one, a byte more than ``size_max``.

    Raises:
        OSError: it cannot be read, or is something that may have no end: a pipe, a device. Its ``strerror`` says so.
    """
    with open(path, "rb", opener=_opened) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read(min(status.st_size, size_max) + 1)


def _opened(path: str, flags: int) -> int:
    # To open a pipe would wait for somebody to write to it.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

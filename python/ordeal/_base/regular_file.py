"""Reads files that anybody may have put there: only regular ones, and no more bytes than wanted."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, size_max: int) -> bytes:
    """Return the content of a file; of a larger one, one byte more than ``size_max``.

    Raises:
        OSError: it cannot be read, or may have no end, like a pipe or a device. Its ``strerror`` says so.
    """
    with open(path, "rb", opener=_opened) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read(min(status.st_size, size_max) + 1)


def _opened(path: str, flags: int) -> int:
    # Otherwise opening a pipe would wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))

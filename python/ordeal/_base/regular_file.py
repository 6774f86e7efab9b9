"""Reads files that anybody may have put there: only regular ones, and no more bytes than wanted."""

from __future__ import annotations

import errno
import io
import os
import stat
import tokenize

from ordeal._base.limits import SOURCE_BYTES_MAX


def read_whole(path: str | os.PathLike[str], size_max: int = SOURCE_BYTES_MAX) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: it cannot be read, has more than ``size_max`` bytes, or may have no end, like a pipe or a device.
    """
    data = read_regular(path, size_max)
    if len(data) > size_max:
        raise OSError(errno.EFBIG, f"it is larger than {size_max} bytes", str(path))
    return data


def source_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a Python file, in the encoding that it declares.

    Raises:
        OSError: as ``read_whole``.
        SyntaxError: it declares an unknown encoding.
        ValueError: it is not in that encoding.
    """
    data = read_whole(path)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()


def read_regular(path: str | os.PathLike[str], size_max: int, offset: int = 0) -> bytes:
    """Return the content of a file from ``offset`` on; of a larger one, one byte more than ``size_max``.

    Raises:
        OSError: it cannot be read, or may have no end, like a pipe or a device. Its ``strerror`` says so.
    """
    with open(path, "rb", opener=opened_at_once) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        file.seek(offset)
        return file.read(min(max(0, status.st_size - offset), size_max) + 1)


def opened_at_once(path: str, flags: int) -> int:
    """Open a file for ``open``. A pipe would wait for its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def real_path(path: str, folder: str = "") -> str:
    """Return ``path`` as an absolute path without links; unchanged if no file can have it, or the folder is gone.

    A relative path is resolved against ``folder``, or against the present working folder.
    """
    path = os.path.join(folder, path)  # noqa: PTH118 - what code names as its file need not be a path
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # code may name as its file what no file can be called
        return path

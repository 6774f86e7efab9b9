"""Finds what forks would share with this process: files open for writing, connections to servers."""

from __future__ import annotations

import fcntl
import os
import socket
import stat

#: Kept, because programs may replace the name.
_Socket = socket.SocketType

#: A file or connection of this process: the device and the number on it.
Opened = tuple[int, int]


def shared_files() -> dict[Opened, str]:
    """Return files open for writing and connections to servers, with a description. Empty if the system lists none.

    Sockets without a path are left out: both ends of such a pair are in this process or its forks.
    """
    found: dict[Opened, str] = {}
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 - a Path makes one for each
    except OSError:
        return found
    for number in numbers:
        try:
            status = os.fstat(number)
            file = status.st_dev, status.st_ino
            if stat.S_ISREG(status.st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                found[file] = "a file that is open for writing"
            elif stat.S_ISSOCK(status.st_mode) and _is_connection(number):
                found[file] = "a connection to a server"
        except OSError:
            continue  # such as the one with which the folder was read
    return found


def _is_connection(number: int) -> bool:
    opened = _Socket(fileno=os.dup(number))
    try:
        # Names that Linux itself gives to a pair are bytes.
        return opened.family != socket.AF_UNIX or _is_path(opened.getsockname()) or _is_path(opened.getpeername())
    finally:
        opened.close()


def _is_path(name: str | bytes) -> bool:
    return isinstance(name, str) and name != ""

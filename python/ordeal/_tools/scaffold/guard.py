"""Keeps code on trial from harm: refuses files, processes, threads and connections, and limits time and memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ordeal._base.limits import CHILD_MEMORY_MIB, MEBIBYTE
from ordeal._base.memory_limit import limit_memory

FILE_BYTES_MAX = 64 << 20

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
#: The audit events of Python that a method must not cause while it is tried.
_REFUSED = {
    "os.remove": "deletes files",
    "os.rename": "renames files",
    "os.rmdir": "deletes folders",
    "os.mkdir": "makes folders",
    "os.link": "makes links",
    "os.symlink": "makes links",
    "os.truncate": "truncates files",
    "os.chmod": "changes the rights of files",
    "os.chown": "changes the owner of files",
    "os.system": "starts a process",
    "os.exec": "replaces the process",
    "os.fork": "forks",
    "os.forkpty": "forks",
    "os.posix_spawn": "starts a process",
    "os.kill": "sends signals",
    "os.killpg": "sends signals",
    "subprocess.Popen": "starts a process",
    "shutil.rmtree": "deletes folders",
    "socket.connect": "opens a connection",
    "socket.bind": "listens on a port",
    "socket.sendto": "sends to the network",
    "socket.getaddrinfo": "asks for an address on the network",
    "sqlite3.connect": "opens a database",
    "_thread.start_new_thread": "starts a thread",
    "_thread.start_joinable_thread": "starts a thread",
    "time.sleep": "sleeps",
    "builtins.input": "reads from the terminal",
}


class ForbiddenError(Exception):
    """The code under trial does something forbidden."""


class CallTimeoutError(BaseException):
    """A call takes too long."""


#: The audit events that a call may cause in its own folder, and how many of their arguments are paths.
_IN_A_FOLDER = {
    "open": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.link": 2,
    "os.truncate": 1,
    "os.chmod": 1,
    "shutil.rmtree": 1,
    "sqlite3.connect": 1,
}
_WRITES = "writes files"
#: The reasons for a refusal that a separate folder may help against.
ABOUT_FILES = frozenset({_WRITES, *(reason for event in _IN_A_FOLDER if (reason := _REFUSED.get(event)))})


class AuditWatch:
    """What the audit hook does: it refuses while a call is tried, and remembers why.

    In ``folder``, if there is one, the call may do with files what it likes.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.reason = ""
        self.folder = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        reason = _REFUSED.get(event)
        if event == "open" and _writes(arguments):
            reason = _WRITES
        if event == "sqlite3.connect" and arguments[:1] in ((":memory:",), (b":memory:",), ("",)):
            reason = None  # nothing outside this process sees it
        if reason and not (self.folder and self._is_inside(event, arguments)):
            self.reason = reason
            raise ForbiddenError(reason)

    def _is_inside(self, event: str, arguments: tuple[Any, ...]) -> bool:
        given = arguments[: _IN_A_FOLDER.get(event, 0)]
        try:
            paths = [Path(os.fsdecode(each)) for each in given]
            # A relative path may be relative to an open folder, and then does not show where it leads.
            inside = [path.is_absolute() and path.resolve().is_relative_to(self.folder) for path in paths]
        except (TypeError, ValueError, OSError, RuntimeError):
            return False
        return bool(inside) and all(inside)


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = (*arguments, None, None, None)[:3]
    if path in (os.devnull, "/dev/null"):
        return False
    return bool(isinstance(mode, str) and set(mode) & set("wax+")) or bool(isinstance(flags, int) and flags & _WRITING)


WATCH = AuditWatch()


def _ring(_number: int, _frame: object) -> None:
    raise CallTimeoutError


def bounded(call: Callable[[], Any]) -> Any:
    """Call under the watch and with a time limit; raises ``TooLongError`` and ``RefusedError``."""
    WATCH.is_on, WATCH.reason = True, ""
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.05)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        WATCH.is_on = False


def limit_process(seconds: float) -> None:
    """Set the limits of this process, from now on."""
    limit_memory(CHILD_MEMORY_MIB * MEBIBYTE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
    most = int(seconds) + 10
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 2))
    signal.signal(signal.SIGALRM, _ring)
    sys.addaudithook(WATCH)
    sys.dont_write_bytecode = True

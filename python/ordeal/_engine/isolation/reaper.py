"""Stands between a process and the fork in which code under test runs: what that leaves behind ends with it.

A process that loses its parent gets another one: the nearest ancestor that has asked for such. A reaper has, so all
that comes of the fork stays below it, also what has left its process group and its session, as daemons do. It runs no
code of the user's and has no other children, so it can end all that it has.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from time import sleep
from typing import NoReturn

from ordeal import _native
from ordeal._native import monotonic

#: So large is what a reaper and its parent share.
NOTE_BYTES = 16
#: Ending all processes may take so long, where one forks others faster than they are ended, or must not be ended.
END_SECONDS_MAX = 2.0
_NOTE = struct.Struct("<iii")  # the fork, whether it has ended, how
#: What a reaper ends by: that it is to, and that its parent has ended.
_CALLS = (signal.SIGTERM, _native.ORPHANED_SIGNAL)


def fork_of(note: mmap) -> int:
    """The process that the reaper guards, 0 while there is none."""
    process, _, _ = _NOTE.unpack_from(note)
    return int(process)


def end_of(note: mmap) -> int | None:
    """How that process has ended, as an exit code, or the negative number of a signal."""
    _, ended, code = _NOTE.unpack_from(note)
    return int(code) if ended else None


def guard(parent: int, note: mmap) -> int:
    """Fork, and guard the fork until it ends, ``parent`` does, or SIGTERM comes; only in the fork this returns.

    All signals must be blocked. The number that comes back is that of the reaper, the parent of the fork.
    """
    process = -1
    try:
        os.setpgid(0, 0)  # what the fork sends to its group is not for the reaper
        if not _native.die_with(parent, group=True) or not _native.keep_orphans():
            os._exit(1)
        reaper = os.getpid()
        # Where a program ignores it, nobody would hear of the end of a child.
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGCHLD, before)
            return reaper
        _guard(process, note)
    finally:
        if process:
            os._exit(1)


def _guard(process: int, note: mmap) -> NoReturn:
    gc.disable()  # what it would find is the user's
    with suppress(OSError):
        os.setpgid(process, process)  # here as well: it may not have come so far
    _NOTE.pack_into(note, 0, process, 0, 0)
    while not _has_ended(process) and signal.sigwait((signal.SIGCHLD, *_CALLS)) == signal.SIGCHLD:
        _wait_for_strangers(process)
    _end_all(process, note)
    os._exit(0)


def _has_ended(process: int) -> bool:
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _wait_for_strangers(process: int) -> None:
    """Have no processes remain of which the fork has lost sight and that have ended."""
    for child in _children():
        if child != process:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


def _end_all(process: int, note: mmap) -> None:
    # All of the group at once, while nobody else can have its number: what forks all the time must not get away.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)  # it may have gone to another group
    deadline = monotonic() + END_SECONDS_MAX
    while monotonic() < deadline:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == process:
            _NOTE.pack_into(note, 0, process, 1, os.waitstatus_to_exitcode(status))
        elif not ended:
            _kill(_children())
            sleep(0.0005)


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def _children() -> list[int]:
    """The processes whose parent this one is: their own are so as well once they have ended."""
    here = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/self/task/{here}/children").read_text().split()]
    except OSError:  # a kernel that keeps no such list
        return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _parent(path) == here]


def _parent(process: Path) -> int:
    try:
        _, _, rest = (process / "stat").read_bytes().rpartition(b") ")
    except OSError:
        return 0  # it has ended
    return int(rest.split()[1])

"""Stands between a process and the fork that runs code under test, and ends everything that the fork leaves behind.

A process that loses its parent is adopted by the nearest ancestor that asked for this (Linux: a child subreaper). A
reaper asks for it, so all descendants of the fork stay below it, even daemons that left its process group and its
session. It runs no code of the user's and has no other children, so it can end all of its children.
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

import ordeal._native as _native
from ordeal._engine.isolation.watched_clock import WatchedClock

#: Size of the memory that a reaper shares with its parent.
NOTE_BYTES = 16
#: Time limit for ending all processes: some may fork faster than they are ended, or may not be killed.
END_SECONDS_MAX = 2.0
_NOTE = struct.Struct("<iii")  # the fork, whether it has ended, how
#: The signals that end a reaper: a request to do so, and the end of its parent.
_CALLS = (signal.SIGTERM, _native.ORPHANED_SIGNAL)


def fork_of(note: mmap) -> int:
    """Return the process that the reaper guards, 0 while there is none."""
    process, _, _ = _NOTE.unpack_from(note)
    return int(process)


def end_of(note: mmap) -> int | None:
    """Return how that process ended: its exit code, or the negative number of a signal."""
    _, ended, code = _NOTE.unpack_from(note)
    return int(code) if ended else None


def guard(parent: int, note: mmap) -> int:
    """Fork, and guard the fork until it ends, ``parent`` ends, or SIGTERM comes. Returns only in the fork.

    All signals must be blocked. Returns the process id of the reaper, the parent of the fork.
    """
    process = -1
    try:
        os.setpgid(0, 0)  # signals that the fork sends to its group must not reach the reaper
        if not _native.die_with(parent, group=True) or not _native.keep_orphans():
            os._exit(1)
        reaper = os.getpid()
        # If the program ignored it, the end of a child would go unnoticed.
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
    gc.disable()  # it would collect the user's objects
    with suppress(OSError):
        os.setpgid(process, process)  # here as well: the fork may not have done so yet
    _NOTE.pack_into(note, 0, process, 0, 0)
    while not _has_ended(process) and signal.sigwait((signal.SIGCHLD, *_CALLS)) == signal.SIGCHLD:
        _wait_for_strangers(process)
    _end_all(process, note)
    os._exit(0)


def _has_ended(process: int) -> bool:
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _wait_for_strangers(process: int) -> None:
    """Reap processes that the fork orphaned and that have ended."""
    for child in _children():
        if child != process:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


def _end_all(process: int, note: mmap) -> None:
    # The whole group at once, while its number cannot be reused: a process that forks all the time must not escape.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)  # it may have moved to another group
    clock = WatchedClock()
    while clock.seconds() < END_SECONDS_MAX:
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
    """Return the processes whose parent is this one, including zombies."""
    here = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/self/task/{here}/children").read_text().split()]
    except OSError:  # a kernel without this list
        return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _parent(path) == here]


def _parent(process: Path) -> int:
    try:
        return int(stat_fields(process)[1])
    except OSError:
        return 0  # the process has ended


def stat_fields(task: Path) -> list[bytes]:
    """Return what the system tells of a process or thread, from its state on: its name, before that, may hold anything.

    Raises:
        OSError: it has ended.
    """
    return (task / "stat").read_bytes().rpartition(b") ")[2].split()

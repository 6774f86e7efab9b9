"""A supervised fork: a process that runs code under test with what is loaded here, and how it ended.

``call_in_fork`` makes one call, ``Child`` runs a process that talks for longer. ``_base.interpreter`` says when to use
a fresh interpreter instead.

A reaper stands between this process and the fork, and ends everything that the fork leaves behind. A process that
loses its parent is adopted by the nearest ancestor that asked for this (Linux: a child subreaper). A reaper asks for
it, so all descendants of the fork stay below it, even daemons that left its process group and its session. It runs no
code of the user's and has no other children, so it can end all of its children.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import select
import signal
import struct
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import takewhile
from mmap import mmap
from pathlib import Path
from time import sleep
from typing import NoReturn

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._base.limits import KILL_SECONDS, LOOK_SECONDS, MEBIBYTE, TEXT_CHARS_MAX
from ordeal._base.memory_limit import limit_memory
from ordeal._base.untrusted import use_journal
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.hangs import WatchedClock
from ordeal._native import monotonic

#: Time that a process may take to end after closing its channel.
END_SECONDS_MAX = 0.5
#: The exit code of a process that cannot report because the code under test closed its channel.
CUT_OFF = 78
#: What ends a fork, also where the program has replaced ``os._exit``: a fork that went on would search, and fork, too.
leave = os._exit
#: Stands for the exit code of a process that another program has replaced: how that ends says nothing of this one.
REPLACED = 256
#: Linux has this flag for a process that was forked, until another program replaces it.
_FORKED = 0x40
#: What a reaper shares with its parent: the fork, whether it has ended, how.
_NOTE = struct.Struct("<iii")
#: The signals that end a reaper: a request to do so, and the end of its parent.
_CALLS = (signal.SIGTERM, _native.ORPHANED_SIGNAL)

#: What a process runs: it reports through the channel, and writes its runs to the journal.
Job = Callable[[Channel, _native.Journal], None]


class ChildExit(msgspec.Struct, frozen=True):
    """How a process ended: with an exit code, or by a signal. ``is_unknown`` when its reaper ended with it."""

    code: int = 0
    signal: int = 0
    stacks: str = ""  # what Python printed on a fatal signal
    is_unknown: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether it ended normally."""
        return not self.code and not self.signal

    @property
    def how(self) -> str:
        """What follows "ended the process" in a sentence about the code that did so."""
        if self.code == REPLACED:
            return "by replacing it with another program"
        if not self.signal:
            return f"with exit code {self.code}"
        names = {number.value: number.name for number in signal.Signals}
        return f"by {names.get(self.signal, f'signal {self.signal}')}"


class Limits(msgspec.Struct, frozen=True):
    """The resource limits of a process. ``memory`` is in bytes, 0 for no limit."""

    memory: int = 0


class Child:
    """Runs ``job`` in a fork of this process, with a channel to this one. Owned by one thread, which must reap it.

    A reaper stands between the two: all processes that the job starts end with it, and with this process. Output of the
    job is dropped.

    Attributes:
        channel: receives what the job sends.
        journal: shared memory in which the process keeps the choices of its run, if it runs something.
        reaper: the child of this process, and parent of the process that runs the job.
    """

    def __init__(self, job: Job, limits: Limits) -> None:
        self.journal = mmap(-1, MEBIBYTE)
        journal = _native.Journal(self.journal)
        self.channel, there = Channel.pair()
        self._stacks = os.memfd_create("stacks")
        self._note = mmap(-1, _NOTE.size)
        self.exit_status: ChildExit | None = None
        self._is_silent = self._is_closed = False
        self._looks_at = 0.0  # when to look next whether another program has replaced the fork
        flush_output()
        parent = os.getpid()
        # No signal may reach a fork before it has set its handlers.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            with warnings.catch_warnings():
                # Threads of the exploring program do not survive the fork; it does not need them.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.reaper = os.fork()
                if self.reaper == 0:
                    self.channel.close()
                    reaper = _guard(parent, self._note)
                    _be_child(job, there, journal, self._stacks, reaper, blocked, limits)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        there.close()
        # A process that stops in the middle of a message counts as lost.
        self.channel.set_timeout(5.0)
        self._handle = os.pidfd_open(self.reaper)

    def fileno(self) -> int:
        """Return a descriptor that is readable once the process has ended."""
        return self._handle

    def messages(self) -> list[list[Value]]:
        """Return the messages received by now. At the end of the channel, or on an invalid message, end the process."""
        said: list[list[Value]] = []
        try:
            while not self._is_silent and self.channel.has_message():
                said.append(self.channel.receive())
        except ChannelError:
            self._is_silent = True
            self.wait(END_SECONDS_MAX)
        return said

    def has_ended(self) -> bool:
        """Return True if the process and all that it started have ended. What has replaced it is ended here."""
        if self.exit_status is None:
            if self._is_over(0):
                self._reap()
            elif monotonic() >= self._looks_at:
                self._looks_at = monotonic() + LOOK_SECONDS
                if has_been_replaced(_NOTE.unpack_from(self._note)[0], parent=self.reaper):
                    self.kill()
        return self.exit_status is not None

    def kill(self) -> None:
        """End the process and all that it started."""
        if self.exit_status is None:
            # The code under test may have stopped the reaper.
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
            # The reaper ends all processes that it guards first.
            if not self._is_over(KILL_SECONDS + 1.0):
                self._signal(signal.SIGKILL)
                self._is_over(KILL_SECONDS + 1.0)
            self._reap()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def _is_over(self, seconds: float) -> bool:
        watched = select.poll()
        watched.register(self._handle, select.POLLIN)
        clock = WatchedClock()
        while not watched.poll(min(seconds, LOOK_SECONDS) * 1_000):
            if clock.seconds() >= seconds:
                return False
        return True

    def _reap(self) -> None:
        status = 0
        with suppress(ChildProcessError):  # where the program ignores SIGCHLD, there is nothing to wait for
            _, status = os.waitpid(self.reaper, 0)
        fork, has_ended, code = _NOTE.unpack_from(self._note)
        if not has_ended:
            # The reaper itself was killed, and left behind what it guarded.
            code = os.waitstatus_to_exitcode(status)
            if fork:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(fork, signal.SIGKILL)
        stacks = os.pread(self._stacks, TEXT_CHARS_MAX, 0).decode(errors="replace").splitlines()
        # The innermost call comes first, and those of this package last.
        own = f'File "{Path(__file__).parents[2]}{os.sep}'
        of_user = "\n".join(takewhile(lambda line: own not in line, stacks))
        self.exit_status = ChildExit(max(code, 0), max(-code, 0), of_user, not has_ended)

    def close(self) -> None:
        """End the process if it still runs, and release its resources. Unread messages are lost."""
        self.kill()
        if not self._is_closed:
            self._is_closed = self._is_silent = True
            self.channel.close()
            os.close(self._handle)
            os.close(self._stacks)

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended; after ``seconds``, end it."""
        if self.exit_status is None:
            self._is_over(seconds)
        if not self.has_ended():
            self.kill()


def wait_for(children: Iterable[Child], seconds: float) -> None:
    """Wait at most ``seconds`` until one of ``children``, none of them closed, has a message or has ended."""
    watched = select.poll()
    for child in children:
        watched.register(child.channel, select.POLLIN)
        watched.register(child, select.POLLIN)
    watched.poll(seconds * 1_000)


class Called(msgspec.Struct, frozen=True):
    """What became of a call in a fork: its ``answer`` is None where ``problem`` says why it did not return."""

    answer: Value = None
    problem: str = ""
    is_late: bool = False


def can_supervise() -> bool:
    """Return True if this system can supervise a fork: Linux can."""
    return hasattr(os, "pidfd_open")


def call_in_fork(function: Callable[[], Value], seconds: float, limits: Limits) -> Called:
    """Call ``function`` without arguments in a fork, and return its result, a plain value.

    What it prints is dropped. After ``seconds`` it is killed, with all processes that it started.

    Raises:
        OSError: no process can be started.
    """

    def job(channel: Channel, _journal: _native.Journal) -> None:
        try:
            answer = function()
        except BaseException as error:  # noqa: BLE001  # any error means that it did not return
            channel.send(False, f"raised {describe_error(error)}")
        else:
            channel.send(True, answer)

    child = Child(job, limits)
    try:
        deadline = monotonic() + seconds
        while not (messages := child.messages()) and not child.has_ended() and (left := deadline - monotonic()) > 0:
            wait_for([child], left)
        for message in messages or child.messages():
            child.wait(END_SECONDS_MAX)
            match message:
                case [True, answer]:
                    return Called(answer)
                case [False, str(problem)]:
                    return Called(problem=problem)
        if child.exit_status is None:
            return Called(problem=f"did not return within {seconds:g} s", is_late=True)
        return Called(problem=f"ended its process {child.exit_status.how}")
    finally:
        child.close()


def _be_child(
    job: Job,
    channel: Channel,
    journal: _native.Journal,
    stacks: int,
    parent: int,
    blocked: set[int | signal.Signals],
    limits: Limits,
) -> NoReturn:
    code = 1
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        if _native.die_with(parent, group=True):
            # Ctrl-C and SIGTERM are left to the supervisor, which decides what they mean.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.close(nothing)
            streams = (os.fdopen(stream, mode, closefd=False) for stream, mode in enumerate("rww"))
            sys.stdin, sys.stdout, sys.stderr = streams
            faulthandler.enable(stacks, all_threads=False)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limits.memory:
                limit_memory(limits.memory)
            gc.freeze()  # these objects are the supervisor's: collecting them would only copy its memory
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            journal.own()
            use_journal(journal)
            job(channel, journal)
            code = 0
    except ChannelError:
        code = CUT_OFF  # this process would have ended with the one at the other end
    finally:
        # Wait neither for threads of the code under test nor for its exit handlers.
        leave(code)


def flush_output() -> None:
    """Flush buffers that a fork would write as well."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _guard(parent: int, note: mmap) -> int:
    """Fork, and guard the fork until it ends, ``parent`` ends, or SIGTERM comes. Returns only in the fork.

    All signals must be blocked. Returns the process id of the reaper, the parent of the fork.
    """
    process = -1
    try:
        os.setpgid(0, 0)  # signals that the fork sends to its group must not reach the reaper
        if not _native.die_with(parent, group=True) or not _native.keep_orphans():
            leave(1)
        reaper = os.getpid()
        # If the program ignored it, the end of a child would go unnoticed.
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGCHLD, before)
            return reaper
        _watch_fork(process, note)
    finally:
        if process:
            leave(1)


def _watch_fork(process: int, note: mmap) -> NoReturn:
    gc.disable()  # it would collect the user's objects
    with suppress(OSError):
        os.setpgid(process, process)  # here as well: the fork may not have done so yet
    _NOTE.pack_into(note, 0, process, 0, 0)
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if signal.sigwait((signal.SIGCHLD, *_CALLS)) != signal.SIGCHLD:
            break
        # Reap processes that the fork orphaned and that have ended.
        for child in _children():
            if child != process:
                with suppress(ChildProcessError):
                    os.waitpid(child, os.WNOHANG)
    is_replaced = has_been_replaced(process, parent=os.getpid())
    # The whole group at once, while its number cannot be reused: a process that forks all the time must not escape.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)  # it may have moved to another group
    clock = WatchedClock()
    while clock.seconds() < KILL_SECONDS:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if ended == process:
            _NOTE.pack_into(note, 0, process, 1, REPLACED if is_replaced else os.waitstatus_to_exitcode(status))
        elif not ended:
            for child in _children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            sleep(0.0005)
    leave(0)


def _children() -> list[int]:
    """Return the processes whose parent is this one, including zombies."""
    here = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/self/task/{here}/children").read_text().split()]
    except OSError:  # a kernel without this list
        children = []
        for path in Path("/proc").iterdir():
            with suppress(OSError):  # one that has ended
                if path.name.isdigit() and int(stat_fields(path)[1]) == here:
                    children.append(int(path.name))
        return children


def has_been_replaced(process: int, *, parent: int) -> bool:
    """Return True if another program has replaced ``process``, a fork of ``parent``, which is a fork itself."""
    try:
        ours, its = (int(stat_fields(Path("/proc", str(each)))[6]) for each in (parent, process))
    except OSError:
        return False
    return bool(ours & ~its & _FORKED)


def stat_fields(task: Path) -> list[bytes]:
    """Return what the system reports on a process or thread, from its state on: the name before it may hold anything.

    Raises:
        OSError: it has ended.
    """
    return (task / "stat").read_bytes().rpartition(b") ")[2].split()

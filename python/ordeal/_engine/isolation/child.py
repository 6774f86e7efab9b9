"""A forked process that runs code under test, and how it ended."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import takewhile
from mmap import mmap
from pathlib import Path
from typing import NoReturn

import msgspec

import ordeal._native as _native
from ordeal._base.untrusted import use_journal
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.measured import Measured
from ordeal._engine.isolation.reaper import NOTE_BYTES, end_of, fork_of, guard
from ordeal._engine.isolation.watched_clock import WatchedClock

#: Time limit for one message: a process that stops in the middle of one counts as lost.
MESSAGE_SECONDS_MAX = 5.0
#: Time that a process may take to end after closing its channel.
END_SECONDS_MAX = 0.5
#: Time that a reaper may take to end all processes that it guards.
GUARDED_SECONDS_MAX = 3.0
#: Time of one look at whether a process has ended.
LOOK_SECONDS = 0.1
#: Size of the journal; a longer tape is cut there.
JOURNAL_BYTES = 1 << 20
#: How much is read of what Python prints on a fatal signal.
STACKS_BYTES_MAX = 1 << 16


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
        self.journal = mmap(-1, JOURNAL_BYTES)
        journal = _native.Journal(self.journal)
        self.channel, there = Channel.pair()
        self._stacks = os.memfd_create("stacks")
        self._note = mmap(-1, NOTE_BYTES)
        self.exit_status: ChildExit | None = None
        self._is_silent = self._is_closed = False
        _flush()
        # No signal may reach a fork before it has set its handlers.
        self._measured = Measured()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self.reaper = self._fork(job, there, journal, blocked, limits)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        there.close()
        self.channel.set_timeout(MESSAGE_SECONDS_MAX)
        self._handle = os.pidfd_open(self.reaper)

    def _fork(
        self, job: Job, there: Channel, journal: _native.Journal, blocked: set[int | signal.Signals], limits: Limits
    ) -> int:
        parent = os.getpid()
        with warnings.catch_warnings():
            # Threads of the exploring program do not survive the fork; it does not need them.
            warnings.simplefilter("ignore", DeprecationWarning)
            reaper = os.fork()
            if reaper == 0:
                self.channel.close()
                reaper = guard(parent, self._note)
                _be_child(_measured(job, self._measured), there, journal, self._stacks, reaper, blocked, limits)
        return reaper

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
        """Return whether the process and all that it started have ended."""
        if self.exit_status is None and self._is_over(0):
            self._reap()
        return self.exit_status is not None

    def kill(self) -> None:
        """End the process and all that it started."""
        if self.exit_status is None:
            # The code under test may have stopped the reaper.
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
            if not self._is_over(GUARDED_SECONDS_MAX):
                self._signal(signal.SIGKILL)
                self._is_over(GUARDED_SECONDS_MAX)
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
        code = end_of(self._note)
        is_unknown = code is None
        if code is None:
            # The reaper itself was killed, and left behind what it guarded.
            code = os.waitstatus_to_exitcode(status)
            if fork := fork_of(self._note):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(fork, signal.SIGKILL)
        stacks = _of_the_user(os.pread(self._stacks, STACKS_BYTES_MAX, 0).decode(errors="replace"))
        self._measured.join()
        self.exit_status = ChildExit(max(code, 0), max(-code, 0), stacks, is_unknown)

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


def _measured(job: Job, measured: Measured) -> Job:
    def run(channel: Channel, journal: _native.Journal) -> None:
        measurement = measured.begin()
        try:
            job(channel, journal)
        finally:
            measured.end(measurement)

    return run


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
            _prepare(stacks, limits)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            journal.own()
            use_journal(journal)
            job(channel, journal)
            code = 0
    except ChannelError:
        pass  # nobody is left to report to
    finally:
        # Wait neither for threads of the code under test nor for its exit handlers.
        os._exit(code)


def _prepare(stacks: int, limits: Limits) -> None:
    # Ctrl-C and SIGTERM are left to the supervisor, which decides what they mean.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(stream, mode, closefd=False) for stream, mode in enumerate("rww"))
    faulthandler.enable(stacks, all_threads=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))
    gc.freeze()  # these objects are the supervisor's: collecting them would only copy its memory


def _of_the_user(stacks: str) -> str:
    """Return the part before the calls of this package; the innermost call comes first."""
    own = f'File "{Path(__file__).parents[2]}{os.sep}'
    return "\n".join(takewhile(lambda line: own not in line, stacks.splitlines()))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()

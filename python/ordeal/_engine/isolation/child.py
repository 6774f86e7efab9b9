"""A forked process in which code under test may do its worst, and how it ended."""

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
from dataclasses import dataclass
from itertools import takewhile
from mmap import mmap
from pathlib import Path
from typing import NoReturn

from ordeal import _native
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.measured import Measured
from ordeal._engine.isolation.reaper import NOTE_BYTES, end_of, fork_of, guard
from ordeal._engine.untrusted import use_journal

#: What a process has to say must be said in this time: one that stops in the middle of a message is lost.
MESSAGE_SECONDS_MAX = 5.0
#: What a process that has closed its channel may take to end.
END_SECONDS_MAX = 0.5
#: What a reaper may take to end all that it guards.
GUARDED_SECONDS_MAX = 3.0
#: Where the choices of the run under way lie; a run whose tape is longer is cut there.
JOURNAL_BYTES = 1 << 20
#: So much of what Python said of a fatal signal is read.
STACKS_BYTES_MAX = 1 << 16


#: What a process does: it tells of it through the channel, and writes its runs to the journal.
Job = Callable[[Channel, _native.Journal], None]


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How a process ended: with an exit code, or by a signal. With its reaper, where ``is_unknown``."""

    code: int = 0
    signal: int = 0
    stacks: str = ""  # what Python could still say, of a fatal signal
    is_unknown: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether it ended as it should."""
        return not self.code and not self.signal


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may take. ``memory`` is in bytes, 0 for no limit."""

    memory: int = 0


class Child:
    """Runs ``job`` in a fork of this process, with a channel to this one. Owned by one thread, which must reap it.

    A reaper stands between the two: all processes that come of the job end with it, and with this process. What the
    job prints is dropped.

    Attributes:
        channel: what the job says comes out here.
        journal: memory in which the process keeps the choices of its run, if it runs something.
        reaper: the child of this process that is the parent of the one that runs the job.
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
        # No signal is to reach a fork before it has said what it makes of it.
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
            # Threads of the program that explores do not live on in the fork, which does not miss them.
            warnings.simplefilter("ignore", DeprecationWarning)
            reaper = os.fork()
            if reaper == 0:
                self.channel.close()
                reaper = guard(parent, self._note)
                _be_child(_measured(job, self._measured), there, journal, self._stacks, reaper, blocked, limits)
        return reaper

    def fileno(self) -> int:
        """What is readable once the process has ended."""
        return self._handle

    def messages(self) -> list[list[Value]]:
        """What it has said by now. When it has no more to say, or says it in another way than it should, it ends."""
        said: list[list[Value]] = []
        try:
            while not self._is_silent and self.channel.has_message():
                said.append(self.channel.receive())
        except ChannelError:
            self._is_silent = True
            self.wait(END_SECONDS_MAX)
        return said

    def has_ended(self) -> bool:
        """Whether the process is over, and all that came of it."""
        if self.exit_status is None and self._is_over(0):
            self._reap()
        return self.exit_status is not None

    def kill(self) -> None:
        """End the process, and all that came of it."""
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
        return bool(watched.poll(seconds * 1_000))

    def _reap(self) -> None:
        status = 0
        with suppress(ChildProcessError):  # where the program ignores SIGCHLD, nobody waits
            _, status = os.waitpid(self.reaper, 0)
        code = end_of(self._note)
        is_unknown = code is None
        if code is None:
            # The reaper itself was killed, and has left behind what it guarded.
            code = os.waitstatus_to_exitcode(status)
            if fork := fork_of(self._note):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(fork, signal.SIGKILL)
        stacks = _of_the_user(os.pread(self._stacks, STACKS_BYTES_MAX, 0).decode(errors="replace"))
        self._measured.join()
        self.exit_status = ChildExit(max(code, 0), max(-code, 0), stacks, is_unknown)

    def close(self) -> None:
        """End the process if it goes on, and give up what belongs to it. What it said last is lost."""
        self.kill()
        if not self._is_closed:
            self._is_closed = self._is_silent = True
            self.channel.close()
            os.close(self._handle)
            os.close(self._stacks)

    def wait(self, seconds: float) -> None:
        """Wait until it has ended, and end it when that takes longer."""
        if self.exit_status is None:
            self._is_over(seconds)
        if not self.has_ended():
            self.kill()


def wait_for(children: Iterable[Child], seconds: float) -> None:
    """Until one of ``children``, of which none is closed, has something to say or has ended: at most so long."""
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
        pass  # nobody is there to hear why
    finally:
        # Neither threads of the code under test nor what it has put off until the end are waited for.
        os._exit(code)


def _prepare(stacks: int, limits: Limits) -> None:
    # Ctrl-C and SIGTERM are for the supervisor, which decides what they mean.
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
    gc.freeze()  # what is there is the supervisor's: looking through it would only copy its memory


def _of_the_user(stacks: str) -> str:
    """What comes before the calls of this package, as the innermost one stands first."""
    own = f'File "{Path(__file__).parents[2]}{os.sep}'
    return "\n".join(takewhile(lambda line: own not in line, stacks.splitlines()))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()

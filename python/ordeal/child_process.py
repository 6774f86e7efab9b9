"""A forked process in which code under test may do its worst, and how it ended."""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from mmap import mmap
from typing import NoReturn

from ordeal import _native
from ordeal.process_channel import Channel, ChannelError, Value

#: What a process has to say must be said in this time: one that stops in the middle of a message is lost.
MESSAGE_SECONDS_MAX = 5.0
#: What a process that has closed its channel may take to end.
END_SECONDS_MAX = 0.5
#: Where the choices of the run under way lie; a run whose tape is longer is cut there.
JOURNAL_BYTES = 1 << 20
#: So much of what Python said of a fatal signal is read.
STACKS_BYTES_MAX = 1 << 16


#: What a process does: it tells of it through the channel, and writes its runs to the journal.
Job = Callable[[Channel, _native.Journal], None]


@dataclass(frozen=True, slots=True)
class Death:
    """How a process ended: with an exit code, or by a signal."""

    code: int = 0
    signal: int = 0
    stacks: str = ""  # what Python could still say, of a fatal signal

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

    The process leads a group of its own, which ends with it, and with this process. What it prints is dropped.

    Attributes:
        channel: what the job says comes out here.
        journal: memory in which the process keeps the choices of its run, if it runs something.
    """

    def __init__(self, job: Job, limits: Limits) -> None:
        self.journal = mmap(-1, JOURNAL_BYTES)
        journal = _native.Journal(self.journal)
        self.channel, there = Channel.pair()
        self._stacks = os.memfd_create("stacks")
        self.death: Death | None = None
        self._is_silent = self._is_closed = False
        parent = os.getpid()
        _flush()
        with warnings.catch_warnings():
            # Threads of the program that explores do not live on in the fork, which does not miss them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = os.fork()
        if self.process == 0:
            self.channel.close()
            _be_child(job, there, journal, self._stacks, parent, limits)
        with suppress(OSError):
            os.setpgid(self.process, self.process)  # here as well: it may not have come so far
        there.close()
        self.channel.set_timeout(MESSAGE_SECONDS_MAX)
        self._handle = os.pidfd_open(self.process)

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
        """Whether the process is over. All of its group ends with it."""
        if self.death is None and os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            self._reap()
        return self.death is not None

    def kill(self) -> None:
        """End the process, and all of its group."""
        if self.death is None:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
            os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOWAIT)
            self._reap()

    def _reap(self) -> None:
        # Before it is waited for: until then nobody else can have the number of the group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        code = os.waitstatus_to_exitcode(status)
        stacks = os.pread(self._stacks, STACKS_BYTES_MAX, 0).decode(errors="replace")
        self.death = Death(max(code, 0), max(-code, 0), stacks)

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
        deadline = time.monotonic() + seconds
        while not self.has_ended():
            if time.monotonic() >= deadline:
                self.kill()
                return
            time.sleep(0.001)


def _be_child(
    job: Job, channel: Channel, journal: _native.Journal, stacks: int, parent: int, limits: Limits
) -> NoReturn:
    code = 1
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        if _native.die_with(parent, group=True):
            _prepare(stacks, limits)
            journal.own()
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


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()

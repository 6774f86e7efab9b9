"""Jobs in forks of this process, some at a time, each with limits of time and memory."""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import resource
import select
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ordeal._base import memory_limit
from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal._engine.isolation.child import stat_fields
from ordeal._native import die_with, monotonic
from ordeal._tools.mutation.sandbox import Apart, cover, descendants, fork
from ordeal._tools.mutation.verdicts import Word

Message = dict[str, Any]
Say = Callable[[Message], None]
#: How long each thread has run, by its number.
_Threads = dict[str, tuple[bytes, bytes]]
#: Memory that a fork may use beyond what it begins with, in MiB.
MEMORY_MIB = 1024
#: The most forks that exist, sleeping ones included, for each that may run; and the seconds between two looks at them.
_ASLEEP_FACTOR, _ASLEEP_SECONDS = 4, 0.25
#: pytest has a dozen descriptors open while tests run.
_OURS_FROM = 100


class _ForkLimits:
    memory_mib = MEMORY_MIB
    original = 0


def limit_memory(mib: int) -> None:
    """Limit forks to this many MiB beyond what they begin with, or beyond the peak of the original."""
    _ForkLimits.memory_mib = mib


def original_takes(size: int) -> None:
    """Record the peak memory of the original, threads included, measured without a limit."""
    _ForkLimits.original = size


def memory_peak() -> int:
    """Return the peak memory of this process in bytes. Reserved memory counts, because the limit counts it."""
    found = re.search(rb"^VmPeak:\s*(\d+) kB", Path("/proc/self/status").read_bytes(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


@dataclass(slots=True)
class Job:
    """The work of a fork, which reports by ``say``, and its limits: seconds of CPU (0 for none) and of wall time.

    The wall time counts from the last report. After ``asleep`` seconds in which none of its threads has run at all, it
    counts as late too. A job that ``is_original`` runs without a mutant, and may use any memory; one that ``is_free``
    may also write and signal what plain pytest may, if there are no namespaces.
    """

    run: Callable[[Say], None]
    cpu: float
    wall: float
    tag: Any = None
    asleep: float = math.inf
    is_original: bool = False
    is_free: bool = False


@dataclass(slots=True)
class Ended:
    """The reports of a fork, and how it ended: ``signal`` is 0 if it exited.

    ``is_blocked`` is whether it was late, and neither it nor what it had started was doing anything.
    """

    job: Job
    said: list[Message]
    signal: int
    is_late: bool
    is_blocked: bool = False

    @property
    def raised(self) -> str:
        """The error that ended it, if one did."""
        return next((str(each["raised"]) for each in self.said if "raised" in each), "")

    @property
    def lost(self) -> str:
        """Why the job did not begin, if it did not: that is not a verdict on the mutant."""
        return next((str(each["lost"]) for each in self.said if "lost" in each), "")

    def verdict(self) -> tuple[Word, str]:
        """Return the verdict on a mutant whose process ended while it ran, and a note."""
        if self.lost:
            return "not run", self.lost
        if self.is_late or self.signal == signal.SIGPROF:
            return "timeout", ""
        if self.raised.startswith("MemoryError"):
            return "memory", self.raised
        if self.signal:
            return "crash", signal.Signals(self.signal).name
        return "killed", self.raised or "it ends the process"


@dataclass(slots=True)
class _Fork:
    job: Job
    apart: Apart
    handle: int
    pipe: int
    deadline: float
    said: bytearray = field(default_factory=bytearray)
    is_silent: bool = False
    looked: float = 0.0
    seen: _Threads | None = None
    is_asleep: bool = False
    woken: float = 0.0

    def read(self) -> None:
        """Read the reports that have arrived."""
        with suppress(BlockingIOError):
            while part := os.read(self.pipe, 1 << 16):
                self.said += part
                self.deadline = monotonic() + self.job.wall
                if len(self.said) > INPUT_BYTES_MAX:
                    self.deadline = 0.0
                    return
            self.is_silent = True

    def look(self, now: float) -> None:
        """Check now and then whether it sleeps: whether none of its threads has run since the last look."""
        if now - self.looked >= _ASLEEP_SECONDS:
            found = _sleeping(self.apart.pid)
            self.is_asleep = found is not None and found == self.seen
            if not self.is_asleep:
                self.woken = now
            self.looked, self.seen = now, found

    def is_late(self, now: float) -> bool:
        """Return True if it timed out."""
        return self.deadline <= now or (self.is_asleep and now - self.woken >= self.job.asleep)


class Refilled(Iterator[Job]):
    """The jobs that ``take`` returns. It may have none now and one later, once a job that ended asks for more."""

    def __init__(self, take: Callable[[], Job | None]) -> None:
        self._take = take

    def __next__(self) -> Job:
        job = self._take()
        if job is None:
            raise StopIteration
        return job


def run_jobs(jobs: Iterable[Job], at_once: int) -> Iterator[Ended]:
    """Run jobs, at most ``at_once`` at a time, and yield each when it has ended with all that it started.

    A sleeping job does not keep others from running, until there are four times as many.
    """

    def is_free() -> bool:
        awake = sum(not fork.is_asleep for fork in running.values())
        return awake < at_once and len(running) < at_once * _ASLEEP_FACTOR

    waiting = iter(jobs)
    running: dict[int, _Fork] = {}
    while True:
        while is_free() and (job := next(waiting, None)) is not None:
            fork = _begun(job)
            running[fork.handle] = fork
        if not running:
            return
        left = min(fork.deadline for fork in running.values()) - monotonic()
        pipes = {fork.pipe: fork for fork in running.values() if not fork.is_silent}
        ready = {*select.select([*running, *pipes], [], [], max(0.0, min(left, _ASLEEP_SECONDS)))[0]}
        for fork in running.values():
            fork.look(monotonic())
        for pipe in ready & pipes.keys():
            pipes[pipe].read()
        for handle, fork in [*running.items()]:
            is_over = handle in ready
            if is_over:
                fork.read()
            if is_over or fork.is_late(monotonic()):
                yield _ended(running.pop(handle), is_late=not is_over)


def out_of_the_way(handle: int) -> int:
    """Move a descriptor of ours to a number above those that a program or pytest may use."""
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _OURS_FROM)
    os.close(handle)
    return moved


def wait_in_parent() -> bool:
    """Fork this process. Return True in the fork, which ends with its parent, and False in the parent once it ended."""
    parent = os.getpid()
    pid = fork()
    if pid:
        os.waitpid(pid, 0)
    else:
        die_with(parent)
    return not pid


def _begun(job: Job) -> _Fork:
    here, there = map(out_of_the_way, os.pipe())
    os.set_blocking(here, False)
    # Here it costs a tenth of what it would in the fork, which copies each page that it touches.
    memory = max(memory_limit.data_bytes(), _ForkLimits.original) + (_ForkLimits.memory_mib << 20)
    # No signal may reach a fork before it has set its handlers.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    apart = Apart()
    if apart.pid == 0:
        os.close(here)
        _be(job, there, before, memory)
    with suppress(OSError):
        os.setpgid(apart.pid, apart.pid)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    os.close(there)
    now = monotonic()
    return _Fork(job, apart, out_of_the_way(os.pidfd_open(apart.pid)), here, now + job.wall, looked=now)


def _be(job: Job, pipe: int, before: set[int | signal.Signals], memory: int) -> NoReturn:
    this = os.getpid()

    def say(message: Message) -> None:
        if os.getpid() != this:
            os._exit(0)  # a child that the program forked and that went on with the tests: the parent speaks
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(pipe, data) :]

    begins = "lost"
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        die_with(os.getppid(), group=True)
        cover(is_original=job.is_original, is_free=job.is_free)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not job.is_original:
            memory_limit.limit_memory(memory)
        if job.cpu:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, job.cpu)
        begins = "raised"
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        job.run(say)
    except BaseException as error:  # noqa: BLE001 - after any error of the program, it must not go on as its parent
        with suppress(BaseException):
            say({begins: f"{type(error).__name__}: {error}"[:300]})
    finally:
        os._exit(0)


def _sleeping(pid: int) -> _Threads | None:
    """Return how long each thread of a fork, and of all processes that it started, has run.

    None if one of them does not sleep, or none is known.
    """
    found: _Threads = {}
    for process in (pid, *descendants(pid)):
        try:
            for thread in Path(f"/proc/{process}/task").iterdir():
                fields = stat_fields(thread)
                if fields[0] not in (b"S", b"Z"):
                    return None
                found[thread.name] = fields[11], fields[12]
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
    return found or None


def _ended(fork: _Fork, *, is_late: bool) -> Ended:
    is_blocked = is_late and fork.is_asleep
    code = os.waitstatus_to_exitcode(fork.apart.end())
    os.close(fork.pipe)
    os.close(fork.handle)
    said = []
    for line in bytes(fork.said).split(b"\n"):
        with suppress(ValueError):
            message = json.loads(line)
            if isinstance(message, dict):
                said.append(message)
    return Ended(fork.job, said, max(0, -code), is_late, is_blocked)

"""Where jobs of triage run: in the process that explores, or each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ordeal import _native
from ordeal._engine.isolation.channel import Channel, ChannelError
from ordeal._engine.isolation.child import Child, wait_for
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash, CrashReader, Stall
from ordeal._engine.triage.jobs import Job
from ordeal._engine.triage.messages import Message, pack_message, unpack_message
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._native import monotonic
from ordeal.errors import OrdealError

TICK_SECONDS = 0.05


class JobEnd(Enum):
    """How a job came to its end."""

    DONE = "done"
    LATE = "late"  # it took longer than it may, and was ended
    LOST = "lost"  # its process ended before it did, or told what no job tells


@dataclass(slots=True)
class Task:
    """A job with who hears what it tells.

    ``seconds`` is how long it may take where it can be ended, None as long as its steps get on. ``ended`` hears how it
    came to its end, and of a process that ended in a run what that was.
    """

    job: Job
    on_message: Callable[[Message], object]
    ended: Callable[[JobEnd, Crash | None], object] = lambda _ending, _crash: None
    seconds: float | None = None


class Executor(Protocol):
    """Runs jobs of triage."""

    def run(self, tasks: Sequence[Task]) -> None:
        """Run all ``tasks``, several at the same time where that can be. Ctrl-C gets out, and ends those that run."""

    def finish(self, tasks: Sequence[Task]) -> None:
        """Run ``tasks`` after Ctrl-C, as far as they take hardly any time."""

    def close(self) -> None:
        """End what still runs."""


class Here:
    """Runs jobs one after the other in this process, which nothing guards."""

    def __init__(self, context: JobContext) -> None:
        self._context = context

    def run(self, tasks: Sequence[Task]) -> None:
        """See ``Executor``. What a job raises gets out."""
        for task in tasks:
            task.job(self._context, task.on_message)
            task.ended(JobEnd.DONE, None)

    def finish(self, tasks: Sequence[Task]) -> None:
        """See ``Executor``."""
        self.run(tasks)

    def close(self) -> None:
        """See ``Executor``. Nothing runs any more."""


@dataclass(slots=True)
class _Running:
    """A task whose process goes on."""

    task: Task
    child: Child
    deadline: float
    stall: Stall | None


class OwnProcesses:
    """Runs each job in a process of its own, ``workers`` of them at most at the same time."""

    def __init__(self, setup: ReplaySetup, folder: WorkingFolder, workers: int) -> None:
        self._setup = setup
        self._names = setup.names
        self._folder = folder
        self._workers = workers
        self._crashes = CrashReader(setup.driver)
        self._running: list[_Running] = []

    def run(self, tasks: Sequence[Task]) -> None:
        """See ``Executor``."""
        waiting = list(tasks)
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self._workers:
                    self._begin(waiting.pop(0))
                for running in list(self._running):
                    self._attend(running)
                if self._running:
                    wait_for([running.child for running in self._running], TICK_SECONDS)
        finally:
            self.close()

    def finish(self, tasks: Sequence[Task]) -> None:
        """See ``Executor``. Who pressed Ctrl-C does not wait for more processes."""

    def close(self) -> None:
        """See ``Executor``. What a process had told is heard."""
        for running in self._running:
            running.child.kill()
        try:
            for running in self._running:
                self._hear(running)
        finally:
            for running in self._running:
                running.child.close()
            self._running.clear()

    def _begin(self, task: Task) -> None:
        self._folder.restore()
        setup, names = self._setup, self._names

        def work(channel: Channel, journal: _native.Journal) -> None:
            context = JobContext(setup, journal=journal)
            task.job(context, lambda message: channel.send(*pack_message(message, names)))

        child = Child(work, setup.limits)
        stall = Stall(child.journal, setup.driver.rule_timeout) if task.seconds is None else None
        deadline = float("inf") if task.seconds is None else monotonic() + task.seconds
        self._running.append(_Running(task, child, deadline, stall))

    def _attend(self, running: _Running) -> None:
        """Hear what a job has to tell, and end it where it takes too long."""
        child = running.child
        has_ended = child.has_ended()
        if not self._hear(running):
            child.close()
            self._running.remove(running)
            running.task.ended(JobEnd.LOST, None)
            return
        hangs = not has_ended and running.stall is not None and running.stall.hangs()
        is_late = not has_ended and not hangs and monotonic() >= running.deadline
        if not (has_ended or hangs or is_late):
            return
        if not has_ended:
            child.kill()
            self._hear(running)
        assert child.exit_status is not None
        if is_late:
            ending, crash = JobEnd.LATE, None
        elif has_ended and child.exit_status.is_clean:
            ending, crash = JobEnd.DONE, None
        else:
            ending, crash = JobEnd.LOST, self._crashes.read(child.journal, child.exit_status, hung=hangs)
        child.close()
        self._running.remove(running)
        running.task.ended(ending, crash)

    def _hear(self, running: _Running) -> bool:
        """Hear what a job has told by now; False when that is what no job tells, where nothing more of it counts."""
        for values in running.child.messages():
            try:
                message = unpack_message(values, self._names)
            except (ChannelError, ValueError, TypeError, OverflowError, OrdealError):
                return False
            running.task.on_message(message)
        return True

"""Executes jobs of triage: in the exploring process, or each in a separate process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import msgspec

import ordeal._native as _native
from ordeal._base.limits import LOOK_SECONDS
from ordeal._engine.isolation.channel import Channel, ChannelError
from ordeal._engine.isolation.child import Child, wait_for
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash, CrashReader, ProcessStall
from ordeal._engine.triage.jobs import Job
from ordeal._engine.triage.messages import Message, pack_message, unpack_message
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._native import monotonic
from ordeal.errors import OrdealError


class JobEnd(Enum):
    """How a job ended."""

    DONE = "done"
    LATE = "late"  # it exceeded its time limit, and was ended
    LOST = "lost"  # its process died early, or sent an invalid message


class Task(msgspec.Struct):
    """A job with the receiver of its messages.

    ``seconds`` is its time limit if it can be ended, None while its steps make progress. ``ended`` receives how it
    ended, and the crash if its process died in a run.
    """

    job: Job
    on_message: Callable[[Message], object]
    ended: Callable[[JobEnd, Crash | None], object] = lambda _ending, _crash: None
    seconds: float | None = None


class Here:
    """Runs jobs one after the other in this process, without protection."""

    def __init__(self, context: JobContext) -> None:
        self._context = context

    def run(self, tasks: Sequence[Task]) -> None:
        """Run all ``tasks``. Ctrl-C and errors of a job propagate."""
        for task in tasks:
            task.job(self._context, task.on_message)
            task.ended(JobEnd.DONE, None)

    #: Runs what is left after Ctrl-C, which takes hardly any time.
    finish = run

    def close(self) -> None:
        """Do nothing: no job runs any more."""


class _Running(msgspec.Struct):
    """A task whose process is running."""

    task: Task
    child: Child
    deadline: float
    stall: ProcessStall | None


class OwnProcesses:
    """Runs each job in a separate process, at most ``workers`` of them at the same time."""

    def __init__(self, setup: ReplaySetup, folder: WorkingFolder, workers: int) -> None:
        self._setup = setup
        self._names = setup.names
        self._folder = folder
        self._workers = workers
        self._crashes = CrashReader(setup.driver)
        self._waiting: list[Task] = []
        self._running: list[_Running] = []

    def run(self, tasks: Sequence[Task]) -> None:
        """Run all ``tasks``. Ctrl-C propagates, and ends those that run."""
        self._waiting += tasks
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < self._workers:
                    self._begin(self._waiting.pop(0))
                for running in list(self._running):
                    self._poll(running)
                if self._running:
                    wait_for([running.child for running in self._running], LOOK_SECONDS)
        finally:
            self.close()

    def finish(self, tasks: Sequence[Task]) -> None:
        """Do nothing: after Ctrl-C, no more processes are started."""

    def close(self) -> None:
        """End what still runs. Messages that arrived are still handled."""
        self._waiting.clear()
        for running in self._running:
            running.child.kill()
        try:
            for running in self._running:
                self._receive(running)
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
        stall = ProcessStall(child.journal, setup.driver.rule_timeout) if task.seconds is None else None
        deadline = float("inf") if task.seconds is None else monotonic() + task.seconds
        self._running.append(_Running(task, child, deadline, stall))

    def _poll(self, running: _Running) -> None:
        """Handle the messages of a job, and end it if it takes too long."""
        child = running.child
        has_ended = child.has_ended()
        if not self._receive(running):
            child.close()
            self._running.remove(running)
            running.task.ended(JobEnd.LOST, None)
            return
        hangs = not has_ended and running.stall is not None and self._crashes.hangs(child.journal, running.stall)
        is_late = not has_ended and not hangs and monotonic() >= running.deadline
        if not (has_ended or hangs or is_late):
            return
        if not has_ended:
            child.kill()
            self._receive(running)
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

    def _receive(self, running: _Running) -> bool:
        """Handle the messages that have arrived; False after an invalid one, when the rest of them is ignored."""
        for values in running.child.messages():
            try:
                message = unpack_message(values, self._names)
            except (ChannelError, ValueError, TypeError, OverflowError, OrdealError):
                return False
            running.task.on_message(message)
        return True


#: Runs jobs of triage.
Executor = Here | OwnProcesses

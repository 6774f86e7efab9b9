"""Begins the triage of failures while the search goes on: of those that hang, which is mostly waiting.

What its job tells waits here until the search is over. It counts if the finding is still what it was then.
"""

from __future__ import annotations

from collections.abc import Callable

from ordeal._engine.replay.crash_replayer import Crash
from ordeal._engine.triage.executors import TICK_SECONDS, JobEnd, OwnProcesses, Task
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import Message, Shrinking


class _Begun:
    """A job that runs beside the search, with what it has told."""

    def __init__(self, finding: Finding, task: Task, executor: OwnProcesses) -> None:
        self.bucket, self.tape = finding.bucket, finding.tape
        self.is_over = False
        self._executor = executor
        self._told: list[Message] = []
        self._ending: tuple[JobEnd, Crash | None] = JobEnd.LOST, None
        self._taken_over: Task | None = None
        executor.begin(Task(task.job, self._on_message, self._ended, task.seconds))

    def go_on(self, seconds: float) -> None:
        """Handle what has arrived, and wait for more for up to ``seconds``."""
        if not self.is_over:
            self._executor.poll(seconds)

    def take_over(self, task: Task) -> None:
        """Pass on to ``task`` what was told, and all that will be."""
        self._taken_over = task
        for message in self._told:
            task.on_message(message)
        if self.is_over:
            task.ended(*self._ending)

    def close(self) -> None:
        """End the job."""
        self.is_over = True
        self._executor.close()

    def _on_message(self, message: Message) -> None:
        if self._taken_over is not None:
            self._taken_over.on_message(message)
            return
        if isinstance(message, Shrinking) and self._told and isinstance(self._told[-1], Shrinking):
            self._told.pop()  # the latest says it all
        self._told.append(message)

    def _ended(self, ending: JobEnd, crash: Crash | None) -> None:
        self.is_over, self._ending = True, (ending, crash)
        if self._taken_over is not None:
            self._taken_over.ended(ending, crash)


class HeadStart:
    """The jobs that were begun, one at a time. Used by one triage.

    ``executor`` makes what runs one job in a process of its own.
    """

    def __init__(self, executor: Callable[[], OwnProcesses]) -> None:
        self._executor = executor
        self._waiting: list[tuple[Finding, Task]] = []
        self._begun: list[_Begun] = []

    def has(self, finding: Finding) -> bool:
        """Return whether the triage of ``finding`` was begun, with the tape that it has now, or waits to be."""
        is_waiting = any(other is finding for other, _ in self._waiting)
        return is_waiting or any(_is_of(each, finding) for each in self._begun)

    def begin(self, finding: Finding, task: Task) -> None:
        """Begin ``task``, the triage of ``finding``, as soon as no other runs, in place of an earlier one of it."""
        for each in self._begun:
            if each.bucket == finding.bucket:
                each.close()
        self._begun = [each for each in self._begun if each.bucket != finding.bucket]
        self._waiting.append((finding, task))
        self.go_on()

    def go_on(self, seconds: float = 0.0) -> None:
        """Handle what the job that runs has told, and wait for more for up to ``seconds``."""
        if self._begun:
            self._begun[-1].go_on(seconds)
        if self._waiting and (not self._begun or self._begun[-1].is_over):
            self._begun.append(_Begun(*self._waiting.pop(0), self._executor()))

    def take_over(self, tasks: list[tuple[Finding, Task]]) -> list[Task]:
        """Have the jobs of these findings that were begun tell the tasks; end the others, and return what is not done.

        A finding whose tape has changed since is another one.
        """
        self._waiting.clear()
        left = []
        taken: list[_Begun] = []
        for finding, task in tasks:
            begun = next((each for each in self._begun if _is_of(each, finding)), None)
            if begun is None:
                left.append(task)
            else:
                begun.take_over(task)
                taken.append(begun)
        for each in self._begun:
            if each not in taken:
                each.close()
        self._begun = [each for each in taken if not each.is_over]
        return left

    def finish(self) -> None:
        """Wait for what was taken over. Ctrl-C propagates, and ends it."""
        try:
            while self._begun and not self._begun[-1].is_over:
                self._begun[-1].go_on(TICK_SECONDS)
        finally:
            self.close()

    def close(self) -> None:
        """End what still runs."""
        for each in self._begun:
            each.close()
        self._begun.clear()
        self._waiting.clear()


def _is_of(begun: _Begun, finding: Finding) -> bool:
    return begun.bucket == finding.bucket and begun.tape == finding.tape

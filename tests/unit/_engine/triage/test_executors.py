"""Where jobs of triage run: the same is told from either place, and none is waited for that does not come back."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash
from ordeal._engine.triage import executors
from ordeal._engine.triage.executors import JobEnd, OwnProcesses, Task
from ordeal._engine.triage.jobs import Job, Send
from ordeal._engine.triage.messages import Message, NotInDatabase, SeedBegun, pack_message
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._native import ALARM_SIGNAL

from ...samples.triaged import setup_for, tape_for

pytestmark = pytest.mark.forks


class Deadly(RuleBasedStateMachine):
    """Ends its process in each way."""

    @rule()
    def rest(self) -> None: ...

    @rule()
    def leave(self) -> None:
        os._exit(3)

    @rule()
    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @rule()
    def hang(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [ALARM_SIGNAL])  # nothing interrupts it
        time.sleep(600)


@dataclass
class Log:
    """What was heard of each task, in the order in which it was."""

    heard: list[tuple[str, Message]] = field(default_factory=list)
    endings: dict[str, tuple[JobEnd, Crash | None]] = field(default_factory=dict)

    def task(self, name: str, job: Job, seconds: float | None = None) -> Task:
        def ended(ending: JobEnd, crash: Crash | None) -> None:
            self.endings[name] = ending, crash

        return Task(job, lambda message: self.heard.append((name, message)), ended, seconds)

    def of(self, name: str) -> list[Message]:
        return [message for named, message in self.heard if named == name]


class Heard:
    """Whether a task told something that was heard here: for tasks that wait for it in their own processes."""

    def __init__(self, task: Task) -> None:
        self._reads, self._writes = os.pipe()
        self.task, self._on_message = task, task.on_message
        task.on_message = self._hear

    def _hear(self, message: Message) -> None:
        self._on_message(message)
        os.write(self._writes, b"!")

    def wait(self) -> None:
        os.read(self._reads, 1)

    def __del__(self) -> None:
        os.close(self._reads)
        os.close(self._writes)


@pytest.fixture
def setup() -> ReplaySetup:
    return setup_for(Deadly, rule_timeout=60.0)


@pytest.fixture
def log() -> Log:
    return Log()


def own_processes(setup: ReplaySetup, workers: int = 1) -> OwnProcesses:
    return OwnProcesses(setup, WorkingFolder(lambda _text: None), workers)


def running(setup: ReplaySetup, *steps: str) -> Job:
    """Runs these steps, as the replay of a seed does, and tells before it."""
    tape = tape_for(setup.driver, *steps)

    def job(context: JobContext, send: Send) -> None:
        context.isolate()
        with context.running():
            send(SeedBegun("here"))
            send(NotInDatabase(context.replayer.run(tape).bucket))

    return job


def saying(*texts: str) -> Job:
    def job(_context: JobContext, send: Send) -> None:
        for text in texts:
            send(NotInDatabase(text))

    return job


def sleeping(_context: JobContext, send: Send) -> None:
    send(SeedBegun(str(os.getpid())))
    time.sleep(600)


def exists(process: str) -> bool:
    return Path(f"/proc/{process}").exists()


@contextmanager
def quickly(seconds: float = 300.0) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds, "it waited for what sleeps ten minutes"


class TestOwnProcesses:
    @pytest.mark.parametrize(
        ("step", "error", "bucket"),
        [
            ("leave", "ProcessExitError", "ProcessExitError(3) at leave"),
            ("die", "ProcessKilledError", "ProcessKilledError(SIGKILL) at die"),
            ("hang", "RuleTimeoutError", "RuleTimeoutError at hang, not interruptible"),
        ],
    )
    def test_a_run_that_ends_its_process_is_a_crash_with_its_tape(
        self, log: Log, step: str, error: str, bucket: str
    ) -> None:
        # Long enough for all that comes before the step.
        setup = setup_for(Deadly, rule_timeout=1.0 if step == "hang" else 60.0)
        with quickly():
            own_processes(setup).run([log.task("a", running(setup, "rest", step, "rest")), log.task("b", saying("on"))])
        assert log.of("a") == [SeedBegun("here")]
        ending, crash = log.endings["a"]
        assert ending is JobEnd.LOST
        assert crash is not None
        assert (type(crash.error).__name__, crash.bucket, len(crash.tape)) == (error, bucket, 2)
        assert log.endings["b"] == (JobEnd.DONE, None)

    def test_a_job_that_takes_too_long_is_ended_and_what_it_had_told_is_kept(
        self, setup: ReplaySetup, log: Log
    ) -> None:
        with quickly():
            own_processes(setup).run([log.task("a", sleeping, 2.0)])
        (told,) = log.of("a")
        assert isinstance(told, SeedBegun)
        assert not exists(told.path)
        assert log.endings == {"a": (JobEnd.LATE, None)}

    def test_ctrl_c_gets_out_and_leaves_no_process(self, setup: ReplaySetup, log: Log) -> None:
        the_other = Heard(log.task("b", sleeping))
        executor = own_processes(setup, workers=2)

        def when_both_run(message: Message) -> None:
            log.heard.append(("a", message))
            raise KeyboardInterrupt

        def after_the_other(context: JobContext, send: Send) -> None:
            the_other.wait()
            sleeping(context, send)

        with quickly(), pytest.raises(KeyboardInterrupt):
            executor.run([the_other.task, Task(after_the_other, when_both_run)])
        processes = [message.path for _, message in log.heard if isinstance(message, SeedBegun)]
        assert len(processes) == 2
        assert not any(map(exists, processes))
        assert log.endings == {}
        executor.run([log.task("c", saying("again"))])  # nothing is left of what was ended
        assert log.endings == {"c": (JobEnd.DONE, None)}

    def test_ctrl_c_while_processes_are_ended_leaves_none_either(self, setup: ReplaySetup, log: Log) -> None:
        the_other = Heard(log.task("b", sleeping))

        def chatting(_context: JobContext, send: Send) -> None:
            the_other.wait()
            while True:
                send(SeedBegun(str(os.getpid())))
                time.sleep(0.001)

        def always_interrupt(message: Message) -> None:
            log.heard.append(("a", message))
            time.sleep(0.05)  # so that there is more to hear
            raise KeyboardInterrupt

        with quickly(), pytest.raises(KeyboardInterrupt):
            own_processes(setup, workers=2).run([Task(chatting, always_interrupt), the_other.task])
        processes = {message.path for _, message in log.heard if isinstance(message, SeedBegun)}
        assert len(processes) == 2
        assert not any(map(exists, processes))

    def test_what_no_job_tells_loses_the_job_alone(
        self, setup: ReplaySetup, log: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def damaging(message: Message, names: object) -> tuple[object, ...]:
            return ("seed begun", 1) if isinstance(message, SeedBegun) else pack_message(message, setup.names)

        monkeypatch.setattr(executors, "pack_message", damaging)
        with quickly():
            own_processes(setup, workers=2).run([log.task("a", sleeping), log.task("b", saying("on"))])
        assert log.of("a") == []
        assert log.of("b") == [NotInDatabase("on")]
        assert log.endings == {"a": (JobEnd.LOST, None), "b": (JobEnd.DONE, None)}

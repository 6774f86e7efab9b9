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
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage import executors
from ordeal._engine.triage.executors import Executor, Here, JobEnd, OwnProcesses, Task
from ordeal._engine.triage.jobs import Job, Send
from ordeal._engine.triage.messages import Message, NotInDatabase, SeedBegun, Shrinking, pack_message
from ordeal._engine.triage.setup import JobContext, ReplaySetup
from ordeal._hypothesis.randoms import GlobalRandoms

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
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # nothing interrupts it
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


class TestBothPlaces:
    @pytest.fixture(params=["here", "own processes"])
    def executor(self, request: pytest.FixtureRequest, setup: ReplaySetup) -> Executor:
        if request.param == "own processes":
            return own_processes(setup)
        randoms = GlobalRandoms()
        return Here(JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), randoms), randoms=randoms))


def test_here_a_jobs_error_gets_out_and_what_comes_after_it_does_not_run(setup: ReplaySetup, log: Log) -> None:
    def failing(_context: JobContext, send: Send) -> None:
        send(NotInDatabase("before"))
        raise LookupError

    context = JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), GlobalRandoms()))
    with pytest.raises(LookupError):
        Here(context).run([log.task("a", failing), log.task("b", saying("never"))])
    assert log.heard == [("a", NotInDatabase("before"))]
    assert log.endings == {}


def test_here_what_is_left_after_ctrl_c_is_done_and_in_own_processes_it_is_not(setup: ReplaySetup, log: Log) -> None:
    context = JobContext(setup, replayer=Replayer(setup.driver, setup.bucketer(), GlobalRandoms()))
    own_processes(setup).finish([log.task("own", saying("x"))])
    Here(context).finish([log.task("here", saying("x"))])
    assert log.heard == [("here", NotInDatabase("x"))]
    assert log.endings == {"here": (JobEnd.DONE, None)}


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

    def test_a_process_that_ends_in_no_run_has_no_crash(self, setup: ReplaySetup, log: Log) -> None:
        def leaving(_context: JobContext, send: Send) -> None:
            send(NotInDatabase("last words"))
            os._exit(1)

        own_processes(setup).run([log.task("a", leaving)])
        assert log.of("a") == [NotInDatabase("last words")]
        assert log.endings == {"a": (JobEnd.LOST, None)}

    def test_a_job_that_raises_is_lost_and_the_next_one_runs(self, setup: ReplaySetup, log: Log) -> None:
        def failing(_context: JobContext, _send: Send) -> None:
            raise LookupError

        own_processes(setup).run([log.task("a", failing), log.task("b", saying("on"))])
        assert log.endings == {"a": (JobEnd.LOST, None), "b": (JobEnd.DONE, None)}

    def test_a_job_that_takes_too_long_is_ended_and_what_it_had_told_is_kept(
        self, setup: ReplaySetup, log: Log
    ) -> None:
        with quickly():
            own_processes(setup).run([log.task("a", sleeping, 2.0)])
        (told,) = log.of("a")
        assert isinstance(told, SeedBegun)
        assert not exists(told.path)
        assert log.endings == {"a": (JobEnd.LATE, None)}

    def test_so_many_run_at_the_same_time_and_no_more(self, setup: ReplaySetup, log: Log, tmp_path: Path) -> None:
        def meeting(name: str) -> Job:
            def job(_context: JobContext, send: Send) -> None:
                (tmp_path / name).touch()
                deadline = time.monotonic() + 60.0
                while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
                    time.sleep(0.005)
                send(Shrinking(len(list(tmp_path.iterdir())), 0, 0))

            return job

        own_processes(setup, workers=2).run([log.task(name, meeting(name)) for name in "ab"])
        assert [message for _, message in log.heard] == [Shrinking(2, 0, 0)] * 2

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

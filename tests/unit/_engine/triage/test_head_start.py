"""Failures that are shrunk beside the search: what their jobs tell waits, and counts for what is still the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.replay.crash_replayer import Crash
from ordeal._engine.triage.executors import JobEnd, OwnProcesses, Task
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.head_start import HeadStart
from ordeal._engine.triage.jobs import Send
from ordeal._engine.triage.messages import Message, SeedBegun, Shrinking
from ordeal._engine.triage.setup import JobContext, ReplaySetup

from ...samples.triaged import finding_for, setup_for, tape_for
from .test_triage import LONG, SHORT, Counter

pytestmark = pytest.mark.forks


def unheard(message: Message) -> None:
    pytest.fail(f"{message} was told to a task that was begun")


def tells(*messages: Message) -> Task:
    def job(_context: JobContext, send: Send) -> None:
        for message in messages:
            send(message)

    return Task(job, unheard, seconds=60.0)


def waits(path: Path, *messages: Message) -> Task:
    """Tell ``messages`` once there is a file."""

    def job(_context: JobContext, send: Send) -> None:
        while not path.exists():
            time.sleep(0.01)
        for message in messages:
            send(message)

    return Task(job, unheard, seconds=60.0)


class Heard:
    """The task that is told in the end."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.endings: list[JobEnd] = []
        self.task = Task(lambda _context, _send: pytest.fail("begun twice"), self.messages.append, self._ended)

    def _ended(self, ending: JobEnd, _crash: Crash | None) -> None:
        self.endings.append(ending)


@pytest.fixture
def setup() -> ReplaySetup:
    return setup_for(Counter)


@pytest.fixture
def head_start(setup: ReplaySetup) -> Iterator[HeadStart]:
    begun = HeadStart(lambda: OwnProcesses(setup, WorkingFolder(pytest.fail), 1))
    yield begun
    begun.close()


@pytest.fixture
def finding(setup: ReplaySetup) -> Finding:
    return finding_for(setup, tape_for(setup.driver, *SHORT))


def go_on_until(head_start: HeadStart, path: Path) -> None:
    while not path.exists():
        head_start.go_on(0.01)


def test_what_was_told_beside_the_search_is_told_again_when_it_is_over(
    head_start: HeadStart, finding: Finding, tmp_path: Path
) -> None:
    def job(_context: JobContext, send: Send) -> None:
        send(Shrinking(4, 4, 1, 0.0))
        send(Shrinking(4, 3, 2, 0.0))
        send(SeedBegun("here"))
        (tmp_path / "told").touch()

    head_start.begin(finding, Task(job, unheard, seconds=60.0))
    go_on_until(head_start, tmp_path / "told")
    heard = Heard()
    assert head_start.take_over([(finding, heard.task)]) == []
    head_start.finish()
    assert heard.messages[-2:] == [Shrinking(4, 3, 2, 0.0), SeedBegun("here")]
    assert heard.endings == [JobEnd.DONE]


def test_what_still_runs_is_waited_for(head_start: HeadStart, finding: Finding, tmp_path: Path) -> None:
    head_start.begin(finding, waits(tmp_path / "go", SeedBegun("late")))
    heard = Heard()
    assert head_start.take_over([(finding, heard.task)]) == []
    assert (heard.messages, heard.endings) == ([], [])
    (tmp_path / "go").touch()
    head_start.finish()
    assert (heard.messages, heard.endings) == ([SeedBegun("late")], [JobEnd.DONE])


def test_one_that_has_another_tape_by_now_is_ended_and_left_to_do(
    head_start: HeadStart, setup: ReplaySetup, finding: Finding, tmp_path: Path
) -> None:
    def job(_context: JobContext, _send: Send) -> None:
        (tmp_path / "pid").write_text(str(os.getpid()))
        (tmp_path / "begun").touch()
        time.sleep(600)

    head_start.begin(finding, Task(job, unheard, seconds=600.0))
    go_on_until(head_start, tmp_path / "begun")
    finding.tape = tape_for(setup.driver, *LONG)
    heard = Heard()
    assert head_start.take_over([(finding, heard.task)]) == [heard.task]
    head_start.finish()
    assert (heard.messages, heard.endings) == ([], [])
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_one_at_a_time_and_what_waits_is_left_to_do(
    head_start: HeadStart, setup: ReplaySetup, finding: Finding, tmp_path: Path
) -> None:
    other = finding_for(setup, tape_for(setup.driver, *LONG))
    other.bucket = "other"
    head_start.begin(finding, waits(tmp_path / "go"))
    head_start.begin(other, tells(SeedBegun("never")))
    first, second = Heard(), Heard()
    assert head_start.take_over([(finding, first.task), (other, second.task)]) == [second.task]
    (tmp_path / "go").touch()
    head_start.finish()
    assert (first.endings, second.endings) == ([JobEnd.DONE], [])


def test_the_next_begins_when_one_is_over(
    head_start: HeadStart, setup: ReplaySetup, finding: Finding, tmp_path: Path
) -> None:
    other = finding_for(setup, tape_for(setup.driver, *LONG))
    other.bucket = "other"

    def job(_context: JobContext, _send: Send) -> None:
        (tmp_path / "begun").touch()

    head_start.begin(finding, tells())
    head_start.begin(other, Task(job, unheard, seconds=60.0))
    go_on_until(head_start, tmp_path / "begun")
    heard = Heard()
    assert head_start.take_over([(other, heard.task)]) == []
    head_start.finish()
    assert heard.endings == [JobEnd.DONE]


def test_ctrl_c_ends_it(
    head_start: HeadStart, finding: Finding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_self: OwnProcesses, _seconds: float) -> None:
        raise KeyboardInterrupt

    head_start.begin(finding, waits(tmp_path / "never"))
    heard = Heard()
    head_start.take_over([(finding, heard.task)])
    monkeypatch.setattr(OwnProcesses, "poll", interrupted)
    with pytest.raises(KeyboardInterrupt):
        head_start.finish()
    head_start.finish()

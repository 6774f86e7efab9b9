"""Ctrl-C, SIGTERM and SIGKILL end `ordeal explore` whatever its workers do, and leave no process behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from ..projects import CLI_TIME_LIMIT_S, Project, environment
from .runs import MARK, processes_left

pytestmark = [pytest.mark.slow, pytest.mark.supervised]

#: What takes seconds by nature, beside another signal of its kind that is sent each time.
LONG = pytest.mark.nightly

CHAOS = """
    import itertools
    import os
    import subprocess
    import time
    from pathlib import Path

    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Walk(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.walked = 0

        @rule(number=st.integers(0, 99))
        def walk(self, number):
            time.sleep(0.001)
            self.walked += 1

    class Failing(Walk):
        @rule()
        def fail(self):
            if self.walked >= 3:
                raise ValueError("an ordinary bug")

    class Hanging(Failing):
        @rule(number=st.integers(0, 99))
        def hang(self, number):
            if number == 77:
                Path("reached").touch()
                sum(itertools.repeat(0))

    class Leaving(Walk):
        started = 0

        @rule()
        def leave(self):
            if Leaving.started == os.getpid():
                return
            Leaving.started = os.getpid()
            subprocess.Popen(["sleep", "600"])
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            if os.fork() == 0:
                os.setsid()
                if os.fork():
                    os._exit(0)
                time.sleep(600)
            Path("reached").touch()
"""
SETTINGS = """
    [explorer]
    seed = 1
    workers = 2
    max_time = {seconds}
    rule_timeout = {limit}
    [[tests]]
    class = "chaos:{name}"
    [report]
    format = "both"
"""


@dataclass
class Started:
    """An exploration that goes on, in the folder of ``project``."""

    project: Project
    process: subprocess.Popen[str]
    mark: str
    said: str = ""

    def until_said(self, text: str) -> None:
        assert self.process.stderr is not None
        while not re.search(text, self.said):
            line = self.process.stderr.readline()
            assert line, f"it ended without saying {text!r}:\n{self.said}"
            self.said += line

    def until_reached(self) -> None:
        deadline = time.monotonic() + CLI_TIME_LIMIT_S
        while not (self.project.root / "reached").exists():
            assert time.monotonic() < deadline
            assert self.process.poll() is None
            time.sleep(0.01)

    def ended(self) -> tuple[int, str]:
        """Its exit code, and all that it said."""
        _, err = self.process.communicate(timeout=CLI_TIME_LIMIT_S)
        return self.process.returncode, self.said + err

    def result(self) -> dict[str, Any]:
        (found,) = json.loads((self.project.root / "ordeal-report.json").read_text(encoding="utf-8"))["results"]
        result: dict[str, Any] = found
        return result


@contextmanager
def exploring(project: Project, name: str, limit: float = 0.4, seconds: int = 60) -> Iterator[Started]:
    """Explore the class ``name``, whose rules may take ``limit`` seconds, for so many ``seconds``."""
    settings = SETTINGS.format(name=name, limit=limit, seconds=seconds)
    project.write({"chaos.py": CHAOS, "ordeal.toml": settings})
    mark = f"ordeal-test-{uuid.uuid4()}"
    with subprocess.Popen(
        [sys.executable, "-m", "ordeal", "explore", "-v", "--save-state", "state"],
        cwd=project.root,
        env=environment() | {MARK: mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Started(project, process, mark)
        finally:
            process.kill()


def while_searching(started: Started) -> None:
    started.until_said(r"\[[2-9]s\] runs=")  # a busy machine may pass over a second


def while_hanging(started: Started) -> None:
    started.until_reached()


@pytest.mark.parametrize(
    ("name", "limit", "moment", "code", "number"),
    [
        pytest.param("Walk", 0.4, while_searching, 130, signal.SIGINT, id="nothing-found-ctrl-c"),
        pytest.param("Walk", 0.4, while_searching, 130, signal.SIGTERM, id="nothing-found-sigterm", marks=LONG),
        pytest.param("Failing", 0.4, while_searching, 1, signal.SIGINT, id="found-ctrl-c", marks=LONG),
        pytest.param("Failing", 0.4, while_searching, 1, signal.SIGTERM, id="found-sigterm"),
        pytest.param("Hanging", 60.0, while_hanging, 1, signal.SIGINT, id="hanging-ctrl-c", marks=LONG),
        pytest.param("Hanging", 60.0, while_hanging, 1, signal.SIGTERM, id="hanging-sigterm"),
    ],
)
def test_an_interrupt_ends_the_search_and_loses_nothing(
    project: Project, name: str, limit: float, moment: Callable[[Started], None], code: int, number: signal.Signals
) -> None:
    with exploring(project, name, limit) as started:
        moment(started)
        if code == 1:
            started.until_said(r"\] runs=.* fails=[1-9]")
        started.process.send_signal(number)
        ended, said = started.ended()
        assert ended == code, said
        assert "Traceback" not in said
        assert processes_left(started.mark) == []
    result = started.result()
    assert result["stopped_reason"] == "interrupted"
    assert [failure["error_type"] for failure in result["failures"]] == ["ValueError"] * (code == 1)
    for failure in result["failures"]:
        assert (project.root / failure["trace_path"]).is_file()
        assert (project.root / failure["seed_path"]).is_file()
    assert (project.root / "state").stat().st_size > 0


@LONG
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupt_ends_the_shrinking_of_a_rule_that_hangs_and_loses_nothing(
    project: Project, number: signal.Signals
) -> None:
    with exploring(project, "Hanging", seconds=2) as started:
        started.until_said("shrinking failure")
        started.process.send_signal(number)
        ended, said = started.ended()
        assert ended == 1, said
        assert "Traceback" not in said
        assert processes_left(started.mark) == []
    result = started.result()
    assert sorted(failure["error_type"] for failure in result["failures"]) == ["RuleTimeoutError", "ValueError"]
    assert "Shrinking was interrupted: some traces are longer than need be." in result["notes"]
    for failure in result["failures"]:
        assert (project.root / failure["trace_path"]).is_file()
        assert (project.root / failure["seed_path"]).is_file()
    assert (project.root / "state").stat().st_size > 0


def test_a_second_interrupt_ends_all_at_once(project: Project) -> None:
    # Rules may take so long that to wait for one of them is to wait too long for the end.
    with exploring(project, "Hanging", 5 * CLI_TIME_LIMIT_S) as started:
        started.until_reached()
        started.process.send_signal(signal.SIGINT)
        time.sleep(0.2)  # the workers that hang are given a little more than that to come to their end
        started.process.send_signal(signal.SIGINT)
        ended, said = started.ended()
        assert ended == 130, said
        assert "Traceback" not in said
        assert processes_left(started.mark) == []


@pytest.mark.parametrize("name", ["Hanging", "Leaving"])
def test_no_process_outlives_an_exploration_that_is_killed(project: Project, name: str) -> None:
    with exploring(project, name, 60.0) as started:
        started.until_reached()
        time.sleep(0.3)
        assert len(processes_left(started.mark, seconds=0)) >= 3  # itself, and a worker with its reaper
        os.kill(started.process.pid, signal.SIGKILL)
        started.process.wait()
        assert processes_left(started.mark) == []

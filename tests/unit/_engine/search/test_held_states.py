"""Runs in a state that a process holds: what ends their process, what they print, and what they may say."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import ChaosTest

from ...samples.explored import KINDS, children, explore

pytestmark = pytest.mark.usefixtures("own_threads_alone")


class Crashing(ChaosTest):
    """Ends its process, wherever that is, once it has come far enough."""

    end: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (number for number in [0])
        self.made_in = os.getpid()
        self.count = 0

    @rule(by=st.integers(0, 3))
    def act(self, by: int) -> None:
        self.count += by
        # Not in the process of the tests, which explores.
        if self.count > 12 and os.getpid() != explores_in:
            type(self).end()

    def state_hash(self) -> int:
        return 1 + self.count


#: The process that explores.
explores_in = 0


@pytest.mark.supervised
@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "bucket"),
    [
        (lambda: os._exit(3), "ProcessExitError(3) at act"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "ProcessKilledError(SIGTERM) at act"),
    ],
)
def test_a_death_in_a_held_state_is_a_failure_like_any_other(
    end: Callable[[], object], bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Crashing, "end", staticmethod(end))
    monkeypatch.setattr(sys.modules[__name__], "explores_in", os.getpid())
    before = children()
    (failure,) = (result := explore(Crashing, "fork", max_runs=30)).failures
    assert (failure.bucket, failure.flaky) == (bucket, False)
    assert failure.trace is not None
    assert sum(int(each) for step in failure.trace.steps for each in step.choices["by"]) > 12
    assert (result.total_runs, result.unconfirmed) == (30, 0)
    assert children() == before


class Forking(ChaosTest):
    """Forks in the middle of a rule, and lets both go on. Where the test runs itself, it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (number for number in [0])
        self.count = 0

    @rule(number=st.integers(0, 9))
    def act(self, number: int) -> None:
        self.count += 1
        if self.count == 5 and os.getpid() != explores_in:
            os.fork()

    @rule(number=st.integers(0, 9))
    def look(self, number: int) -> None:
        assert self.count < 9

    def state_hash(self) -> int:
        return 1 + self.count


@pytest.mark.supervised
def test_a_fork_that_comes_back_in_a_held_state_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "explores_in", os.getpid())
    before = children()
    result = explore(Forking, "fork", max_runs=40)
    assert (result.total_runs, result.snapshot_kind) == (40, "fork")
    assert len(result.failures) == 1
    assert children() == before


class Deadly(ChaosTest):
    """Ends its process where that is not the one it was made in."""

    end: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self) -> None:
        super().__init__()
        self.made_in = os.getpid()
        self.numbers = (number for number in [0])

    @rule(number=st.integers(0, 50))
    def act(self, number: int) -> None:
        if os.getpid() != self.made_in and number > 45:
            type(self).end()


@pytest.mark.supervised
@pytest.mark.parametrize(
    ("end", "said"),
    [
        (lambda: os._exit(3), "ended with exit code 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "ended by SIGKILL"),
        (lambda: os.execv("/bin/true", ["true"]), "ended by replacing it with another program"),
        (lambda: os.kill(os.getppid(), signal.SIGKILL), "was lost"),
    ],
)
def test_a_run_that_ends_its_process_is_noted_and_the_rest_goes_on(
    end: Callable[[], object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Deadly, "end", staticmethod(end))
    before = children()
    result = explore(Deadly, "fork", max_runs=30)
    assert result.total_runs == 30
    assert any(said in note for note in result.notes), result.notes
    assert children() == before


#: Where a process that slept to its end leaves a file.
slept_in: list[Path] = []


@pytest.fixture
def sleepers(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file for each process whose long sleep nobody ended."""
    slept_in.append(tmp_path)
    yield tmp_path
    slept_in.clear()


def sleep_long() -> None:
    time.sleep(60)
    (slept_in[0] / str(os.getpid())).touch()


class Slow(ChaosTest):
    """Takes too long, in a held state."""

    rule_timeout = 0.2

    def __init__(self) -> None:
        super().__init__()
        self.made_in = os.getpid()
        self.count = 0

    @rule()
    def act(self) -> None:
        self.count += 1
        if os.getpid() != self.made_in:
            sleep_long()


@pytest.mark.supervised
def test_a_rule_of_a_held_state_has_its_time_limit(sleepers: Path) -> None:
    result = explore(Slow, "fork", max_runs=12)
    assert list(sleepers.iterdir()) == []
    assert result.unconfirmed > 0


class Interrupting(ChaosTest):
    """Presses Ctrl-C while a held state runs, and goes on as if nothing was."""

    def __init__(self) -> None:
        super().__init__()
        self.made_in = os.getpid()

    @rule()
    def act(self) -> None:
        if os.getpid() != self.made_in:
            os.kill(self.made_in, signal.SIGINT)
            sleep_long()


@pytest.mark.supervised
def test_ctrl_c_ends_a_run_of_a_held_state(sleepers: Path) -> None:
    before = children()
    result = explore(Interrupting, "fork")
    assert result.stopped_reason == "interrupted"
    assert list(sleepers.iterdir()) == []
    assert children() == before


class Skipping(ChaosTest):
    """Breaks a rule of Hypothesis once it has run for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @rule()
    def act(self) -> Any:
        self.count += 1
        return 1 if self.count > 25 else None


def test_what_ends_an_exploration_ends_it_from_a_held_state_too() -> None:
    failures = {kind: [each.bucket for each in explore(Skipping, kind, max_runs=40).failures] for kind in KINDS}
    assert failures["fork"] == failures["copy"] == failures["replay"]


@pytest.mark.supervised
def test_what_is_printed_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    made = itertools.count()

    class Printing(ChaosTest):
        def __init__(self) -> None:
            super().__init__()
            self.number, self.steps = next(made), 0

        @rule()
        def act(self) -> None:
            self.steps += 1
            sys.stdout.write(f"{os.getpid()} {self.number} {self.steps}\n")

        def state_hash(self) -> int:
            return self.steps

    explore(Printing, "fork", max_runs=40)
    lines = capfd.readouterr().out.splitlines()
    assert len({line.split()[0] for line in lines}) > 5
    assert sorted(set(lines)) == sorted(lines)

"""Machines with a simulated clock and disk: checkpoints carry both, and the same seed gives the same report."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal import ChaosTest
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.simulate import Clock, FileSystem
from ordeal.trace import replay

from ..samples.machines import run


class Lease(ChaosTest):
    """A lease that ends by a timer, by the machine's account of it, and by what is written on the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.files = FileSystem(clock=self.clock)
        self.now_s = 0.0
        self.ends_s: dict[int, float] = {}
        self.held: set[int] = set()
        self.leases = 0

    @rule(seconds=st.integers(1, 9))
    def take(self, seconds: int) -> None:
        self.leases += 1
        self.held.add(self.leases)
        self.ends_s[self.leases] = self.now_s + seconds
        self.clock.set_timer(seconds, functools.partial(self.held.discard, self.leases))
        with self.clock.patch(), self.files.patch():
            Path(f"/{self.leases}").write_text(str(time.time() + seconds))

    @rule(seconds=st.integers(1, 9))
    def wait(self, seconds: int) -> None:
        self.now_s += seconds
        with self.clock.patch():
            time.sleep(seconds)

    @rule()
    def restart(self) -> None:
        self.files.sync()
        self.files.crash()

    @invariant()
    def leases_end_in_time(self) -> None:
        assert self.clock.time() == self.now_s
        assert self.held == {lease for lease, end in self.ends_s.items() if end > self.now_s}
        assert self.clock.pending_timers == len(self.held)

    @invariant()
    def disk_agrees(self) -> None:
        assert {float(self.files.read(path)) for path in self.files.list_dir()} == set(self.ends_s.values())


class Overdue(Lease):
    """Fails once twenty seconds have passed with three leases held."""

    @invariant()
    def is_never_crowded(self) -> None:
        assert self.now_s < 20 or len(self.held) < 3, "crowded"


class HoldsOn(Lease):
    """The same with a timer that a copy could not carry."""

    @rule()
    def watch(self) -> None:
        self.clock.set_timer(1, lambda: self.clock.set_timer(0, int) and None)

    @invariant()
    def leases_end_in_time(self) -> None:
        assert self.clock.time() == self.now_s


class PatchedThroughout(ChaosTest):
    """Enters the patch once, for the whole life of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.patch = self.clock.patch()
        self.patch.__enter__()
        self.now_s = 0.0

    def teardown(self) -> None:
        self.patch.__exit__(None, None, None)
        super().teardown()

    @rule(seconds=st.integers(1, 9))
    def wait(self, seconds: int) -> None:
        self.now_s += seconds
        time.sleep(seconds)

    @invariant()
    def time_is_its_own(self) -> None:
        assert time.time() == self.now_s


class SessionState(ChaosTest):
    """Saves without syncing, and loses it in a crash whose outcome nobody draws by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.files = FileSystem()
        self.files.write("/a", "0")
        self.files.sync()
        self.saved = 0

    @rule()
    def save(self) -> None:
        self.saved += 1
        self.files.write("/a", str(self.saved))

    @rule()
    def crash(self) -> None:
        self.files.crash()

    @invariant()
    def is_saved_or_nothing(self) -> None:
        assert self.files.read_text("/a") in {"", str(self.saved)}, "an old version came back"


def explored(machine: Any, **options: Any) -> ExplorationResult:
    # The machines themselves, not ordeal.simulate: what that runs depends on what was imported meanwhile.
    return Explorer(machine, target_modules=[__name__], seed=3).run(
        max_runs=80, steps_per_run=20, max_time=600, **options
    )


@pytest.mark.parametrize("machine", [Lease, HoldsOn, PatchedThroughout])
def test_explorer_finds_machine_and_simulation_in_step(machine: type[ChaosTest]) -> None:
    result = explored(machine)
    assert result.failures == []
    assert result.checkpoints_saved > 0
    assert [machine.__name__ in note for note in result.notes] == ([] if machine is Lease else [True])


def test_failure_is_found_across_checkpoints_and_replays_the_same() -> None:
    first, second = explored(Overdue), explored(Overdue)
    assert [str(failure) for failure in first.failures] == [str(failure) for failure in second.failures]
    assert (first.total_steps, first.unique_edges) == (second.total_steps, second.unique_edges)
    (failure,) = first.failures
    assert "crowded" in str(failure.error)
    assert failure.trace is not None


def test_outcome_of_a_crash_is_part_of_the_run() -> None:
    (failure,) = explored(SessionState).failures
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps] == ["save", "crash"]
    assert "an old version came back" in str(replay(failure.trace, SessionState))
    with pytest.raises(AssertionError, match="an old version came back"):
        run(SessionState)


@pytest.mark.parametrize("machine", [Lease, PatchedThroughout])
def test_hypothesis_runs_them(machine: type[ChaosTest]) -> None:
    run(machine)


@pytest.mark.nightly
def test_hypothesis_finds_the_failure() -> None:
    with pytest.raises(AssertionError, match="crowded"):
        run(Overdue, max_examples=300)

"""Runs that found new code, shrunk to the steps that reach it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

import ordeal._native as _native
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.replay import path_shrinking
from ordeal._engine.replay.loading import LoadedTrace, load_for_replay
from ordeal._engine.replay.path_shrinking import ShrunkPath, shrink_paths
from ordeal.chaos import ChaosTest
from ordeal.trace import Trace, TraceStep

from ...samples.monitored import MakeModule, tool_names

SOURCE = """
seen = []

def look(number):
    if number > 3:
        if number > 10:
            return "many"
        return "some"
    return "few"

def once():
    if not seen:
        seen.append(1)
        return "first"
    return "again"

def chance(toss):
    if toss():
        return "head"
    return "tail"

def loop(numbers):
    odd = 0
    for number in numbers:
        if number % 2:
            odd += 1
        else:
            odd -= 1
    return odd
"""


class Looking(ChaosTest):
    """Calls the functions of a module that each test makes anew."""

    module: ModuleType
    toss: Callable[[], bool]

    @rule(number=st.integers(0, 100))
    def look(self, number: int) -> None:
        self.module.look(number)

    @rule()
    def idle(self) -> None:
        """Do nothing."""

    @rule()
    def once(self) -> None:
        self.module.once()

    @rule()
    def chance(self) -> None:
        self.module.chance(type(self).toss)

    @rule(numbers=st.lists(st.integers(0, 9)))
    def loop(self, numbers: list[int]) -> None:
        self.module.loop(numbers)

    @rule()
    def fail(self) -> None:
        raise ValueError("fails")

    @rule()
    def skip(self) -> None:
        pytest.skip("skips")

    @rule()
    def interrupt(self) -> None:
        raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def module(make_module: MakeModule) -> ModuleType:
    Looking.module = make_module(SOURCE)
    return Looking.module


Step = str | tuple[str, dict[str, list[Any]]]


def bench_of(*steps: Step) -> LoadedTrace:
    """A loaded for steps named by their rule, with the choices of the arguments beside the name where there are any."""
    named = [(step, {}) if isinstance(step, str) else step for step in steps]
    return load_for_replay(
        Trace(1, 42, "x:Y", steps=[TraceStep("rule", name, choices=c) for name, c in named]), Looking
    )


def look(number: int) -> Step:
    return "look", {"number": [number]}


def shrunk(*benches: LoadedTrace, seconds: float = 60.0) -> list[ShrunkPath]:
    return shrink_paths(benches[0].replayer, resolve_targets(["sut"]), [b.tape for b in benches], seconds=seconds)


def names(path: ShrunkPath) -> list[str]:
    rules = [r.name for r in load_for_replay(Trace(1, 42, "x:Y"), Looking).driver.definition.rules]
    return [rules[target] for _, target, _, _ in path.tape.steps()]


def test_only_the_steps_that_reach_the_new_edges_are_left() -> None:
    (path,) = shrunk(bench_of("idle", look(5), "idle", look(50), "idle", look(60), "idle"))
    assert (path.number, path.finished) == (0, True)
    assert names(path) == ["look", "look"]


def test_what_an_earlier_path_reaches_is_not_reached_again() -> None:
    first, second = shrunk(bench_of(look(5)), bench_of(look(6), "idle", look(50)))
    assert names(first) == ["look"]
    assert names(second) == ["look"]
    assert second.number == 1


def test_a_tape_with_nothing_new_is_no_path() -> None:
    paths = shrunk(bench_of(look(5)), bench_of(look(6), "idle"), bench_of("idle"), bench_of(look(50)))
    assert [path.number for path in paths] == [0, 3]


def test_what_runs_only_the_first_time_is_no_path_to_it() -> None:
    (path,) = shrunk(bench_of("idle", "once", "idle"))
    assert names(path) == ["once"]
    Looking.module.seen.clear()
    paths = shrunk(bench_of("once", look(1)), bench_of("once"), bench_of("once"))
    assert [names(path) for path in paths] == [["once", "look"], ["once"]]


def test_without_time_the_tapes_come_back_as_they_are() -> None:
    benches = bench_of("idle", look(5)), bench_of(look(5))
    paths = shrunk(*benches, seconds=0.0)
    assert [(path.number, path.finished) for path in paths] == [(0, False), (1, False)]
    assert [path.tape.hash() for path in paths] == [loaded.tape.hash() for loaded in benches]


def test_candidates_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_shrinking, "CANDIDATES_A_PATH", 1)
    (path,) = shrunk(bench_of(*["idle"] * 8, look(5)))
    assert not path.finished
    assert "look" in names(path)


def test_an_interruption_ends_the_shrinking_and_loses_no_tape() -> None:
    paths = shrunk(bench_of("idle", look(5)), bench_of("interrupt"), bench_of("idle", look(50)))
    assert [(path.number, path.finished) for path in paths] == [(0, True), (1, False), (2, False)]
    assert names(paths[0]) == ["look"]
    assert names(paths[2]) == ["idle", "look"]


def test_the_monitor_is_gone_afterwards_and_without_one_the_tapes_come_back_as_they_are() -> None:
    free = tool_names()
    running = _native.Monitor(_native.CoverageMap(), [])
    running.start()
    try:
        assert len(shrunk(bench_of(look(5)))) == 1
        sys.monitoring.use_tool_id(3, "another")
        try:
            (path,) = shrunk(bench_of("idle", look(5)))
            assert (names(path), path.finished) == (["idle", "look"], False)
        finally:
            sys.monitoring.free_tool_id(3)
    finally:
        running.stop()
    assert tool_names() == free

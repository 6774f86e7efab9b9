"""Replays from fresh machines: what they tell, that time limits hold, and what shrinking leaves of arguments."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import unittest
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal import ChaosTest, trace
from ordeal._engine.isolation.hangs import SECONDS_MIN, HangPolicy
from ordeal._engine.replay.loading import LoadedTrace, load_for_replay
from ordeal._engine.replay.replayer import ShrinkProgress
from ordeal._native import ALARM_SIGNAL, rings_in
from ordeal.trace import Trace, TraceStep

from ...samples.traced import Counter, Faulty, failing, toggled


class Skipping(RuleBasedStateMachine):
    """Asks to be skipped without ``wake`` before it."""

    def __init__(self) -> None:
        super().__init__()
        self.awake = False

    @rule()
    def wake(self) -> None:
        self.awake = True

    @rule()
    def end(self) -> None:
        if not self.awake:
            raise unittest.SkipTest("asleep")
        raise ValueError("the end")


def test_a_candidate_that_asks_to_be_skipped_is_refused() -> None:
    steps = [TraceStep("rule", name) for name in ("wake", "wake", "end")]
    small = trace.shrink(Trace(1, 42, f"{__name__}:Skipping", steps=steps), Skipping)
    assert [step.name for step in small.steps] == ["wake", "end"]


# ---------------------------------------------------------------------------------------------------------------------
# Time


#: What ended each step that waited, unless the replayer did: that it was awake, or that its time was over.
woken: list[bool] = []


class Sleepy(RuleBasedStateMachine):
    """Without ``wake`` before it, ``work`` hangs."""

    def __init__(self) -> None:
        super().__init__()
        self.awake = False

    @rule()
    def wake(self) -> None:
        self.awake = True

    @rule()
    def work(self) -> None:
        started = time.monotonic()
        while not self.awake and time.monotonic() < started + 60:
            time.sleep(0.01)
        woken.append(self.awake)

    @rule()
    def end(self) -> None:
        raise ValueError("the end")


def sleepy(*names: str) -> Trace:
    return Trace(1, 42, f"{__name__}:Sleepy", steps=[TraceStep("rule", name) for name in names])


@pytest.mark.parametrize("seconds", [0.3, 1.3])
def test_a_candidate_that_hangs_is_ended_when_time_is_up(seconds: float) -> None:
    handler = signal.getsignal(ALARM_SIGNAL)
    loaded = load_for_replay(sleepy("wake", "work", "end"), Sleepy)
    woken.clear()
    shrunk = loaded.replayer.shrink(loaded.tape, "another bucket", seconds)
    assert not shrunk.finished
    assert shrunk.tape.hash() == loaded.tape.hash()
    assert False not in woken, "the step that hung was not ended"
    assert signal.getsignal(ALARM_SIGNAL) is handler
    assert rings_in() == (0.0, 0.0)


class Slow(Sleepy):
    """Each step takes a while."""

    @rule()
    def work(self) -> None:
        time.sleep(0.05)
        woken.append(True)


def test_where_no_alarm_works_time_is_looked_at_between_steps() -> None:
    loaded = load_for_replay(sleepy(*["work"] * 50, "end"), Slow)
    finished: list[bool] = []
    woken.clear()

    def shrink() -> None:
        finished.append(loaded.replayer.shrink(loaded.tape, "another bucket", 0.2).finished)

    thread = threading.Thread(target=shrink)
    thread.start()
    thread.join()
    assert finished == [False]
    assert len(woken) < 50, "a candidate finished"


class SleepyFault(Faulty):
    """Hangs without faults."""

    def is_broken(self, on: set[str]) -> bool:
        if not on:
            time.sleep(60)
            woken.append(False)
        return True


def test_an_ablation_that_hangs_is_ended_when_time_is_up() -> None:
    loaded = load_for_replay(toggled(SleepyFault, "one(a)"), SleepyFault)
    bucket = loaded.replayer.run(loaded.tape).bucket
    woken.clear()
    assert loaded.replayer.ablate(loaded.tape, bucket, 0.3) is None
    assert woken == []


def test_ctrl_c_keeps_what_was_reached() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    bucket = loaded.replayer.run(loaded.tape).bucket

    def press(progress: ShrinkProgress) -> None:
        if progress.steps < len(loaded.tape):
            os.kill(os.getpid(), signal.SIGINT)

    shrunk = loaded.replayer.shrink(loaded.tape, bucket, 60.0, press)
    assert shrunk.interrupted
    assert not shrunk.finished
    assert len(shrunk.tape) < len(loaded.tape)
    assert loaded.replayer.run(shrunk.tape).bucket == bucket


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


@dataclass(frozen=True)
class Point:
    """What ``builds`` builds."""

    x: int
    y: int


type Case = tuple[st.SearchStrategy[Any], Callable[[Any], bool], Any]

CASES: dict[str, Case] = {
    "integers in bounds": (st.integers(100, 200), lambda x: x >= 150, 150),
    "integers below zero": (st.integers(-200, -100), lambda x: x <= -150, -150),
    "integers without bounds": (st.integers(), lambda x: abs(x) > 1000, 1001),
    "integers with one bound": (st.integers(min_value=50), lambda x: x >= 60, 60),
    "huge integers": (st.integers(0, 2**200), lambda x: x >= 2**100 + 12345, 2**100 + 12345),
    "a remainder": (st.integers(0, 10**6), lambda x: x % 7 == 3, 3),
    "booleans": (st.booleans(), lambda x: x, True),
    "floats": (st.floats(), lambda x: x > 2.5, 3.0),
    "floats in bounds": (st.floats(0.5, 0.9), lambda x: x > 0.61, 0.7),
    "not a number": (st.floats(), lambda x: x != x, math.nan),
    "text": (st.text(), lambda x: any(c.islower() for c in x), "a"),
    "text over an alphabet": (st.text("abc", min_size=2), lambda x: "c" in x, "ac"),
    "text by length": (st.text(), lambda x: len(x) >= 3, "000"),
    "binary": (st.binary(), lambda x: len(x) >= 2, b"\0\0"),
    "lists": (st.lists(st.integers()), lambda x: sum(x) >= 100, [100]),
    "lists of fixed size": (st.lists(st.integers(0, 50), min_size=3, max_size=3), lambda x: sum(x) > 60, [0, 11, 50]),
    "sets": (st.frozensets(st.integers(0, 99)), lambda x: len(x) >= 3, frozenset({0, 1, 2})),
    "dictionaries": (st.dictionaries(st.text(), st.integers()), lambda x: len(x) >= 1, {"": 0}),
    "sampled": (st.sampled_from("abcdef"), lambda x: x >= "d", "d"),
    "one of": (st.one_of(st.integers(5, 9), st.text(min_size=1)), lambda x: isinstance(x, str), "0"),
    "any branch": (st.one_of(st.integers(5, 9), st.text(min_size=1)), lambda x: True, 5),
    "builds": (st.builds(Point, st.integers(0, 9), st.integers(0, 9)), lambda p: p.x + p.y >= 12, Point(3, 9)),
    "filtered": (st.integers(0, 999).filter(lambda x: x % 10 == 4), lambda x: x > 300, 304),
    "mapped": (st.integers(0, 999).map(lambda x: 2 * x), lambda x: x > 301, 302),
    "flat mapped": (
        st.integers(1, 9).flatmap(lambda n: st.lists(st.integers(0, 9), min_size=n, max_size=n)),
        lambda x: 7 in x,
        [7],
    ),
    "dates": (st.dates(), lambda x: x.year >= 2010, date(2010, 1, 1)),
}


def shrunk_argument(strategy: st.SearchStrategy[Any], fails: Callable[[Any], bool]) -> Any:
    """What is left of the argument of a rule that fails on some values of ``strategy``; all values are from it."""
    seen: list[Any] = []

    class Machine(RuleBasedStateMachine):
        @rule(value=strategy)
        def check(self, value: Any) -> None:
            seen.append(value)
            assert not fails(value)

    small = trace.shrink(failing(Machine, shrink=False), Machine)
    assert len(small.steps) == 1
    loaded = load_for_replay(small, Machine)
    seen.clear()
    assert loaded.replayer.run(loaded.tape).bucket
    return seen[0]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_arguments_become_minimal(case: Case) -> None:
    strategy, fails, minimal = case
    left = shrunk_argument(strategy, fails)
    assert left == minimal or (left != left and minimal != minimal)


class TwoBugs(RuleBasedStateMachine):
    """Two failures, of which the one that takes more is not to become the one that takes less."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(value=st.integers(0, 100))
    def add(self, value: int) -> None:
        if value == 0 and self.total > 300:
            raise ValueError("empty")
        self.total += value
        if self.total > 500:
            raise OverflowError("full")


@pytest.mark.parametrize("name", ["ValueError", "OverflowError"])
def test_the_bucket_is_kept(name: str) -> None:
    steps = [TraceStep("rule", "add", choices={"value": [value]}) for value in [90, 80, 70, 60, 50, 40, 30, 20, 10, 70]]
    if name == "ValueError":
        steps.append(TraceStep("rule", "add", choices={"value": [0]}))
        del steps[4:10]
        steps[3] = TraceStep("rule", "add", choices={"value": [65]})
    found = Trace(1, 42, f"{__name__}:TwoBugs", steps=steps)
    loaded = load_for_replay(found, TwoBugs)
    first = loaded.replayer.run(loaded.tape)
    assert first.bucket.startswith(name)
    shrunk = loaded.replayer.shrink(first.tape, first.bucket, 60.0)
    last = loaded.replayer.run(shrunk.tape)
    assert last.bucket == first.bucket
    assert [choices for _, _, _, [(_, choices)] in last.tape.steps()] == (
        [[1], [100], [100], [100], [0]] if name == "ValueError" else [[1], [100], [100], [100], [100], [100]]
    )


class Waiting(ChaosTest):
    """Hangs from 40 on, and takes long from 4 on; ``waits`` are the limits under which it hung."""

    rule_timeout = 0.4
    long = 0.0
    hung = 0

    @rule(value=st.integers(0, 100))
    def act(self, value: int) -> None:
        if value >= 40:
            type(self).hung += 1
            threading.Event().wait(20)
        if value >= 4:
            threading.Event().wait(self.long)


def hanging(values: Sequence[int] = (1, 2, 3, 90)) -> LoadedTrace:
    steps = [TraceStep("rule", "act", {"value": value}, choices={"value": [value]}) for value in values]
    return load_for_replay(Trace(1, 42, f"{__name__}:Waiting", steps=steps), Waiting)


@pytest.fixture
def adapted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limits below the full one that steps have had."""
    given: list[float] = []
    limit_of = HangPolicy.limit_of

    def noted(limits: HangPolicy, name: str) -> float:
        limit = limit_of(limits, name)
        given.extend([limit] * (limit < Waiting.rule_timeout))
        return limit

    monkeypatch.setattr(HangPolicy, "limit_of", noted)
    return given


def test_a_hang_takes_its_full_limit_once_when_it_is_confirmed(adapted: list[float]) -> None:
    loaded = hanging()
    with loaded.running():
        first, second = loaded.replayer.confirm(loaded.tape)
    assert first.bucket == second.bucket
    assert first.bucket.startswith("ordeal.rule_timeout.RuleTimeoutError")
    assert set(adapted) == {SECONDS_MIN}


def test_a_hang_shrinks_with_lower_limits(adapted: list[float]) -> None:
    loaded = hanging()
    watched: list[float] = []
    loaded.replayer.watches = watched.append
    with loaded.running():
        bucket = loaded.replayer.confirm(loaded.tape)[0].bucket
        shrunk = loaded.replayer.shrink_hang(loaded.tape, bucket, 20)
    assert shrunk is not None
    assert watched == [loaded.driver.rule_timeout]
    assert [arguments for _, _, _, arguments in shrunk.tape.steps()] == [[(1, [40])]]
    assert shrunk.finished
    assert adapted


@pytest.mark.slow
def test_a_step_that_is_slow_and_passes_is_no_hang_whatever_the_lower_limit_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Waiting, "long", 0.2)
    loaded = hanging()
    with loaded.running():
        bucket = loaded.replayer.confirm(loaded.tape)[0].bucket
        shrunk = loaded.replayer.shrink_hang(loaded.tape, bucket, 20)
        assert shrunk is not None
        assert loaded.replayer.hangs(shrunk.tape, bucket)
    assert [int(choices[0]) >= 40 for *_, arguments in shrunk.tape.steps() for _, choices in arguments][-1:] == [True]

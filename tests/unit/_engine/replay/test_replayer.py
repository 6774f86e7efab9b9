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
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule

from ordeal import ChaosTest, trace
from ordeal._engine.execution.driver import Status
from ordeal._engine.isolation.hangs import SECONDS_MIN, HangPolicy
from ordeal._engine.replay.loading import LoadedTrace, load_for_replay
from ordeal._engine.replay.replayer import ShrinkProgress
from ordeal.trace import Trace, TraceStep

from ...samples.traced import Counter, Everything, Faulty, failing, toggled


def test_a_replay_tells_status_bucket_and_the_steps_that_ran() -> None:
    trace = failing(Counter)
    loaded = load_for_replay(trace)
    replayed = loaded.replayer.run(loaded.tape)
    assert replayed.outcome.status is Status.FAILED
    assert replayed.bucket.startswith("ValueError in Counter.add: raise ValueError(")
    assert len(replayed.tape) == len(loaded.tape) == len(trace.taken_steps())
    assert (replayed.misaligned, replayed.rejected) == (0, 0)


def test_steps_that_cannot_run_are_left_out_and_counted() -> None:
    loaded = load_for_replay(
        Trace(1, 42, "x:Y", steps=[TraceStep("rule", "make"), TraceStep("rule", "spend")]), Everything
    )
    replayed = loaded.replayer.run(loaded.tape)
    assert (replayed.outcome.status, replayed.rejected, len(replayed.tape)) == (Status.DONE, 2, 0)


def test_a_confirmation_is_two_replays() -> None:
    loaded = load_for_replay(failing(Counter))
    first, second = loaded.replayer.confirm(loaded.tape)
    assert first.bucket == second.bucket


def test_shrinking_without_time_gives_the_tape_back_unfinished() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    bucket = loaded.replayer.run(loaded.tape).bucket
    shrunk = loaded.replayer.shrink(loaded.tape, bucket, 0.0)
    assert not shrunk.finished
    assert shrunk.tape.hash() == loaded.tape.hash()


def test_shrinking_tells_its_progress_after_every_replay() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    told: list[ShrinkProgress] = []
    shrunk = loaded.replayer.shrink(loaded.tape, loaded.replayer.run(loaded.tape).bucket, 60.0, told.append)
    assert shrunk.finished
    assert not shrunk.interrupted
    assert [progress.candidates for progress in told] == list(range(1, shrunk.candidates + 1))
    assert told[0].phase == "steps"
    assert told[-1].steps == len(shrunk.tape) == 2


class Tagged(RuleBasedStateMachine):
    """Draws less for its tags than it once did; ``end`` draws in its body, and fails as long as it is told to."""

    fails = False

    @rule(tags=st.just([]))
    def tag(self, tags: list[str]) -> None:
        pass

    @rule(count=st.integers(0, 9), data=st.data())
    def end(self, count: int, data: Any) -> None:
        data.draw(st.booleans())
        if self.fails:
            raise ValueError("the end")


TAG = TraceStep("rule", "tag", choices={"tags": [True, "a", False]})
END = TraceStep("rule", "end", choices={"count": [3, 4], "(body)": [True, True, True]})


@pytest.mark.parametrize(
    ("steps", "fails", "unused"),
    [([TAG], False, 3), ([TAG, END], False, 4), ([END, TAG], False, 6), ([TAG, END], True, 3), ([END, TAG], True, 0)],
)
def test_recorded_choices_that_nothing_draws_any_more_are_counted(
    monkeypatch: pytest.MonkeyPatch, steps: list[TraceStep], fails: bool, unused: int
) -> None:
    monkeypatch.setattr(Tagged, "fails", fails)
    loaded = load_for_replay(Trace(1, 42, f"{__name__}:Tagged", steps=steps), Tagged)
    replayed = loaded.replayer.run(loaded.tape)
    assert (replayed.misaligned, replayed.unused) == (0, unused)


def test_a_tape_shrinks_while_something_else_than_a_failure_holds() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    prepared: list[int] = []
    shrunk = loaded.replayer.shrink_while(
        loaded.tape, lambda replayed: replayed.tape.choice_count >= 1, 60.0, prepare=lambda: prepared.append(1)
    )
    assert shrunk.finished
    assert (len(shrunk.tape), shrunk.tape.choice_count) == (1, 1)
    assert len(prepared) == shrunk.candidates


def test_the_replays_of_a_shrinking_can_be_limited() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    shrunk = loaded.replayer.shrink_while(loaded.tape, lambda _: False, 60.0, candidates_max=2)
    assert (shrunk.candidates, shrunk.finished) == (2, False)


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


def test_shrinking_is_the_same_each_time() -> None:
    loaded = load_for_replay(failing(Counter, shrink=False))
    bucket = loaded.replayer.run(loaded.tape).bucket
    first, second = (loaded.replayer.shrink(loaded.tape, bucket, 60.0) for _ in range(2))
    assert first.tape == second.tape
    assert first.candidates == second.candidates


def test_ablation_without_time_says_nothing_of_any_fault() -> None:
    loaded = load_for_replay(toggled(Faulty, "one(a)", "two(b)", "three(c)"))
    bucket = loaded.replayer.run(loaded.tape).bucket
    assert loaded.replayer.ablate(loaded.tape, bucket, 0.0) is None
    assert loaded.replayer.ablate(loaded.tape, bucket) == {"one(a)": True, "two(b)": True, "three(c)": False}


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
    handler = signal.getsignal(signal.SIGALRM)
    loaded = load_for_replay(sleepy("wake", "work", "end"), Sleepy)
    woken.clear()
    shrunk = loaded.replayer.shrink(loaded.tape, "another bucket", seconds)
    assert not shrunk.finished
    assert shrunk.tape.hash() == loaded.tape.hash()
    assert False not in woken, "the step that hung was not ended"
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


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
    assert len(woken) < 50, "a candidate came to its end"


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


@pytest.mark.parametrize("filtered", [st.integers(0, 999).filter(lambda x: x % 10 == 4), st.text("abc", min_size=3)])
def test_no_candidate_leaves_its_strategy(filtered: st.SearchStrategy[Any]) -> None:
    def fails(value: Any) -> bool:
        if isinstance(value, int):
            assert value % 10 == 4
        else:
            assert len(value) >= 3
            assert set(value) <= set("abc")
        return value not in (4, "aaa")

    assert shrunk_argument(filtered, fails) in (14, "aab")


class Drawing(RuleBasedStateMachine):
    """Draws in the body of its rule."""

    @rule(data=st.data())
    def check(self, data: Any) -> None:
        size = data.draw(st.integers(0, 6))
        values = [data.draw(st.integers(0, 1000)) for _ in range(size)]
        assert sum(values) < 1500


def test_draws_in_a_body_become_minimal() -> None:
    loaded = load_for_replay(trace.shrink(failing(Drawing, shrink=False, max_runs=60), Drawing), Drawing)
    ((_, _, _, arguments),) = loaded.replayer.run(loaded.tape).tape.steps()
    assert [choices for _, choices in arguments if choices] == [[2, 500, 1000]]


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


class Twins(RuleBasedStateMachine):
    """Fails when the same word comes twice, in two rules."""

    def __init__(self) -> None:
        super().__init__()
        self.words: set[str] = set()

    @rule(word=st.text(min_size=2))
    def say(self, word: str) -> None:
        self.words.add(word)

    @rule(word=st.text(min_size=2))
    def ask(self, word: str) -> None:
        assert word not in self.words


def test_equal_values_become_simple_together() -> None:
    steps = [TraceStep("rule", name, choices={"word": ["hello"]}) for name in ("say", "ask")]
    small = trace.shrink(Trace(1, 42, f"{__name__}:Twins", steps=steps), Twins)
    assert [step.choices["word"] for step in small.steps] == [["00"], ["00"]]


class Accounts(RuleBasedStateMachine):
    """Fails when money goes from an account to itself after a deposit on it."""

    accounts: Bundle[int] = Bundle("accounts")

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.paid: set[int] = set()

    @rule(target=accounts)
    def open(self) -> int:
        self.count += 1
        return self.count

    @rule(account=accounts)
    def pay(self, account: int) -> None:
        self.paid.add(account)

    @precondition(lambda self: self.paid)
    @rule(source=accounts, into=accounts)
    def move(self, source: int, into: int) -> None:
        assert source != into or source not in self.paid


def test_values_of_bundles_become_few() -> None:
    small = trace.shrink(failing(Accounts, shrink=False), Accounts)
    assert [step.name for step in small.steps] == ["open", "pay", "move"]


class Windows(Faulty):
    """Fails when one fault is on during a first call, and off while another is on during a second one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = False

    def is_broken(self, on: set[str]) -> bool:
        broken = self.first and on == {"two(b)"}
        self.first = self.first or on == {"one(a)"}
        return broken

    @rule()
    def rest(self) -> None: ...


def test_windows_of_faults_become_small() -> None:
    names = ["+three(c)", "+one(a)", "-three(c)", "rest", "go", "rest", "rest", "-one(a)", "+two(b)", "rest", "go"]
    steps = [TraceStep("rule" if name in ("go", "rest") else "fault_toggle", name) for name in names]
    small = trace.shrink(Trace(1, 42, f"{__name__}:Windows", steps=steps), Windows)
    assert [step.name for step in small.steps] == ["+one(a)", "go", "-one(a)", "+two(b)", "go"]


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

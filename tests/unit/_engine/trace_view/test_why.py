"""Why a trace fails: the step that decided, what may vary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.trace_view import why
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.view import FailShare, TraceView
from ordeal._engine.trace_view.watch import ReplayWatch
from ordeal._engine.trace_view.why import Variants
from ordeal.explore import Explorer

from ...samples import explained as sample
from ...samples.decided import PUZZLES, RareArgument, WrongMode
from ...samples.viewed import Till


def found_in(machine: Any, **limits: Any) -> Any:
    """The trace of the only failure of a machine."""
    (failure,) = Explorer(machine, workers=1).run(**limits).failures
    assert failure.trace is not None
    return failure.trace


@contextmanager
def variants_of(trace: Any, machine: Any, deadline: float = math.inf) -> Iterator[Variants]:
    loaded = load_for_replay(trace, machine)
    with loaded.running():
        ran = loaded.replayer.run(loaded.tape)
        yield Variants(loaded.driver, loaded.replayer, ran.tape, ran.bucket, deadline)


@pytest.fixture
def variants() -> Iterator[Variants]:
    with variants_of(sample.trace(), sample.Desk) as found:
        yield found


def test_nothing_is_explained_where_that_is_not_wanted() -> None:
    view = record_view(sample.trace(), likelihood=False)
    assert view.chances == []


# -- when it was decided


def largest_rise(puzzle: Any) -> tuple[str, list[FailShare], list[int]]:
    """The rule of the step at which the share of failing runs rises most."""
    trace = found_in(puzzle, max_runs=4_000, steps_per_run=30)
    with variants_of(trace, puzzle, _native.monotonic() + 30) as variants:
        shares, steps, _ = why.likelihood(variants)
    rises = [(now.failed - before.failed, trace.taken_steps()[now.steps - 1].name) for before, now in pairwise(shares)]
    return max(rises)[1], shares, steps


@pytest.mark.parametrize("puzzle", [RareArgument, WrongMode])
def test_the_step_that_decided_is_named(puzzle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(why, "RUNS", 32)
    rule, shares, steps = largest_rise(puzzle)
    assert rule == puzzle.DECIDED_BY
    assert shares[-1].failed == shares[-1].runs
    assert len(steps) == 1


@pytest.mark.nightly
def test_nine_of_ten_puzzles() -> None:
    right = [puzzle for puzzle in PUZZLES if largest_rise(puzzle)[0] == puzzle.DECIDED_BY]
    assert len(right) >= 9


# -- the nearest run that passes, and the lines that only failing runs take


@pytest.fixture(scope="module")
def till() -> TraceView:
    result = Explorer(Till, target_modules=["unit.samples.viewed"], workers=1, seed=44).run(max_runs=400)
    (failure,) = [failure for failure in result.failures if "script" in str(failure.error)]
    assert failure.trace is not None
    return record_view(failure.trace)


def test_a_run_without_the_fault_is_the_nearest_that_passes(till: TraceView) -> None:
    assert till.passing is not None
    left_out = till.steps[till.passing.step - 1]
    assert (left_out.kind, till.passing.argument) == ("fault_toggle", "")
    assert till.passing.at[till.passing.step - 1] is None
    others = [at for at in till.passing.at if at is not None]
    assert others == list(range(len(till.passing.view.steps)))
    assert not any(step.failed for step in till.passing.view.steps)


def test_a_run_with_another_value_is_near_and_the_step_that_only_checks_varies_last() -> None:
    class Counter(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.total = 0

        @rule(amount=st.integers(0, 9))
        def add(self, amount: int) -> None:
            self.total += amount

        @rule(least=st.integers(0, 9))
        def check(self, least: int) -> None:
            assert self.total < 5 or least < 5

    trace = found_in(Counter, max_runs=400)
    texts = [step.text for step in trace.taken_steps()]
    with variants_of(trace, Counter, _native.monotonic() + 30) as variants:
        for last_checks, argument in ((True, "amount"), (False, "least")):
            watch = ReplayWatch(Counter, lambda _file: False, frozenset())
            found = why.nearest(variants, texts, watch, last_checks=last_checks)
            assert found is not None
            assert (found.step, found.argument) == (1 if last_checks else 2, argument)


def test_the_lines_that_failing_runs_take_are_suspicious() -> None:
    class Gate(RuleBasedStateMachine):
        is_broken = False

        def take(self, number: int) -> None:
            if number == 7:
                self.is_broken = True

        @rule(number=st.integers(0, 40))
        def push(self, number: int) -> None:
            self.take(number)

        @rule()
        def look(self) -> None:
            assert not self.is_broken

    trace = found_in(Gate, max_runs=4_000)
    with variants_of(trace, Gate, _native.monotonic() + 30) as variants:
        _, _, lines = why.likelihood(variants, [Gate.take.__code__])
    assert [line.code for line in lines] == ["self.is_broken = True"]
    assert lines[0].failing == lines[0].failing_runs > lines[0].passing


# -- what may vary


class Account(RuleBasedStateMachine):
    @rule(
        least=st.integers(0, 1000),
        most=st.integers(-500, 500),
        exact=st.integers(0, 40),
        free=st.integers(),
        but=st.integers(-20, 20),
        item=st.sampled_from("abcdef"),
        name=st.text(),
    )
    def check(self, least: int, most: int, exact: int, free: int, but: int, item: str, name: str) -> None:
        assert not (least >= 137 and most <= 20 and exact == 7 and but not in (0, 1))


def test_thresholds_values_that_must_be_and_those_that_do_not_matter() -> None:
    trace = found_in(Account, max_runs=3_000)
    with variants_of(trace, Account, _native.monotonic() + 30) as variants:
        said = {each.argument: each.said for each in why.variations(variants, [s.text for s in trace.taken_steps()])}
    assert said["least"] == "must be 137 or more"
    assert said["most"] == "must be 20 or less"
    assert said["exact"].startswith("must be 7: none of ")
    assert said["but"].startswith("may be anything but 0 or 1: ")
    assert said["free"].startswith("may be anything: ")
    assert said["item"].startswith("may be anything: ")
    assert "name" not in said

"""The nearest run that passes: without its fault or a step, or with another value, beside the failing one."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.trace_view.comparison import compared
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.trials import Trials
from ordeal._engine.trace_view.view import Difference, TraceView
from ordeal._engine.trace_view.watch import StepWatch
from ordeal.explore import Explorer

from ...samples.explained import explained, loaded, trace


def test_it_lacks_the_fault_and_the_first_difference_is_named() -> None:
    passing = explained().passing
    assert passing is not None
    assert passing.how == "without step 4"
    assert passing.first == 5
    assert [step.ran for step in passing.steps] == [True, True, True, False, True, True]
    assert passing.steps[4].differs == [
        Difference("store.sizes", "{'file 1': 10}", "{}"),
        Difference("store.lost", "0", "-10"),
    ]
    # What differed before is not told again.
    assert passing.steps[5].differs == [Difference("store.lost", "0", "10")]


class Limit(RuleBasedStateMachine):
    @rule(amount=st.integers(0, 1_000))
    def spend(self, amount: int) -> None:
        assert amount < 137


def test_where_no_step_can_be_left_out_another_value_passes() -> None:
    result = Explorer(Limit, workers=1).run(max_runs=1_000)
    (failure,) = result.failures
    assert failure.trace is not None
    failing = load_for_replay(failure.trace, Limit)
    with failing.running():
        replayed = failing.replayer.run(failing.tape)
        trials = Trials(failing.replayer, replayed.bucket, math.inf)
        watch = StepWatch(Limit, lambda _: False, frozenset())
        failing.replayer.run(failing.tape, watch)
        view = TraceView(start=watch.start, steps=watch.views)
        new = lambda: StepWatch(Limit, lambda _: False, frozenset())  # noqa: E731
        passing = compared(failing.driver, trials, replayed.tape, {}, view, new)
    assert passing is not None
    assert passing.how == "with another amount in step 1"
    assert passing.steps[0].arguments == {"amount": "136"}
    assert passing.first == 1


def test_without_time_there_is_none() -> None:
    failing = loaded()
    with failing.running():
        new = lambda: StepWatch(Limit, lambda _: False, frozenset())  # noqa: E731
        trials = Trials(failing.replayer, "", 0.0)
        assert compared(failing.driver, trials, failing.tape, {}, explained(), new) is None


def test_it_is_not_asked_for_where_nothing_is_to_be_explained() -> None:
    view = record_view(trace(), likelihood=False)
    assert (view.passing, view.roles, view.windows, view.suspicious) == (None, [], [], [])

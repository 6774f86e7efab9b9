"""Traces that run again: how that compares to what they recorded, and what shrinking and ablation make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal import ablate_faults as public_ablate_faults
from ordeal._engine.replay.rerun import ReplayStatus, ablate_faults, rerun, shrink
from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.trace import Trace, TraceFailure, TraceStep, replay

from ...samples.traced import Counter, Everything, Faulty, failing, toggled


def test_a_failure_is_reproduced_with_its_error() -> None:
    trace = failing(Counter)
    error = replay(trace)
    assert isinstance(error, ValueError)
    result = rerun(trace)
    assert (result.status, str(result.error), result.misfits, result.rejected) == (
        ReplayStatus.REPRODUCED,
        str(error),
        0,
        False,
    )
    assert [step.name for step in result.steps] == [step.name for step in trace.taken_steps()]


def test_a_fixed_failure_is_not_reproduced() -> None:
    class Fixed(Counter):
        limit = 10**6

    assert replay(failing(Counter), Fixed) is None
    assert rerun(failing(Counter), Fixed).status is ReplayStatus.NOT_REPRODUCED


@pytest.mark.parametrize("message", ["another line", "another type"])
def test_another_failure_is_told_apart(message: str) -> None:
    class Other(Counter):
        limit = 10**6

        @rule()
        def rest(self) -> None: ...

        def teardown(self) -> None:
            raise (ValueError if message == "another line" else KeyError)(message)

    assert rerun(failing(Counter), Other).status is ReplayStatus.FAILS_DIFFERENTLY


def test_a_bucket_that_the_targets_named_is_known_again_without_them() -> None:
    trace = failing(Counter, max_shrink_time=5.0)
    assert trace.failure is not None
    assert trace.failure.bucket.startswith("ValueError in ")
    assert rerun(replace(trace, failure=replace(trace.failure, bucket=""))).status is ReplayStatus.REPRODUCED
    elsewhere = replace(trace.failure, bucket="ValueError in elsewhere: raise")
    assert rerun(replace(trace, failure=elsewhere)).status is ReplayStatus.FAILS_DIFFERENTLY


def test_a_step_that_cannot_run_any_more_is_named() -> None:
    steps = [TraceStep("initialize", "first"), TraceStep("rule", "spend")]
    trace = Trace(1, 42, "x:Y", steps=[TraceStep("rule_swarm", "[swarm rules=1 faults=0]"), *steps])
    with pytest.raises(OutdatedTraceError, match="step 2, `spend`, cannot run"):
        replay(trace, Everything)


def test_choices_that_no_longer_fit_are_counted() -> None:
    trace = Trace(1, 42, "x:Y", steps=[TraceStep("rule", "add", choices={"by": [99]})])
    assert rerun(trace, Counter).misfits == 1


def test_a_rejected_run_is_no_failure() -> None:
    class Picky(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            assume(False)

    result = rerun(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "go")]), Picky)
    assert (result.status, result.error, result.rejected) == (ReplayStatus.NOT_REPRODUCED, None, True)


def test_a_run_that_asks_to_be_skipped_says_so() -> None:
    class Skipping(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            raise SkipTest("no network")

    with pytest.raises(TraceError, match=r"asks to be skipped: no network"):
        replay(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "go")]), Skipping)


def test_shrinking_keeps_the_failure_and_drops_the_rest() -> None:
    long = failing(Counter, shrink=False)
    steps = [TraceStep("rule", "rest"), *long.steps[:-1], TraceStep("rule", "rest"), long.steps[-1]]
    small = shrink(replace(long, steps=steps))
    assert [step.name for step in small.steps] == ["add"] * len(small.steps)
    assert len(small.steps) <= len(long.steps)
    assert rerun(small).status is ReplayStatus.REPRODUCED
    assert small.failure is not None
    assert long.failure is not None
    assert small.failure.bucket == long.failure.bucket
    assert small.run_id == long.run_id


def test_a_failure_of_a_rule_may_shrink_to_an_invariant_that_fails_at_the_same_place() -> None:
    class Both(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.total = 1

        def check(self) -> None:
            assert self.total not in {0, 6}

        @rule(total=st.integers(0, 9))
        def put(self, total: int) -> None:
            self.total = total

        @rule()
        def double(self) -> None:
            self.total *= 2
            self.check()

        @invariant()
        def holds(self) -> None:
            self.check()

    steps = [TraceStep("rule", "put", choices={"total": [3]}), TraceStep("rule", "double")]
    small = shrink(Trace(1, 42, "x:Y", steps=steps), Both)
    assert [(step.name, step.choices) for step in small.steps] == [("put", {"total": [0]})]
    assert small.failure is not None
    assert small.failure.bucket.endswith("[after put]")
    assert rerun(small, Both).status is ReplayStatus.REPRODUCED


@pytest.mark.parametrize("study", [shrink, ablate_faults])
def test_a_trace_that_passes_can_neither_be_shrunk_nor_ablated(study: object) -> None:
    trace = Trace(3, 42, "x:Y", steps=[TraceStep("rule", "rest")])
    with pytest.raises(TraceError, match="the trace of run 3 does not fail"):
        study(trace, Counter)  # type: ignore[operator]


def test_ablation_names_the_faults_that_are_needed() -> None:
    trace = toggled(Faulty, "one(a)", "two(b)", "three(c)")
    assert ablate_faults(trace) == {"one": True, "two": True, "three": False}
    assert public_ablate_faults is ablate_faults


class Renamed(RuleBasedStateMachine):
    """Draws the same choices as ``Counter`` and makes something else of them."""

    @rule(by=st.integers(0, 5).map(lambda by: by + 1))
    def add(self, by: int) -> None: ...

    @rule()
    def rest(self) -> None: ...


def add(by: int, **changes: Any) -> TraceStep:
    return TraceStep("rule", "add", params={"by": by}, choices={"by": [by]}, **changes)


def test_the_first_step_that_ran_with_other_values_is_told() -> None:
    trace = Trace(1, 42, "x:Y", steps=[TraceStep("rule", "rest"), add(2, text={"by": "2"}), add(3, text={"by": "3"})])
    assert rerun(trace, Counter).changed == ""
    assert rerun(trace, Renamed).changed == "step 2 ran as add(by=3), the trace has add(by=2)"


def test_an_address_is_no_change() -> None:
    class Holding(RuleBasedStateMachine):
        @rule(what=st.builds(object))
        def hold(self, what: object) -> None: ...

    steps = [TraceStep("rule", "hold", text={"what": "<object object at 0x7f00>"})]
    assert rerun(Trace(1, 42, "x:Y", steps=steps), Holding).changed == ""


def test_choices_that_nothing_draws_are_counted() -> None:
    steps = [TraceStep("rule", "add", choices={"by": [1, 2, 3]}), TraceStep("rule", "rest")]
    assert rerun(Trace(1, 42, "x:Y", steps=steps), Counter).unused == 2


def test_a_failure_that_does_not_come_each_time_cannot_be_shrunk() -> None:
    class Fickle(RuleBasedStateMachine):
        runs = 0

        @rule()
        def act(self) -> None:
            type(self).runs += 1
            assert type(self).runs > 1

    with pytest.raises(TraceError, match="the trace of run 1 does not fail each time, so it cannot be shrunk"):
        shrink(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "act")]), Fickle)


def test_shrinking_keeps_the_name_that_the_exploration_gave() -> None:
    trace = failing(Counter)
    assert trace.failure is not None
    named = replace(trace, failure=replace(trace.failure, bucket=""))
    small = shrink(named)
    assert small.failure is not None
    assert small.failure.bucket == trace.failure.bucket
    assert small.failure == TraceFailure(
        "ValueError", small.failure.error_message, len(small.steps), trace.failure.bucket
    )

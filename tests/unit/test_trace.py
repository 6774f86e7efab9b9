"""What Python offers for traces: replay, rerun, shrink, ablate."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from unittest import SkipTest

import pytest
from hypothesis import assume
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal import ablate_faults as public_ablate_faults
from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.trace import (
    ReplayStatus,
    Trace,
    TraceFailure,
    TraceStep,
    ablate_faults,
    check_invariants,
    replay,
    rerun,
    shrink,
)

from .traced import AnyOfThree, Counter, Everything, Faulty, Independent, failing, toggled

# Replay


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
    assert [step.name for step in result.steps] == [step.name for step in trace.steps]


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


def test_a_failure_of_a_trace_that_passed_is_a_different_one() -> None:
    trace = replace(failing(Counter), failure=None)
    assert rerun(trace).status is ReplayStatus.FAILS_DIFFERENTLY


def test_a_bucket_that_the_targets_named_is_known_again_without_them() -> None:
    trace = failing(Counter, max_shrink_time=5.0)
    assert trace.failure is not None
    assert trace.failure.bucket.startswith("ValueError in ")
    assert rerun(replace(trace, failure=replace(trace.failure, bucket=""))).status is ReplayStatus.REPRODUCED
    elsewhere = replace(trace.failure, bucket="ValueError in elsewhere: raise")
    assert rerun(replace(trace, failure=elsewhere)).status is ReplayStatus.FAILS_DIFFERENTLY


@pytest.mark.parametrize(
    ("step", "gone"),
    [
        (TraceStep("rule", "gone"), "no rule 'gone'"),
        (TraceStep("initialize", "gone"), "no initialize rule 'gone'"),
        (TraceStep("fault_toggle", "+gone"), "no fault 'gone'"),
        (TraceStep("rule", "add", choices={"gone": [1]}), "no argument 'gone'"),
    ],
)
def test_what_is_gone_is_named(step: TraceStep, gone: str) -> None:
    trace = replace(failing(Counter), steps=[step])
    with pytest.raises(OutdatedTraceError, match=f"no longer applies to .*Counter: it has {gone}"):
        replay(trace)


def test_a_step_that_cannot_run_any_more_is_named() -> None:
    steps = [TraceStep("initialize", "first"), TraceStep("rule", "spend")]
    trace = Trace(1, 42, "x:Y", steps=[TraceStep("rule_swarm", "[swarm rules=1 faults=0]"), *steps])
    with pytest.raises(OutdatedTraceError, match="step 2, `spend`, cannot run"):
        replay(trace, Everything)


@pytest.mark.parametrize("step", [TraceStep("api_call", "x"), TraceStep("fault_toggle", "one(a)")])
def test_a_step_of_no_known_kind_is_refused(step: TraceStep) -> None:
    with pytest.raises(TraceError):
        replay(Trace(1, 42, "x:Y", steps=[step]), Faulty)


def test_choices_that_no_longer_fit_are_counted() -> None:
    trace = Trace(1, 42, "x:Y", steps=[TraceStep("rule", "add", choices={"by": [99]})])
    assert rerun(trace, Counter).misfits == 1


@pytest.mark.slow
def test_a_trace_of_fifty_steps_replays_in_three_milliseconds() -> None:
    steps = [TraceStep("rule", "rest"), TraceStep("rule", "add", choices={"by": [0]})] * 25
    trace = Trace(1, 42, "x:Y", steps=steps)
    assert replay(trace, Counter) is None
    took = []
    for _ in range(20):
        start = time.process_time()
        replay(trace, Counter)
        took.append(time.process_time() - start)
    # The best of many: what else uses the processor's memory can only make it slower.
    assert min(took) < 0.003


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


def test_a_replay_leaves_the_random_numbers_of_the_program_alone() -> None:
    random.seed(5)
    expected = [random.random() for _ in range(2)]
    random.seed(5)
    first = random.random()
    replay(failing(Counter))
    assert [first, random.random()] == expected


def test_a_rule_that_hangs_is_ended() -> None:
    class Slow(Faulty):
        rule_timeout = 0.1

        def is_broken(self, on: set[str]) -> bool:
            while True:
                pass

    error = replay(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "go")]), Slow)
    assert type(error).__name__ == "RuleTimeoutError"


# Shrink


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


@pytest.mark.parametrize("study", [shrink, ablate_faults])
def test_a_trace_that_passes_can_neither_be_shrunk_nor_ablated(study: object) -> None:
    trace = Trace(3, 42, "x:Y", steps=[TraceStep("rule", "rest")])
    with pytest.raises(TraceError, match="the trace of run 3 does not fail"):
        study(trace, Counter)  # type: ignore[operator]


# Ablation


def test_ablation_names_the_faults_that_are_needed() -> None:
    trace = toggled(Faulty, "one(a)", "two(b)", "three(c)")
    assert ablate_faults(trace) == {"one(a)": True, "two(b)": True, "three(c)": False}
    assert public_ablate_faults is ablate_faults


def test_three_faults_of_which_each_suffices_are_all_needed() -> None:
    trace = toggled(AnyOfThree, "one(a)", "two(b)", "three(c)")
    assert ablate_faults(trace) == {"one(a)": True, "two(b)": True, "three(c)": True}


def test_no_fault_is_needed_when_it_fails_without_any() -> None:
    assert ablate_faults(toggled(Independent, "one(a)", "two(b)")) == {"one(a)": False, "two(b)": False}


def test_without_toggles_there_is_nothing_to_ablate() -> None:
    assert ablate_faults(failing(Counter)) == {}


# Invariants


def test_invariants_are_checked_as_in_an_exploration() -> None:
    class Watched(RuleBasedStateMachine):
        checked: list[str]

        def __init__(self) -> None:
            super().__init__()
            self.checked = []

        @rule()
        def go(self) -> None: ...

        @invariant()
        def late(self) -> None:
            self.checked.append("late")

        @invariant(check_during_init=True)
        def always(self) -> None:
            self.checked.append("always")

    machine = Watched()
    check_invariants(machine, during_init=True)
    assert machine.checked == ["always"]
    check_invariants(machine)
    assert sorted(machine.checked) == ["always", "always", "late"]


def test_an_error_whose_text_raises_is_recorded_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert TraceFailure.of(Mute(), 1, "b").error_message == "<Mute whose text raises>"

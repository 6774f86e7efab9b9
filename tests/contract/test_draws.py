"""Checks 19 to 23: strategies that look at the machine or at the run, and what a rule's body may ask of Hypothesis."""

from __future__ import annotations

import importlib
import importlib.util
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import currently_in_test_context, event, note, register_random, target
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.explore import Explorer
from ordeal.trace import Trace, lower, replay, shrink

from .machines import LoggedMachine
from .runners import Runner


def test_19_a_data_argument_draws_inside_the_body(runner: Runner) -> None:
    seen: set[int] = set()

    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.items: list[int] = []

        @rule(data=st.data(), limit=st.integers(1, 5))
        def step(self, data: st.DataObject, limit: int) -> None:
            self.log("s")
            number = data.draw(st.integers(0, limit), label="number")
            assert 0 <= number <= limit
            seen.add(number)
            self.items.append(number)
            assert data.draw(st.sampled_from(self.items)) in self.items

    runner.run(Machine, runs=60, steps=8)
    assert seen == set(range(6))


@pytest.mark.branching
def test_20_the_runner_strategy_sees_the_live_state(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.items = [0]

        @rule()
        def grow(self) -> None:
            self.log("g")
            self.items.append(len(self.items))

        @rule(item=st.runner().flatmap(lambda machine: st.sampled_from(machine.items)))
        def use(self, item: int) -> None:
            self.log("u")
            assert item in self.items
            if item == len(self.items) - 1:
                newest.add(item)

    newest: set[int] = set()
    runner.run(Machine, runs=60, steps=8)
    assert len(newest) > 2, "the item added last is drawn too"


@pytest.mark.branching
def test_21_a_shared_strategy_has_one_value_in_a_run_and_a_new_one_in_the_next(runner: Runner) -> None:
    tenant = st.shared(st.integers(0, 1_000_000), key="tenant")
    tenants: set[int] = set()

    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.seen: set[int] = set()

        @rule(x=tenant)
        def first(self, x: int) -> None:
            self.log("f")
            self.seen.add(x)

        @rule(y=tenant, other=st.booleans())
        def second(self, y: int, other: bool) -> None:
            self.log("s")
            self.seen.add(y)

        def teardown(self) -> None:
            assert len(self.seen) <= 1, "the shared value changed within the run"
            tenants.update(self.seen)
            super().teardown()

    runner.run(Machine, runs=40, steps=8)
    assert any("f" in history and "s" in history for history in Machine.histories)
    assert len(tenants) > 1


def test_22_a_body_may_note_count_steer_and_ask_where_it_is(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule(number=st.integers(0, 100))
        def step(self, number: int) -> None:
            note(f"number is {number}")
            event("a step", payload=number)
            event("odd" if number % 2 else "even")
            assert currently_in_test_context()
            self.log("s")

        def teardown(self) -> None:
            target(float(len(self.history)), label="length")
            assert currently_in_test_context()
            super().teardown()

    runner.run(Machine, runs=20, steps=6)
    assert any("s" in history for history in Machine.histories)
    assert not currently_in_test_context()


def numpy_random() -> float:
    return float(importlib.import_module("numpy.random").random())


REGISTERED = random.Random(1)
register_random(REGISTERED)
RANDOM_SOURCES = [
    pytest.param(random.random, id="random"),
    pytest.param(REGISTERED.random, id="registered"),
]
if importlib.util.find_spec("numpy") is not None:
    RANDOM_SOURCES.append(pytest.param(numpy_random, id="numpy"))


@pytest.mark.parametrize("source", RANDOM_SOURCES)
def test_23_random_numbers_start_anew_in_each_run(runner: Runner, source: Callable[[], float]) -> None:
    source()
    started: list[float] = []

    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            started.append(source())

        @rule()
        def step(self) -> None:
            source()

    runner.run(Machine, runs=10, steps=4)
    assert len(started) > 1
    assert len(set(started)) == 1


@pytest.mark.branching
def test_23_random_numbers_go_on_in_a_restored_machine_as_in_the_run_it_continues(runner: Runner) -> None:
    class Machine(LoggedMachine):
        def __init__(self) -> None:
            super().__init__()
            self.drawn = [random.random()]

        @rule()
        def step(self) -> None:
            self.log("s")
            self.drawn.append(random.random())

        def teardown(self) -> None:
            sequences.append(self.drawn)
            super().teardown()

    sequences: list[list[float]] = []
    runner.run(Machine, runs=20, steps=6)
    longest = max(sequences, key=len)
    assert len(longest) > 3
    assert len(set(longest)) == len(longest)
    for sequence in sequences:
        assert sequence == longest[: len(sequence)]


def test_23_the_random_numbers_of_the_caller_are_left_alone(runner: Runner) -> None:
    class Machine(LoggedMachine):
        @rule()
        def step(self) -> None:
            random.random()

    random.seed(7)
    expected = [random.random() for _ in range(4)]
    random.seed(7)
    before = [random.random() for _ in range(2)]
    runner.run(Machine, runs=5, steps=4)
    assert before + [random.random() for _ in range(2)] == expected


class Drawing(LoggedMachine):
    """Uses the global random numbers, and fails at the third step."""

    @rule()
    def step(self) -> None:
        random.random()
        self.log("s")
        assert len(self.history) < 3


@pytest.mark.parametrize("use", [replay, shrink, lower])
def test_23_using_a_trace_leaves_the_random_numbers_of_the_caller_alone(use: Callable[[Trace, Any], object]) -> None:
    (failure,) = Explorer(Drawing).run(max_runs=30).failures
    assert failure.trace is not None
    before = random.getstate()
    use(failure.trace, Drawing)
    assert random.getstate() == before

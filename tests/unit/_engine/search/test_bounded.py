"""All rule sequences of a small scope: which they are, what the result says, and what cannot be gone through."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from ordeal import ChaosTest, Explorer
from ordeal.errors import ConfigError, GenerationError, Incomplete, MachineError, NonDeterministicGeneration
from ordeal.faults import Fault, LambdaFault
from ordeal.stateful import GenericStateMachine
from ordeal.trace import replay

RUNS: list[tuple[Any, ...]] = []


class Logged(RuleBasedStateMachine):
    """Writes down what its runs do."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[Any] = []

    def teardown(self) -> None:
        RUNS.append(tuple(self.done))


class Stack(Logged):
    @rule(x=st.integers(0, 1))
    def push(self, x: int) -> None:
        self.done.append(x)

    @precondition(lambda self: self.done and self.done[-1] != "pop")
    @rule()
    def pop(self) -> None:
        self.done.append("pop")


@pytest.fixture(autouse=True)
def _no_runs() -> None:
    RUNS.clear()


def stack_sequences(depth: int) -> set[tuple[Any, ...]]:
    every = (s for length in range(depth + 1) for s in itertools.product([0, 1, "pop"], repeat=length))
    return {s for s in every if s[:1] != ("pop",) and ("pop", "pop") not in itertools.pairwise(s)}


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_each_sequence_runs_once(depth: int) -> None:
    result = Explorer(Stack).exhaustive(depth=depth)
    expected = stack_sequences(depth)
    assert result.total_runs == len(expected)
    # A rule that cannot run is found out in a run that is not counted: it repeats one that was.
    assert set(RUNS) == expected
    assert result.notes == (f"All {len(expected)} rule sequences of up to {depth} step{'s' * (depth > 1)} were run.",)
    assert (result.stopped_reason, result.failures) == ("exhausted", [])
    assert result.notes[0] in result.summary()


def test_shorter_sequences_come_before_those_that_begin_with_them() -> None:
    Explorer(Stack).exhaustive(depth=2)
    order = list(dict.fromkeys(RUNS))
    assert order[:3] == [(), (0,), (0, "pop")]
    assert all(order.index(run[:-1]) < order.index(run) for run in order if run)


def test_the_same_runs_each_time() -> None:
    Explorer(Stack, seed=1).exhaustive()
    before = list(RUNS)
    RUNS.clear()
    Explorer(Stack, seed=2).exhaustive()
    assert before == RUNS


class Handed(Logged):
    values = Bundle("values")

    @initialize(target=values, x=st.sampled_from("ab"))
    def first(self, x: str) -> str:
        self.done.append(f"first {x}")
        return x

    @initialize()
    def second(self) -> None:
        self.done.append("second")

    @rule(target=values, y=values, z=st.lists(st.booleans(), max_size=1))
    def double(self, y: str, z: list[bool]) -> str:
        self.done.append((y, *z))
        return y * 2

    @rule(y=consumes(values))
    def eat(self, y: str) -> None:
        self.done.append(f"eat {y}")


def test_initialize_rules_bundles_and_preconditions_are_as_in_other_runs() -> None:
    result = Explorer(Handed).exhaustive(depth=1)
    assert result.total_runs == 20
    expected = set()
    for x in "ab":
        for start in itertools.permutations([f"first {x}", "second"]):
            steps: list[tuple[Any, ...]] = [(), ((x,),), ((x, False),), ((x, True),), (f"eat {x}",)]
            expected |= {(*start, *step) for step in steps}
    assert set(RUNS) == expected


class Queue(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []

    @rule(x=st.integers(-1, 1))
    def put(self, x: int) -> None:
        self.items.append(x)

    @rule(data=st.data())
    def swap(self, data: st.DataObject) -> None:
        order = data.draw(st.permutations(range(len(self.items))))
        self.items = [self.items[place] for place in order]

    @invariant()
    def no_bad_order(self) -> None:
        assert self.items != [1, -1]


def test_a_failure_is_a_trace_like_any_other(tmp_path: Path) -> None:
    result = Explorer(Queue, corpus_dir=tmp_path).exhaustive(depth=3)
    failure, other = result.failures
    assert failure.program.splitlines()[1:-2] == ["state.put(x=1)", "state.put(x=-1)"]
    assert (failure.flaky, failure.shrunk) == (False, True)
    assert (failure.broken_by, other.broken_by) == (["put"], ["swap"])
    assert failure.trace is not None
    assert isinstance(replay(failure.trace, Queue), AssertionError)
    assert failure.seed_path is not None
    assert Path(failure.seed_path).is_file()
    assert "All " in result.notes[-1]


class Switched(ChaosTest):
    faults: ClassVar[list[Fault]] = [LambdaFault("broken", lambda: None, lambda: None)]

    @rule(x=st.booleans())
    def call(self, x: bool) -> None:
        assert not (x and self.active_faults)


def test_faults_are_switched_when_asked_for() -> None:
    assert not Explorer(Switched).exhaustive(depth=3).failures
    result = Explorer(Switched).exhaustive(depth=2, faults=True)
    assert result.failures[0].rule_log == ["+broken", "call"]
    assert result.failures[0].necessary_faults == {"broken": True}
    assert result.notes[-1] == "All 13 rule sequences of up to 2 steps, faults switched among them, were run."


class Wide(Logged):
    @rule(i=st.integers(), f=st.floats(allow_nan=False), t=st.text(), b=st.tuples(st.binary(), st.integers(0, 99)))
    def take(self, i: int, f: float, t: str, b: Any) -> None:
        self.done.append((i, f, t, b))


def test_an_argument_without_an_end_is_named() -> None:
    with pytest.raises(GenerationError, match=r"take\.\w+ cannot be enumerated: .*\nhint: .*values=3"):
        Explorer(Wide).exhaustive(depth=1)


def test_values_takes_the_simplest_and_says_so() -> None:
    result = Explorer(Wide).exhaustive(depth=1, values=2)
    assert result.total_runs == 1 + 2**5
    assert set(RUNS) - {()} == {
        ((i, f, t, (b, n)),) for i, f, t, b, n in itertools.product([0, 1], [0.0, 1.0], ["", "0"], [b"", b"\0"], [0, 1])
    }
    assert result.notes[0].startswith(
        "All 33 rule sequences of up to 1 step were run, with only the simplest values of"
    )
    assert all(f"take.{name}" in result.notes[0] for name in "ifbt")


def test_the_limit_is_loud() -> None:
    with pytest.raises(Incomplete, match="INCOMPLETE: 10 rule sequences of up to 5 steps were run, and more exist"):
        Explorer(Stack).exhaustive(depth=5, limit=10)
    result = Explorer(Queue).exhaustive(depth=4, limit=400, shrink=False)
    assert result.failures
    assert result.stopped_reason == "limit"
    assert result.notes[-1].startswith("INCOMPLETE: ")


class Counting(RuleBasedStateMachine):
    made = itertools.count()

    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        data.draw(st.integers(0, 1 if next(self.made) < 1 else 2))


def test_a_machine_that_changes_its_mind_is_told() -> None:
    with pytest.raises(NonDeterministicGeneration, match=r"is now one of 0\.\.2, in step 1, go, argument \(body\)"):
        Explorer(Counting).exhaustive(depth=1)


class Rejecting(Logged):
    @rule(x=st.integers(0, 9).filter(lambda x: x % 4 == 1))
    def odd(self, x: int) -> None:
        self.done.append(x)


def test_filtered_values_are_no_runs_of_their_own() -> None:
    result = Explorer(Rejecting).exhaustive(depth=1)
    assert (result.total_runs, result.rejected_runs) == (4, 7)
    assert {(1,), (5,), (9,)} < set(RUNS)


class Stuck(RuleBasedStateMachine):
    @precondition(lambda self: False)
    @rule()
    def never(self) -> None: ...


def test_a_machine_that_can_do_nothing_is_an_error() -> None:
    with pytest.raises(MachineError, match=r"no rule of .*Stuck can run from a fresh machine"):
        Explorer(Stuck).exhaustive()


class Countdown(GenericStateMachine):
    """Has three steps to take."""

    def __init__(self, start: int = 3) -> None:
        self.left = start

    def steps(self) -> st.SearchStrategy[Any]:
        return st.integers(1, self.left) if self.left else st.nothing()

    def execute_step(self, step: int) -> None:
        self.left -= step

    def teardown(self) -> None:
        RUNS.append((self.left,))


def test_a_generic_machine_without_a_step_left_ends_its_run() -> None:
    result = Explorer(Countdown).exhaustive(depth=5)
    assert not result.failures
    # Every ordered sum up to 3: one of nothing, of 1, two of 2, four of 3.
    assert len(RUNS) == result.total_runs == 8


def test_a_generic_machine_that_can_do_nothing_is_an_error() -> None:
    with pytest.raises(MachineError, match="can run from a fresh machine"):
        Explorer(lambda: Countdown(0)).exhaustive()


class BrokenSteps(Countdown):
    def steps(self) -> st.SearchStrategy[Any]:
        assert self.left == 3, "no steps here"
        return super().steps()


def test_an_error_in_steps_is_a_failure() -> None:
    (failure,) = Explorer(BrokenSteps).exhaustive(depth=2).failures
    assert str(failure.error).startswith("no steps here")


@pytest.mark.parametrize("option", [{"depth": 0}, {"depth": "3"}, {"limit": 0}, {"values": 0}, {"max_shrink_time": -1}])
def test_options_are_checked(option: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(option))):
        Explorer(Stack).exhaustive(**option)


def test_progress_is_told_after_each_run() -> None:
    told: list[int] = []
    Explorer(Stack).exhaustive(depth=1, progress=lambda now: told.append(now.total_runs))
    assert told == [1, 2, 3]


def test_ctrl_c_keeps_what_was_found() -> None:
    def press(now: Any) -> None:
        if now.failures:
            raise KeyboardInterrupt

    result = Explorer(Queue).exhaustive(depth=4, progress=press)
    assert result.stopped_reason == "interrupted"
    assert len(result.failures) == 1
    assert "INCOMPLETE" in result.notes[0]

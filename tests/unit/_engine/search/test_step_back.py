"""A run goes on past failures that are known: without the step that failed, and as if that had never run."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ordeal import ChaosTest
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation import hangs
from ordeal._engine.isolation.child import can_supervise
from ordeal._engine.search import search
from ordeal._engine.search.search import Search
from ordeal.assertions import sometimes
from ordeal.config.options import ExplorationOptions
from ordeal.explore import Explorer
from ordeal.faults import Fault, LambdaFault
from ordeal.result import ExplorationResult
from ordeal.trace import replay

from ...samples.triaged import settings_for
from .test_search import Log

pytestmark = pytest.mark.usefixtures("own_threads_alone")

KINDS = ["auto", "copy", "replay", "fork"] if can_supervise() else ["auto", "copy", "replay"]


class Store(ChaosTest):
    """Three bugs that any run meets soon, and one that needs many steps between them."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []
        self.names = 0

    @rule(item=st.integers(0, 100))
    def push(self, item: int) -> None:
        if item % 4 == 0:
            raise ValueError("a multiple of four")
        self.items.append(item)

    @rule()
    def pop(self) -> None:
        self.items.pop()

    @rule(name=st.text(max_size=3))
    def name(self, name: str) -> None:
        assert name, "no name"
        self.names += 1

    @rule()
    def look(self) -> None:
        assert len(self.items) < 5 or self.names < 4, "deep"

    def state_hash(self) -> int:
        return 1 + 32 * len(self.items) + min(self.names, 31)


def explore(machine: Any, runs: int = 120, **options: Any) -> ExplorationResult:
    arguments: dict[str, Any] = {"workers": 1, "seed": 3} | options
    run = {name: arguments.pop(name) for name in ("shrink", "save_state_to", "resume_from") if name in arguments}
    return Explorer.of(machine, ExplorationOptions().with_arguments(**arguments)).run(
        max_runs=runs, max_time=600, steps_per_run=50, **run
    )


def facts(result: ExplorationResult) -> list[tuple[object, ...]]:
    return [
        (failure.bucket, failure.count, failure.run_id, failure.program, result.total_steps, result.checkpoints_saved)
        for failure in result.failures
    ]


def runs_of(machine: Any, runs: int, **options: Any) -> list[list[tuple[Any, ...]]]:
    """Return the steps that are on the tape of each run at its end."""
    tapes: list[list[tuple[Any, ...]]] = []
    settings = settings_for(machine, max_runs=runs, **options)
    search = Search(settings, make_driver(machine), [])

    class Listening(Log):
        def run_made(self) -> None:
            tapes.append(search.session.tape.steps())

    with search.prepared():
        search.run(Listening())
    return tapes


def test_a_deep_failure_is_found_behind_others_and_replays_without_their_steps() -> None:
    result = explore(Store)
    messages = {str(failure.error).partition("\n")[0]: failure for failure in result.failures}
    assert set(messages) == {"a multiple of four", "pop from empty list", "no name", "deep"}
    deep = messages["deep"]
    assert deep.trace is not None
    assert [step.name for step in deep.trace.taken_steps()].count("push") == 5
    error = replay(deep.trace)
    assert isinstance(error, AssertionError)
    assert all(failure.count <= result.total_runs for failure in result.failures)


@pytest.mark.slow
def test_one_seed_gives_one_set_of_runs_whatever_the_kind_of_checkpoint() -> None:
    found = {kind: facts(explore(Store, 40, checkpoint_kind=kind, shrink=False)) for kind in KINDS}
    assert len(found["auto"]) > 2
    for kind in KINDS:
        assert found[kind] == found["auto"], kind


@pytest.mark.parametrize("before", [1, 7, 40])
def test_a_resumed_exploration_goes_on_as_one_without_a_break(tmp_path: Path, before: int) -> None:
    whole = explore(Store, 80, save_state_to=tmp_path / "whole")
    explore(Store, before, shrink=False, save_state_to=tmp_path / "part")
    resumed = explore(Store, 80, resume_from=tmp_path / "part", save_state_to=tmp_path / "resumed")
    assert facts(resumed) == facts(whole)
    assert resumed.total_runs == whole.total_runs


class Bad(RuleBasedStateMachine):
    """Fails in every second step or so, in one place."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.steps = 0

    @rule(fails=st.booleans())
    def act(self, fails: bool) -> None:
        if fails:
            raise ValueError
        self.steps += 1


def test_a_bucket_counts_once_in_a_run_and_its_steps_are_not_on_the_tape() -> None:
    Bad.made = 0
    result = explore(Bad, 50, shrink=False, checkpoint_kind="replay")
    assert [failure.count <= 50 for failure in result.failures] == [True]
    assert Bad.made > 100, "runs went over their steps again"
    tapes = runs_of(Bad, 30)
    passed = [step for tape in tapes for step in tape[:-1]]
    assert len(passed) > 100
    assert not any(choices == [True] for _, _, _, arguments in passed for _, choices in arguments)


def test_no_copy_is_used_of_a_state_whose_steps_are_taken_back() -> None:
    class Breaking(RuleBasedStateMachine):
        """Its state is broken by a step, and all steps after that fail."""

        def __init__(self) -> None:
            super().__init__()
            self.steps, self.broken = 0, False

        @rule(bad=st.integers(0, 30))
        def act(self, bad: int) -> None:
            assert not self.broken
            self.steps, self.broken = self.steps + 1, bad == 30

    copied = runs_of(Breaking, 60, steps_per_run=60, checkpoint_kind="copy")
    assert copied == runs_of(Breaking, 60, steps_per_run=60, checkpoint_kind="replay")


def test_the_rule_that_failed_becomes_rarer() -> None:
    class Often(RuleBasedStateMachine):
        tried = passed = 0

        @rule()
        def fail(self) -> None:
            type(self).tried += 1
            raise ValueError

        @rule()
        def work(self) -> None:
            type(self).passed += 1

    explore(Often, 60, shrink=False)
    assert Often.passed > 10 * Often.tried


class Silent(RuleBasedStateMachine):
    """Breaks in a step that passes; from then on, every look fails."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.after = 0

    @rule(breaks=st.integers(0, 9))
    def act(self, breaks: int) -> None:
        self.broken = self.broken or breaks == 0

    @rule()
    def look(self) -> None:
        assert not self.broken


def test_a_state_that_was_broken_before_is_left_by_more_steps_back_or_the_run_is_given_up() -> None:
    lengths = [len(tape) for tape in runs_of(Silent, 80)]
    assert sum(lengths) / len(lengths) > 15, "most runs go on"


class Invariant(RuleBasedStateMachine):
    """An invariant that is false from the breaking step on."""

    def __init__(self) -> None:
        super().__init__()
        self.value = 0

    @rule(by=st.integers(0, 20))
    def add(self, by: int) -> None:
        self.value += by

    @invariant()
    def small(self) -> None:
        assert self.value < 40


def test_the_step_that_broke_an_invariant_is_taken_back() -> None:
    tapes = runs_of(Invariant, 40)
    for tape in tapes:
        values = [choices[0] for _, _, _, arguments in tape[:-1] for _, choices in arguments]
        assert sum(values) < 40
    assert max(map(len, tapes)) > 10
    assert [failure.count for failure in explore(Invariant, 40, shrink=False).failures] > [10]


class Teardown(RuleBasedStateMachine):
    """Fails when it is torn down."""

    torn = 0

    @rule()
    def act(self) -> None: ...

    def teardown(self) -> None:
        type(self).torn += 1
        raise ValueError


def test_a_run_whose_teardown_fails_is_over_and_counts_once() -> None:
    Teardown.torn = 0
    result = explore(Teardown, 20, shrink=False)
    assert [failure.count for failure in result.failures] == [20]
    assert Teardown.torn < 2 * 20


def test_a_run_whose_machine_cannot_be_made_is_over() -> None:
    class Unmade(RuleBasedStateMachine):
        made = 0

        def __init__(self) -> None:
            super().__init__()
            type(self).made += 1
            if type(self).made > 5:
                raise ValueError("not made")

        @rule()
        def act(self) -> None: ...

    result = explore(Unmade, 10, shrink=False)
    assert [failure.count for failure in result.failures] != []
    assert Unmade.made < 2 * 10


def test_an_initialize_rule_that_failed_is_tried_again_with_other_values() -> None:
    class Starting(RuleBasedStateMachine):
        started = False

        @initialize(value=st.integers(0, 3))
        def start(self, value: int) -> None:
            assert value
            self.started = True

        @rule()
        def act(self) -> None:
            assert self.started

    tapes = runs_of(Starting, 30)
    assert [failure.broken_by for failure in explore(Starting, 30, shrink=False).failures] == [[]]
    assert sum(len(tape) > 3 for tape in tapes) > 20


def test_a_switched_fault_that_breaks_an_invariant_is_switched_back() -> None:
    on: list[bool] = []
    light: list[Fault] = [LambdaFault("light", lambda: on.append(True), on.clear)]

    class Switched(ChaosTest):
        faults = light

        @rule()
        def act(self) -> None: ...

        @invariant()
        def dark(self) -> None:
            assert not on

    result = explore(Switched, 20, shrink=False)
    assert len(result.failures) == 1
    assert result.total_steps > 200
    assert not on


def test_what_the_steps_that_come_again_show_is_counted_once() -> None:
    class Counting(ChaosTest):
        @rule(fails=st.integers(0, 5))
        def act(self, fails: int) -> None:
            sometimes(fails == 1, "one")
            if fails == 0:
                raise ValueError

    result = explore(Counting, 40, shrink=False)
    (one,) = result.properties
    rules_at_most = result.total_steps
    assert one.hits <= rules_at_most


def test_a_hang_is_taken_back_once_in_a_run() -> None:
    class Hanging(ChaosTest):
        rule_timeout = 0.05
        waited = 0

        @rule()
        def act(self) -> None: ...

        @rule()
        def wait(self) -> None:
            type(self).waited += 1
            threading.Event().wait(20)

    result = explore(Hanging, 4, shrink=False)
    confirmations_and_trace = 4
    assert len(result.failures) == 1
    assert Hanging.waited <= 2 * 4 + confirmations_and_trace


@pytest.mark.parametrize("max_runs", [None, 3])
def test_a_hang_that_is_known_need_not_take_its_full_limit_again_unless_runs_end_the_search(
    max_runs: int | None,
) -> None:
    class Hanging(ChaosTest):
        rule_timeout = 0.3

        @rule()
        def act(self) -> None: ...

        @rule()
        def wait(self) -> None:
            threading.Event().wait(20)

    explorer = Explorer(Hanging, workers=1, seed=3)
    result = explorer.run(max_time=1, max_runs=max_runs, shrink=False)
    (failure,) = result.failures
    assert "timed out after 0.3s" in str(failure.error)
    limits = explorer._driver.limits
    assert limits.expects_hangs is (max_runs is None)
    assert limits.limit_of("act") == 0.3
    assert failure.count <= result.total_runs


@pytest.mark.supervised
def test_a_worker_that_ends_in_a_step_has_no_run_to_go_on_with_and_the_search_goes_on() -> None:
    class Ending(RuleBasedStateMachine):
        @rule(fails=st.integers(0, 8))
        def act(self, fails: int) -> None:
            if fails == 0:
                os._exit(3)
            assert fails != 1

    result = explore(Ending, 12, shrink=False, isolate=True)
    buckets = {failure.bucket.partition(" ")[0] for failure in result.failures}
    assert buckets == {"ProcessExitError(3)", "AssertionError"}
    assert result.total_runs == 12


def test_a_loop_of_many_lines_is_one_failure_in_each_search() -> None:
    class Turning(ChaosTest):
        rule_timeout = 0.3

        @rule()
        def act(self) -> None: ...

        @rule()
        def turn(self) -> None:
            counted = 0
            while True:
                counted += 1
                counted -= len(str(counted))
                counted += len(repr(counted))
                counted *= 1
                _ = counted // 2

    results = [Explorer(Turning, workers=1, seed=seed).run(max_time=1.5) for seed in range(3)]
    buckets = [[failure.bucket for failure in result.failures] for result in results]
    assert buckets == [["ordeal.rule_timeout.RuleTimeoutError at turn"]] * 3
    assert not any(failure.flaky for result in results for failure in result.failures)


def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (hangs, search):
        monkeypatch.setattr(module, "PATIENCE_MIN", 0.03)


def test_a_hang_does_not_take_all_the_time_of_a_short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)

    class Hanging(ChaosTest):
        rule_timeout = 1.5

        @rule()
        def act(self) -> None: ...

        @rule()
        def wait(self) -> None:
            threading.Event().wait(20)

    result = Explorer(Hanging, workers=1, seed=3).run(max_time=2.5, shrink=False)
    (failure,) = result.failures
    assert "timed out after 1.5s" in str(failure.error)
    assert result.total_runs > 3
    assert not failure.flaky


def test_a_step_that_is_only_slow_is_no_failure_of_a_short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried(monkeypatch)

    class Slow(ChaosTest):
        rule_timeout = 1.5

        @rule()
        def act(self) -> None: ...

        @rule()
        def wait(self) -> None:
            threading.Event().wait(0.4)

    result = Explorer(Slow, workers=1, seed=3).run(max_time=0.6, shrink=False)
    assert not result.failures
    assert any("took less than its limit. It may be slow rather than hung" in note for note in result.notes)


class Leaking(RuleBasedStateMachine):
    """Fails in its teardown, after which no run can go on."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0

    @rule(number=st.integers(0, 9))
    def open(self, number: int) -> None:
        self.opened += number == 3

    @rule()
    def look(self) -> None:
        assert self.opened >= 0

    def teardown(self) -> None:
        if self.opened == 2:
            raise ValueError("two are open")
        if self.opened > 3:
            raise KeyError("too many are open")


@pytest.mark.supervised
@pytest.mark.parametrize("seed", range(4))
def test_a_new_failure_that_ends_its_run_says_nothing_against_copies(seed: int) -> None:
    result = Explorer(Leaking, target_modules=[__name__], seed=seed, workers=1, isolate=True).run(
        max_runs=300, shrink=False
    )
    assert len(result.failures) == 2
    assert not result.notes

"""Buggify acts only where it was activated, by decisions that replay and shrink."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from ordeal import auto_configure, buggify
from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal.assertions import tracker
from ordeal.chaos import ChaosTest
from ordeal.errors import ConfigError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult
from ordeal.trace import Trace, replay

from .samples.machines import run


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with buggify.activated():
        buggify.deactivate()
        yield


def in_thread[Result](call: Callable[[], Result]) -> Result:
    """The result of ``call()`` in a thread of its own."""
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    return results[0]


def decisions(count: int, probability: float | None = None) -> list[bool]:
    return [buggify(probability) for _ in range(count)]


# -- outside of runs --------------------------------------------------------------------------------------------------


def test_nothing_acts_until_it_is_activated() -> None:
    normal = object()
    assert not buggify.is_active()
    assert not any(decisions(100, 1.0))
    assert buggify.buggify_value(normal, None, 1.0) is normal


def test_the_probability_is_that_of_the_point_else_the_one_of_the_activation() -> None:
    buggify.activate(1.0)
    assert buggify.is_active()
    assert buggify() is True
    assert buggify(0) is False
    assert buggify(probability=0.0) is False
    assert buggify.buggify_value(1, 2) == 2
    assert buggify.buggify_value(1, 2, 0.0) == 1
    buggify.activate(0.0)
    assert buggify() is False
    assert buggify(1) is True


def test_a_point_acts_as_often_as_its_probability_says() -> None:
    buggify.activate()
    assert 850 < sum(decisions(10_000)) < 1_150
    assert 6_800 < sum(decisions(10_000, 0.7)) < 7_200


def test_the_same_seed_gives_the_same_decisions() -> None:
    buggify.activate(0.5)
    buggify.set_seed(7)
    first = decisions(64)
    assert decisions(64) != first
    buggify.set_seed(7)
    assert decisions(64) == first
    buggify.set_seed(8)
    assert decisions(64) != first
    buggify.set_seed(2**64 - 1)


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan"), "0.5", True, 1j])
def test_a_probability_is_checked(probability: Any) -> None:
    with pytest.raises(ConfigError, match=r"the probability of buggify is .*\nhint: write a number from 0 to 1"):
        buggify.activate(probability)
    assert not buggify.is_active()
    assert buggify(probability) is False
    buggify.activate()
    with pytest.raises(ConfigError, match="the probability of buggify is"):
        buggify(probability)


@pytest.mark.parametrize("value", [-1, 2**64, 1.0, "1", None, True])
def test_a_seed_is_checked(value: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"the seed of buggify is .*\nhint: write a whole number from 0 to 2\*\*64 - 1"
    ):
        buggify.set_seed(value)


def test_each_thread_is_active_and_seeded_for_itself() -> None:
    buggify.activate(1.0)
    assert in_thread(lambda: (buggify.is_active(), buggify(1.0))) == (False, False)

    def active_thread() -> list[bool]:
        buggify.activate(0.5)
        buggify.set_seed(3)
        return decisions(32)

    buggify.set_seed(3)
    assert in_thread(active_thread) == decisions(32, 0.5)
    buggify.deactivate()
    assert buggify() is False
    assert in_thread(active_thread) == in_thread(active_thread)


def test_activated_puts_back_what_it_found() -> None:
    buggify.activate(0.5)
    buggify.set_seed(1)
    expected = decisions(20)
    buggify.set_seed(1)
    assert decisions(10) == expected[:10]
    with buggify.activated(1.0, seed=9):
        assert buggify()
        with pytest.raises(KeyError), buggify.activated(0.0):
            raise KeyError
        assert buggify()
    assert decisions(10) == expected[10:]
    buggify.deactivate()
    with buggify.activated(1.0):
        assert buggify()
    assert not buggify.is_active()


class Flaky(ChaosTest):
    """Fails where a point of buggify acts."""

    @rule()
    def go(self) -> None:
        assert not buggify()
        assert not buggify(1.0)


@pytest.mark.parametrize(("probability", "message"), [(0.0, None), (0.5, "buggify(1.0)"), (1.0, "buggify()")])
def test_the_explorer_takes_the_probability(probability: float, message: str | None) -> None:
    result = Explorer(Flaky, buggify_prob=probability).run(max_runs=20, shrink=False)
    found = " ".join(failure.error_traceback for failure in result.failures)
    assert (message is None) == (not result.failures)
    assert message is None or f"assert not {message}" in found


@pytest.mark.parametrize("probability", [0.0, 0.1, 1.0])
def test_what_was_recorded_replays_whatever_the_probability_is(probability: float, tmp_path: Path) -> None:
    (failure,) = Explorer(Flaky, buggify_prob=1.0, corpus_dir=tmp_path).run(max_runs=5).failures
    assert failure.trace is not None
    assert isinstance(replay(failure.trace, Flaky), AssertionError)
    again = Explorer(Flaky, buggify_prob=probability, corpus_dir=tmp_path).run(max_runs=1, shrink=False)
    assert [outcome.status.value for outcome in again.seed_replays] == ["reproduced"]


@pytest.mark.usefixtures("undeclared")
def test_auto_configure_switches_all_on() -> None:
    with tracker.recording():
        tracker.active = False
        tracker.declare("p", "reachable")
        auto_configure(0.5, seed=4)
        assert tracker.active
        first = decisions(32)
        tracker.record("reachable", "p", True)
        auto_configure(buggify_probability=0.5, seed=4)
        assert decisions(32) == first
        assert [result.hits for result in tracker.results] == [0]
        with pytest.raises(ConfigError):
            auto_configure(2.0)


# -- inside of Hypothesis tests ---------------------------------------------------------------------------------------

QUICK = settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def test_hypothesis_decides_and_shrinks() -> None:
    seen: list[tuple[int, list[bool]]] = []

    @seed(1)
    @QUICK
    @given(st.integers(0, 100))
    def check(n: int) -> None:
        acted = decisions(4, 0.4)
        seen.append((n, acted))
        assert not (acted[2] and n >= 10)

    with buggify.activated(0.1), pytest.raises(AssertionError):
        check()
    assert seen[-1] == (10, [False, False, True, False])


def test_the_seed_of_hypothesis_decides_not_that_of_the_thread() -> None:
    runs: list[list[bool]] = []

    @seed(5)
    @QUICK
    @given(st.none())
    def check(_: None) -> None:
        runs[-1].append(buggify(0.5))

    for number in (1, 2):
        runs.append([])
        with buggify.activated(0.1, seed=number):
            check()
    assert runs[0] == runs[1]
    assert {True, False} <= set(runs[0])


class Forgetful(ChaosTest):
    """Loses a value when buggify acts."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[int] = []
        self.count = 0

    @rule(n=st.integers(0, 9))
    def keep(self, n: int) -> None:
        self.count += 1
        if not buggify(0.2):
            self.kept.append(n)

    @rule()
    def look(self) -> None:
        assert len(self.kept) >= self.count - 1, "two values are lost"


def test_a_rule_machine_under_hypothesis_draws_from_it_too() -> None:
    run(Forgetful)
    with buggify.activated(0.1), pytest.raises(AssertionError, match="two values are lost"):
        run(Forgetful)


# -- in the Explorer --------------------------------------------------------------------------------------------------


def explore(machine: type[ChaosTest], *, runs: int = 200, **options: Any) -> ExplorationResult:
    return Explorer(machine, seed=1, **options).run(max_runs=runs, max_time=600)


def buggified(trace: Trace | None) -> list[list[Any]]:
    """The decisions of each step."""
    assert trace is not None
    return [step.choices.get(BUGGIFY_ARGUMENT, []) for step in trace.taken_steps()]


@pytest.mark.parametrize("checkpoint_prob", [0.0, 0.9])
def test_decisions_are_recorded_shrunk_and_replayed_without_any_option(tmp_path: Path, checkpoint_prob: float) -> None:
    result = explore(Forgetful, checkpoint_prob=checkpoint_prob)
    assert result.unconfirmed == 0
    (failure,) = result.failures
    assert buggified(failure.trace) == [[True], [True], []]
    assert failure.trace is not None
    failure.trace.save(tmp_path / "trace.json")
    with buggify.activated(0.0):
        error = replay(Trace.load(tmp_path / "trace.json"), Forgetful)
    assert str(error).startswith("two values are lost")
    assert not buggify.is_active()


class Careful(ChaosTest):
    """Reaches points of buggify everywhere, and says where one acted."""

    acted: set[str] = set()  # noqa: RUF012 - what all machines of a run saw

    def point(self, place: str) -> bool:
        acts = buggify(0.5)
        if acts:
            self.acted.add(place)
        return acts

    def __init__(self) -> None:
        super().__init__()
        self.point("constructor")
        assert buggify.is_active()

    @initialize()
    def begin(self) -> None:
        self.point("initialize rule")

    @rule(n=st.integers(0, 9).map(lambda n: n + 10 * buggify(0.5)), data=st.data())
    def draw(self, n: int, data: st.DataObject) -> None:
        first = data.draw(st.integers(0, 9))
        self.point("rule")
        second = data.draw(st.booleans())
        if in_thread(lambda: self.point("thread")):
            raise KeyError
        assert not (n >= 17 and first >= 3 and second), "the argument was changed"

    @rule(n=st.integers(0, 9))
    def reject(self, n: int) -> None:
        self.point("rejected rule")
        assume(n < 8)

    @precondition(lambda self: not self.point("precondition"))
    @rule()
    def guarded(self) -> None:
        pass

    @invariant()
    def check(self) -> None:
        self.point("invariant")

    def teardown(self) -> None:
        self.point("teardown")
        super().teardown()


def test_only_points_within_steps_act_and_no_draw_is_torn() -> None:
    Careful.acted.clear()
    result = explore(Careful, checkpoint_prob=0.5)
    assert Careful.acted == {"initialize rule", "rule", "rejected rule", "invariant"}
    assert result.unconfirmed == 0
    (failure,) = result.failures
    assert str(failure.error).startswith("the argument was changed")
    begin, draw = failure.trace.taken_steps() if failure.trace is not None else []
    assert begin.choices == {BUGGIFY_ARGUMENT: [False, False]}
    assert draw.choices == {"n": [7], "(body)": [3, True], BUGGIFY_ARGUMENT: [True, False]}
    assert "  # draws: 3, True; chance acts at call 1\n" in failure.program


class Overruling(ChaosTest):
    """Sets its own probability, inside of the run."""

    def __init__(self) -> None:
        super().__init__()
        buggify.activate(1.0)
        buggify.set_seed(3)

    @rule()
    def act(self) -> None:
        assert not buggify()


def test_what_a_run_sets_ends_with_it() -> None:
    (failure,) = explore(Overruling, runs=3).failures
    assert buggified(failure.trace) == [[True]]
    assert not buggify.is_active()


class Peaceful(ChaosTest):
    """Fails without buggify, though it has a point."""

    @rule(n=st.integers(0, 1000))
    def act(self, n: int) -> None:
        buggify()
        assert n < 900


def test_a_failure_that_needs_no_buggify_is_shrunk_to_one_in_which_nothing_acts() -> None:
    (failure,) = explore(Peaceful).failures
    assert buggified(failure.trace) == [[False]]

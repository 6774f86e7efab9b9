"""A tape lowered to the choices of Hypothesis' own loop: their layout, what they do there, and what has none."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import ordeal._native as _native
from ordeal._engine.execution.driver import FAULT_ON, INITIALIZE, RULE
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.export.lowering import DISABLED_MAX, Lowered, LoweringDriver
from ordeal._hypothesis.internals import reproducing_test
from ordeal.chaos import ChaosTest
from ordeal.faults import Fault

from ...samples.machines import switches
from ...samples.traced import Counter

GO_ON, STOP = False, True
ALL_ENABLED, ENABLED = 0, False
REST, ADD = 0, 1  # in the order of Hypothesis: fewer arguments first
ONCE = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))


def lowered(machine: Any, *steps: tuple[int, int, list[Any]], rule_timeout: float | None = None) -> Lowered:
    """The run of the steps, each with its kind, its number and the choices of its only argument."""
    tape = [
        (kind, number, place, [(1, choices)] if choices else []) for place, (kind, number, choices) in enumerate(steps)
    ]
    return LoweringDriver(make_driver(machine, rule_timeout)).run(_native.Tape.from_steps(tape))


def test_a_run_is_laid_out_as_hypothesis_loop_asks() -> None:
    run = lowered(Counter, (RULE, ADD, [3]), (RULE, REST, []))
    assert run.choices == (GO_ON, ALL_ENABLED, ADD, ENABLED, 3, GO_ON, REST, ENABLED, STOP)
    assert (run.steps, run.error, run.timed_out) == (2, None, "")


def test_the_choices_of_a_failure_end_where_it_failed_and_reproduce_it() -> None:
    run = lowered(Counter, (RULE, ADD, [5]), (RULE, ADD, [5]), (RULE, REST, []))
    assert run.choices == (GO_ON, ALL_ENABLED, ADD, ENABLED, 5, GO_ON, ADD, ENABLED, 5)
    assert str(run.error) == "10 is too much"
    with pytest.raises(ValueError, match="10 is too much"):
        reproducing_test(Counter, run.choices, ONCE)()


class Single(RuleBasedStateMachine):
    """Has one rule, and so nothing to choose."""

    @rule()
    def act(self) -> None:
        raise LookupError("planted")


def test_nothing_is_drawn_to_choose_from_one() -> None:
    assert lowered(Single, (RULE, 0, [])).choices == (GO_ON, ALL_ENABLED, ENABLED)


class Starting(RuleBasedStateMachine):
    """Has two initialize rules."""

    @initialize()
    def first(self) -> None: ...

    @initialize(size=st.integers(0, 9))
    def second(self, size: int) -> None:
        assert size < 5

    @rule()
    def act(self) -> None: ...


def test_initialize_rules_are_chosen_while_several_are_left() -> None:
    run = lowered(Starting, (INITIALIZE, 1, [2]), (INITIALIZE, 0, []), (RULE, 0, []))
    assert run.choices == (GO_ON, 1, 2, GO_ON, GO_ON, ALL_ENABLED, ENABLED, STOP)
    failing = lowered(Starting, (INITIALIZE, 1, [7]))
    with pytest.raises(AssertionError):
        reproducing_test(Starting, failing.choices, ONCE)()


class Faulty(ChaosTest):
    """Fails while its second fault is on."""

    faults: ClassVar[list[Fault]] = switches("a", "b")
    swarm = False

    @rule()
    def act(self) -> None:
        assert "b" not in [fault.name for fault in self.active_faults]


def test_a_fault_is_switched_by_the_rule_that_does_it_under_hypothesis() -> None:
    order = make_driver(Faulty).definition.order
    run = lowered(Faulty, (FAULT_ON, 1, []), (RULE, 0, []))
    nemesis, act = order.index("_nemesis"), order.index("act")
    assert run.choices == (GO_ON, ALL_ENABLED, nemesis, ENABLED, 1, GO_ON, act, ENABLED)
    with pytest.raises(AssertionError):
        reproducing_test(Faulty, run.choices, ONCE)()


def test_a_switch_that_changes_nothing_is_left_out() -> None:
    twice = lowered(Faulty, (FAULT_ON, 0, []), (FAULT_ON, 0, []), (RULE, 0, []))
    assert twice.choices == lowered(Faulty, (FAULT_ON, 0, []), (RULE, 0, [])).choices
    assert twice.steps == 2


class Reluctant(Faulty):
    """Has an initialize rule, and a rule that never can run."""

    @initialize()
    def begin(self) -> None: ...

    @precondition(lambda self: False)
    @rule()
    def never(self) -> None: ...


NEVER = [each.name for each in make_driver(Reluctant).definition.rules].index("never")


@pytest.mark.parametrize(
    ("machine", "steps", "why"),
    [
        (Counter, [], "the run has no step"),
        (Reluctant, [(INITIALIZE, 0, []), (RULE, NEVER, [])], "does not run to its end"),
        (Reluctant, [(FAULT_ON, 0, [])], "fault a is switched before all initialize rules have run"),
    ],
)
def test_what_hypothesis_cannot_run_is_refused_with_the_reason(machine: Any, steps: Any, why: str) -> None:
    with pytest.raises(InvalidDefinition, match=why):
        lowered(machine, *steps)


def test_a_run_that_is_longer_than_hypothesis_allows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._engine.execution.driver.LENGTH_MAX", 20)
    with pytest.raises(InvalidDefinition, match="the run makes more choices than Hypothesis takes in one run"):
        lowered(Counter, *[(RULE, REST, [])] * 20)


def test_what_took_too_long_is_named() -> None:
    class Slow(RuleBasedStateMachine):
        @rule()
        def crawl(self) -> None:
            while True:
                pass

    run = lowered(Slow, (RULE, 0, []), rule_timeout=0.05)
    assert run.timed_out == "crawl"
    assert type(run.error).__name__ == "RuleTimeoutError"


def test_as_many_rules_can_be_disabled_as_hypothesis_draws() -> None:
    assert DISABLED_MAX == 254

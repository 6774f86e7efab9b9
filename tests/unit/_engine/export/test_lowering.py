"""A tape lowered to the choices of Hypothesis' own loop: their layout, what they do there, and what has none."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import ordeal._native as _native
from ordeal._engine.execution.driver import FAULT_ON, INITIALIZE, RULE
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.export.lowering import DISABLED_MAX, Lowered, LoweringDriver
from ordeal.chaos import ChaosTest
from ordeal.faults import Fault

from ...samples.machines import switches
from ...samples.traced import Counter

GO_ON, STOP = False, True
ALL_ENABLED, ENABLED = 0, False
REST, ADD = 0, 1  # in the order of Hypothesis: fewer arguments first


def lowered(machine: Any, *steps: tuple[int, int, list[Any]], rule_timeout: float | None = None) -> Lowered:
    """The run of the steps, each with its kind, its number and the choices of its only argument."""
    tape = [
        (kind, number, place, [(1, choices)] if choices else []) for place, (kind, number, choices) in enumerate(steps)
    ]
    return LoweringDriver(make_driver(machine, rule_timeout)).run(_native.Tape.from_steps(tape))


class Faulty(ChaosTest):
    """Fails while its second fault is on."""

    faults: ClassVar[list[Fault]] = switches("a", "b")
    swarm = False

    @rule()
    def act(self) -> None:
        assert "b" not in [fault.name for fault in self.active_faults]


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

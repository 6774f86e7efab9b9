"""What Python offers for traces: replays that leave the program as it was, lowering, and checks of invariants."""

from __future__ import annotations

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal.errors import TraceError
from ordeal.trace import Trace, TraceFailure, TraceStep, check_invariants, lower, replay

from .samples.traced import Counter, Faulty


def test_a_rule_that_hangs_is_ended() -> None:
    class Slow(Faulty):
        rule_timeout = 0.1

        def is_broken(self, on: set[str]) -> bool:
            while True:
                pass

    error = replay(Trace(1, 42, "x:Y", steps=[TraceStep("rule", "go")]), Slow)
    assert type(error).__name__ == "RuleTimeoutError"


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


def test_a_trace_whose_failure_ends_the_process_is_not_lowered() -> None:
    ended = TraceFailure("ProcessExitError", "go ended the process", 1, "ProcessExitError(3) at go")
    with pytest.raises(TraceError, match="the trace of run 7 ends its process, and that of Hypothesis with it"):
        lower(Trace(7, 42, "x:Y", steps=[TraceStep("rule", "rest")], failure=ended), Counter)

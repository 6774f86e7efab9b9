"""Rule machines, old and new: what Hypothesis has for them today, and what it had once and removed.

A test written for ``hypothesis.stateful`` in its first years runs when it imports from here instead.
"""

from __future__ import annotations

from hypothesis.stateful import Bundle, consumes, multiple, precondition

from ordeal.stateful.rules import initialize, invariant, rule, strategy
from ordeal.stateful.test_case import GenericStateMachine, RuleBasedStateMachine, run_state_machine_as_test

__all__ = [
    "Bundle",
    "GenericStateMachine",
    "RuleBasedStateMachine",
    "consumes",
    "initialize",
    "invariant",
    "multiple",
    "precondition",
    "rule",
    "run_state_machine_as_test",
    "strategy",
]

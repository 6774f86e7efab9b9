"""What the tests of rule machines share: how to run one, and a plain machine."""

from __future__ import annotations

import inspect
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, LambdaFault


def run(machine: Any, *, max_examples: int = 30, steps: int = 20, shrink: bool = True) -> None:
    """Run the machine under Hypothesis, the same way every time."""
    options = settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[phase for phase in Phase if shrink or phase not in (Phase.shrink, Phase.explain)],
    )
    run_state_machine_as_test(machine, settings=options)


def switch(name: str) -> LambdaFault:
    """A fault without any effect."""
    return LambdaFault(name, int, int)


def switches(*names: str) -> list[Fault]:
    """Faults without any effect, of these names."""
    return [switch(name) for name in names]


def automatic_rules(cls: type[ChaosTest]) -> set[str]:
    """The rules and initialize rules that ordeal has added to the class."""
    state = cls.setup_state()
    functions = [found.function for found in [*state.rules, *state.initializers]]
    return {f.__name__ for f in functions if getattr(inspect.unwrap(f), "ordeal_automatic", False)}


class Forgetful(RuleBasedStateMachine):
    """A plain machine that does not pass teardown on."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = 0

    @rule()
    def nothing(self) -> None: ...

    def teardown(self) -> None:
        self.ended += 1

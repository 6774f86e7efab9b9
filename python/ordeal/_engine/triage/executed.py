"""What of the targets a replay executes, as a whole or step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._engine.coverage.targets import Target
from ordeal._hypothesis import Rule
from ordeal.faults import Fault


class EdgesByStep:
    """An observer that notes which edges each step executes.

    Attributes:
        parts: the edges of the making of the machine, then those of each step.
    """

    def __init__(self, take: Callable[[], frozenset[int]]) -> None:
        self._take = take
        self.parts: list[frozenset[int]] = []

    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        """See ``Observer``."""
        del cls

    def started(self, machine: RuleBasedStateMachine) -> None:
        """See ``Observer``."""
        del machine

    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        """See ``Observer``: what came before is over."""
        del rule, initialize, values, resolved
        self.parts.append(self._take())

    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        """See ``Observer``: its invariants are still to come."""
        del rule, result, names

    def fault(self, fault: Fault, on: bool) -> None:
        """See ``Observer``: what came before is over."""
        del fault, on
        self.parts.append(self._take())

    def ending(self) -> None:
        """See ``Observer``: what the teardown executes counts for nothing."""
        self.parts.append(self._take())


class Watch:
    """A monitor whose coverage map is cleared whenever it is read."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._coverage = _native.CoverageMap()
        places = [(target.name, target.path, target.is_package) for target in targets]
        # At the novelty level, a branch that once went both ways reports only one of them.
        self.monitor = _native.Monitor(self._coverage, places, level="counts")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch during the block."""
        self.monitor.start()
        try:
            yield
        finally:
            self.monitor.stop()

    def anew(self) -> None:
        """Forget what was executed."""
        self._coverage.forget()
        self.monitor.begin_run(full=True)

    def edges(self) -> frozenset[int]:
        """Return the edges that were executed."""
        return frozenset(self._coverage.keys())

    def take(self) -> frozenset[int]:
        """Return the edges that were executed, and forget them."""
        edges = self.edges()
        self.anew()
        return edges

"""Machines with weights, for the tests of what is drawn and of who draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from hypothesis import settings
from hypothesis.stateful import precondition, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, LambdaFault

QUICK = settings(max_examples=60, stateful_step_count=30, database=None, deadline=None, derandomize=True)


def fault(name: str) -> LambdaFault:
    return LambdaFault(name, lambda: None, lambda: None)


class Filling(ChaosTest):
    """Fails when one of its rules runs often while the others do not."""

    swarm: ClassVar[bool | str] = "sizes"
    weight_caps: ClassVar[Mapping[str, int]] = {"drain": 5}
    faults: ClassVar[list[Fault]] = [fault("one"), fault("two"), fault("three")]

    def __init__(self) -> None:
        super().__init__()
        self.held = 0

    @rule()
    def put(self) -> None:
        self.held += 1
        assert self.held < 13, "full"

    @rule()
    def drain(self) -> None:
        self.held = 0

    @precondition(lambda self: self.held > 0)
    @rule()
    def sell(self) -> None:
        self.held = 0


class Seen(ChaosTest):
    """Writes down what its runs do, and never fails."""

    runs: ClassVar[list[Counter[str]]] = []
    swarm: ClassVar[bool | str] = "sizes"

    def __init__(self) -> None:
        super().__init__()
        self.runs.append(Counter())

    @rule()
    def a(self) -> None:
        self.runs[-1]["a"] += 1

    @rule()
    def b(self) -> None:
        self.runs[-1]["b"] += 1

    @rule()
    def c(self) -> None:
        self.runs[-1]["c"] += 1

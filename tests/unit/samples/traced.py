"""Machines whose runs the tests of traces record, and the traces of them."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, consumes, initialize, multiple, rule

from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import Fault
from ordeal.trace import Trace, TraceStep

from .machines import switches


class Counter(RuleBasedStateMachine):
    """Fails once the sum is above ``limit``."""

    limit: ClassVar[int] = 9

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(by=st.integers(0, 5))
    def add(self, by: int) -> None:
        self.total += by
        if self.total > self.limit:
            raise ValueError(f"{self.total} is too much")

    @rule()
    def rest(self) -> None: ...


class Faulty(ChaosTest):
    """Fails when ``needs`` holds for the faults that are on."""

    faults: ClassVar[list[Fault]] = switches("one(a)", "two(b)", "three(c)")

    def is_broken(self, on: set[str]) -> bool:
        return {"one(a)", "two(b)"} <= on

    @rule()
    def go(self) -> None:
        if self.is_broken({fault.name for fault in self.active_faults}):
            raise OSError("broken")


class Everything(ChaosTest):
    """Draws in all ways and never fails by itself."""

    a: Bundle[int] = Bundle("a")
    b: Bundle[int] = Bundle("b")

    @initialize(target=a)
    def first(self) -> int:
        return 7

    @rule(targets=(a, b), count=st.integers(0, 2))
    def make(self, count: int) -> MultipleResults[int]:
        return multiple(*range(count))

    @rule(x=consumes(a), y=b)
    def spend(self, x: int, y: int) -> None: ...

    @rule(data=st.data(), words=st.frozensets(st.text(max_size=2)))
    def ask(self, data: Any, words: frozenset[str]) -> None:
        data.draw(st.integers(0, 9))
        data.draw(st.sampled_from("xyz"), label="letter")


def failing(machine: type[RuleBasedStateMachine], **options: Any) -> Trace:
    """The trace of the first failure of ``machine``."""
    (failure, *_) = Explorer(machine).run(**{"max_runs": 120, **options}).failures
    assert failure.trace is not None
    return failure.trace


def toggled(machine: type[Faulty], *names: str) -> Trace:
    """A failing trace of ``machine`` that switches all of ``names`` on first."""
    steps = [TraceStep("fault_toggle", f"+{name}") for name in names]
    return Trace(1, 42, f"{machine.__module__}:{machine.__qualname__}", steps=[*steps, TraceStep("rule", "go")])

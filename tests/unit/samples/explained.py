"""A machine whose failure can be explained in all ways: by its steps, its fault, its lines, and a run that passes."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, initialize, invariant, rule

from ordeal._base.trace_file import Trace
from ordeal._engine.replay.loading import LoadedTrace, load_for_replay
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.view import TraceView
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import Fault, timing


class Store:
    """In its fast mode, it forgets what it could not confirm."""

    def __init__(self) -> None:
        self.is_fast = False
        self.sizes: dict[str, int] = {}
        self.lost = 0

    def write(self, name: str, size: int) -> None:
        self.sizes[name] = size
        try:
            self.confirm(name)
        except TimeoutError:
            if self.is_fast and size >= 10:
                self.lost = -self.sizes.pop(name)

    def confirm(self, name: str) -> str:
        return name

    def flush(self) -> None:
        if self.lost:
            self.lost = abs(self.lost)


class Desk(ChaosTest):
    faults: ClassVar[list[Fault]] = [timing.timeout("unit.samples.explained.Store.confirm")]
    names = Bundle("names")

    @initialize()
    def begin(self) -> None:
        self.store = Store()
        self.opened = 0

    @rule(target=names)
    def open_file(self) -> str:
        self.opened += 1
        return f"file {self.opened}"

    @rule()
    def speed_up(self) -> None:
        self.store.is_fast = True

    @rule(name=names, size=st.integers(0, 100))
    def write(self, name: str, size: int) -> None:
        with suppress(KeyError):
            self.store.write(name, size)

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @invariant()
    def nothing_is_lost(self) -> None:
        assert getattr(self, "store", Store()).lost <= 0


@cache
def trace() -> Trace:
    """The shrunk trace of its failure: begin, open_file, speed_up, the fault, write, flush."""
    # Of the orders in which its first steps may come, this seed finds the one above.
    result = Explorer(Desk, target_modules=["unit.samples.explained"], workers=1, seed=1).run(max_runs=3_000)
    found = result.failures[0].trace
    assert found is not None
    return found


@cache
def explained() -> TraceView:
    """What is recorded of it."""
    return record_view(trace())


def loaded() -> LoadedTrace:
    """The trace, to be run again in this process."""
    return load_for_replay(trace(), Desk)

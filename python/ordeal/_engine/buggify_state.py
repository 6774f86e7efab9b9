"""The state of buggify in each thread: whether points act, with which probability, and what decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from ordeal import _native

#: Whether any thread is active: while none is, a point costs next to nothing.
enabled = _native.EnabledFlag()
_count_lock = threading.Lock()
_active_threads = 0


class Decisions(Protocol):
    """The source of a run's decisions."""

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Decide whether the point acts, with ``probability``; or a fault, if it is not ``is_point``."""


class _ThreadState(threading.local):
    """The settings of a thread: ``probability`` is None while inactive, ``decisions`` are the current run's."""

    def __init__(self) -> None:
        self.probability: float | None = None
        self.decisions: Decisions | None = None
        self.is_counted = False  # among the active threads, whatever its probability
        self.generator = _native.Rng(0, "buggify")


state = _ThreadState()


@contextmanager
def many_runs() -> Iterator[None]:
    """Count this thread as active during the block, so that entering and leaving runs costs less."""
    if state.is_counted:
        yield
        return
    # A thread that is active already is counted, and its count passes to this block.
    _count(state.probability is None)
    state.is_counted = True
    try:
        yield
    finally:
        state.is_counted = False
        _count(-(state.probability is None))


def enter_run(decisions: Decisions, probability: float | None) -> tuple[float | None, Decisions | None]:
    """Take the decisions of this thread from ``decisions``; the result is for ``leave_run``."""
    before = (state.probability, state.decisions)
    state.decisions = decisions
    set_probability(probability)
    return before


def leave_run(before: tuple[float | None, Decisions | None]) -> None:
    """Restore what ``enter_run`` returned."""
    probability, state.decisions = before
    set_probability(probability)


def set_probability(probability: float | None) -> None:
    """Let the points of this thread act with ``probability``, or not at all with None."""
    change = (probability is not None) - (state.probability is not None)
    state.probability = probability
    # A thread that ends without deactivating stays counted: then points cost as much as active ones, and no more.
    if change and not state.is_counted:
        _count(change)


def _count(change: int) -> None:
    global _active_threads  # noqa: PLW0603 - how many threads are active is a fact about the process
    with _count_lock:
        _active_threads += change
        enabled.on = _active_threads > 0

"""The state of buggify in each thread: whether points act, with which probability, and what decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import ordeal._native as _native

#: Whether any thread is active: while none is, a point costs next to nothing.
enabled = _native.EnabledFlag()
_count_lock = threading.Lock()
_active_threads = 0


class Decisions(Protocol):
    """The source of a run's decisions."""

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Decide whether the point acts, with ``probability``; or a fault, if it is not ``is_point``."""


class ThreadState:
    """The settings of a thread: ``probability`` is None while inactive, ``decisions`` are the current run's."""

    __slots__ = ("decisions", "generator", "is_counted", "probability")

    def __init__(self) -> None:
        self.probability: float | None = None
        self.decisions: Decisions | None = None
        self.is_counted = False  # among the active threads, with any probability
        self.generator = _native.Rng(0, "buggify")

    def set_probability(self, probability: float | None) -> None:
        """Let the points of this thread act with ``probability``, or not at all with None."""
        change = (probability is not None) - (self.probability is not None)
        self.probability = probability
        # A thread that ends without deactivating stays counted: then points cost as much as active ones, and no more.
        if change and not self.is_counted:
            _count(change)


class _Threads(threading.local):
    """Holds the state of each thread. One object, because each look-up of an attribute of this one is slow."""

    def __init__(self) -> None:
        self.state = ThreadState()


_threads = _Threads()

#: What ``leave_run`` restores.
Before = tuple[ThreadState, float | None, Decisions | None]


def thread_state() -> ThreadState:
    """Return the state of this thread."""
    return _threads.state


@contextmanager
def many_runs() -> Iterator[None]:
    """Count this thread as active during the block, so that entering and leaving runs costs less."""
    state = _threads.state
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


def enter_run(decisions: Decisions, probability: float | None) -> Before:
    """Let ``decisions`` decide in this thread; pass the result to ``leave_run`` in the same thread."""
    state = _threads.state
    before = (state, state.probability, state.decisions)
    state.decisions = decisions
    if state.is_counted:  # as in many runs: nothing changes but the number
        state.probability = probability
    else:
        state.set_probability(probability)
    return before


def leave_run(before: Before) -> None:
    """Restore what ``enter_run`` returned."""
    state, probability, decisions = before
    state.decisions = decisions
    if state.is_counted:
        state.probability = probability
    else:
        state.set_probability(probability)


def _count(change: int) -> None:
    global _active_threads  # noqa: PLW0603 - how many threads are active is a fact about the process
    with _count_lock:
        _active_threads += change
        enabled.on = _active_threads > 0

"""Points in a program where a test may have something rare or bad happen: a retry, a short read, a lost message.

A point does nothing until buggify is activated, in the thread that activates it. Where its decisions come from:

- while the Explorer or a replay runs a machine: from the tape of the run, so that they replay and shrink;
- inside of a Hypothesis test: from Hypothesis' own choices, so that they replay and shrink there;
- else: from a generator of the thread, seeded by ``set_seed``.

The module can be called like the function of its name: ``from ordeal import buggify`` is both.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ordeal import _native
from ordeal.callable_module import make_callable
from ordeal.errors import ConfigError
from ordeal.gate import gated

__all__ = ["activate", "activated", "buggify", "buggify_value", "deactivate", "is_active", "set_seed"]

DEFAULT_PROBABILITY = 0.1
SEED_MAX = 2**64 - 1

_power = _native.Switch()
_count_lock = threading.Lock()
_active_threads = 0


class Decisions(Protocol):
    """Where the decisions of a run come from."""

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Whether the point acts, which it does with ``probability``; or the effect of a fault, which is no point."""


class _ThreadState(threading.local):
    """What one thread has set: ``probability`` is None while inactive, ``decisions`` those of the run under way."""

    def __init__(self) -> None:
        self.probability: float | None = None
        self.decisions: Decisions | None = None
        self.is_counted = False  # among the active ones, whatever its probability
        self.generator = _native.Rng(0, "buggify")


_state = _ThreadState()


@gated(_power, "false")
def buggify(probability: float | None = None) -> bool:
    """Whether this point is to act now: False while buggify is inactive, else True with ``probability``.

    None, the default, takes the probability that buggify was activated with. Raises ConfigError when the probability is
    not a number from 0 to 1.
    """
    default = _state.probability
    if default is None:
        return False
    return _decide(default if probability is None else _checked(probability))


@gated(_power, "first")
def buggify_value[Value](normal: Value, faulty: Value, probability: float | None = None) -> Value:
    """``faulty`` when this point is to act now, and ``normal`` otherwise. Arguments and errors as for ``buggify``."""
    return faulty if buggify(probability) else normal


def effect_acts(probability: float) -> bool:
    """Whether the effect of a fault happens now, with ``probability``. A fault has a switch of its own."""
    return _decide(probability, is_point=False)


def activate(probability: float = DEFAULT_PROBABILITY) -> None:
    """Have the points reached by this thread act, each time with ``probability`` where they do not say another.

    Raises:
        ConfigError: the probability is not a number from 0 to 1.
    """
    _set_probability(_checked(probability))


def deactivate() -> None:
    """Have no point reached by this thread act any more."""
    _set_probability(None)


def is_active() -> bool:
    """Whether points reached by this thread may act."""
    return _state.probability is not None


def set_seed(seed: int) -> None:
    """Start the decisions of this thread over from ``seed``. Those of the Explorer and of Hypothesis have their own.

    Raises:
        ConfigError: the seed is not a whole number from 0 to 2**64 - 1.
    """
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise ConfigError(f"the seed of buggify is {seed!r}", hint="write a whole number from 0 to 2**64 - 1")
    _state.generator = _native.Rng(seed, "buggify")


@contextmanager
def activated(probability: float = DEFAULT_PROBABILITY, *, seed: int | None = None) -> Iterator[None]:
    """Be active inside the block, as ``activate`` and ``set_seed`` would make it; afterwards, as before."""
    probability_before, generator_before = _state.probability, _state.generator
    activate(probability)
    try:
        if seed is not None:
            set_seed(seed)
        yield
    finally:
        _state.generator = generator_before
        _set_probability(probability_before)


@contextmanager
def many_runs() -> Iterator[None]:
    """Have this thread be counted as active all the while, so that entering and leaving runs costs less."""
    if _state.is_counted:
        yield
        return
    # One that is active already is counted; that goes to what this does.
    _count(_state.probability is None)
    _state.is_counted = True
    try:
        yield
    finally:
        _state.is_counted = False
        _count(-(_state.probability is None))


def enter_run(decisions: Decisions, probability: float | None) -> tuple[float | None, Decisions | None]:
    """Take the decisions of this thread from ``decisions``; what is returned is for ``leave_run``."""
    before = (_state.probability, _state.decisions)
    _state.decisions = decisions
    _set_probability(probability)
    return before


def leave_run(before: tuple[float | None, Decisions | None]) -> None:
    """Put back what ``enter_run`` found."""
    probability, _state.decisions = before
    _set_probability(probability)


def _set_probability(probability: float | None) -> None:
    change = (probability is not None) - (_state.probability is not None)
    _state.probability = probability
    # A thread that ends without deactivating stays counted: then points cost what active ones do, and no more.
    if change and not _state.is_counted:
        _count(change)


def _count(change: int) -> None:
    global _active_threads  # noqa: PLW0603 - how many threads are active is a fact about the process
    with _count_lock:
        _active_threads += change
        _power.on = _active_threads > 0


def _decide(probability: float, *, is_point: bool = True) -> bool:
    if _state.decisions is not None:
        return _state.decisions.decide(probability, is_point=is_point)
    if "hypothesis" in sys.modules:
        # Looked up late: who is no Hypothesis test must not pay for importing it.
        decision = importlib.import_module("ordeal.buggify_draws").decide_in_test(probability)
        if decision is not None:
            return bool(decision)
    return _state.generator.chance(probability)


def _checked(probability: Any) -> float:
    if isinstance(probability, int | float) and not isinstance(probability, bool) and 0 <= probability <= 1:
        return float(probability)
    raise ConfigError(f"the probability of buggify is {probability!r}", hint="write a number from 0 to 1")


make_callable(__name__, buggify)

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
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from ordeal import _native
from ordeal._engine.buggify_state import enabled, set_probability, state
from ordeal._engine.callable_module import make_callable
from ordeal._engine.fast_path import fast_path
from ordeal.errors import ConfigError

__all__ = ["activate", "activated", "buggify", "buggify_value", "deactivate", "is_active", "set_seed"]

DEFAULT_PROBABILITY = 0.1
SEED_MAX = 2**64 - 1


@fast_path(enabled, "false")
def buggify(probability: float | None = None) -> bool:
    """Whether this point is to act now: False while buggify is inactive, else True with ``probability``.

    None, the default, takes the probability that buggify was activated with. Raises ConfigError when the probability is
    not a number from 0 to 1.
    """
    default = state.probability
    if default is None:
        return False
    return _decide(default if probability is None else _checked(probability))


@fast_path(enabled, "first")
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
    set_probability(_checked(probability))


def deactivate() -> None:
    """Have no point reached by this thread act any more."""
    set_probability(None)


def is_active() -> bool:
    """Whether points reached by this thread may act."""
    return state.probability is not None


def set_seed(seed: int) -> None:
    """Start the decisions of this thread over from ``seed``. Those of the Explorer and of Hypothesis have their own.

    Raises:
        ConfigError: the seed is not a whole number from 0 to 2**64 - 1.
    """
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise ConfigError(f"the seed of buggify is {seed!r}", hint="write a whole number from 0 to 2**64 - 1")
    state.generator = _native.Rng(seed, "buggify")


@contextmanager
def activated(probability: float = DEFAULT_PROBABILITY, *, seed: int | None = None) -> Iterator[None]:
    """Be active inside the block, as ``activate`` and ``set_seed`` would make it; afterwards, as before."""
    probability_before, generator_before = state.probability, state.generator
    activate(probability)
    try:
        if seed is not None:
            set_seed(seed)
        yield
    finally:
        state.generator = generator_before
        set_probability(probability_before)


def _decide(probability: float, *, is_point: bool = True) -> bool:
    if state.decisions is not None:
        return state.decisions.decide(probability, is_point=is_point)
    if "hypothesis" in sys.modules:
        # Looked up late: who is no Hypothesis test must not pay for importing it.
        decision = importlib.import_module("ordeal._hypothesis.buggify_choices").decide_in_test(probability)
        if decision is not None:
            return bool(decision)
    return state.generator.chance(probability)


def _checked(probability: Any) -> float:
    if isinstance(probability, int | float) and not isinstance(probability, bool) and 0 <= probability <= 1:
        return float(probability)
    raise ConfigError(f"the probability of buggify is {probability!r}", hint="write a number from 0 to 1")


class Buggify(Protocol):
    """What ``ordeal.buggify`` offers, called and as a module; for type checkers, which know no callable modules."""

    def __call__(self, probability: float | None = None) -> bool:
        """See ``ordeal.buggify.buggify``."""

    def buggify(self, probability: float | None = None) -> bool:
        """See ``ordeal.buggify.buggify``."""

    def buggify_value[Value](self, normal: Value, faulty: Value, probability: float | None = None) -> Value:
        """See ``ordeal.buggify.buggify_value``."""

    def activate(self, probability: float = 0.1) -> None:
        """See ``ordeal.buggify.activate``."""

    def activated(self, probability: float = 0.1, *, seed: int | None = None) -> AbstractContextManager[None]:
        """See ``ordeal.buggify.activated``."""

    def deactivate(self) -> None:
        """See ``ordeal.buggify.deactivate``."""

    def set_seed(self, seed: int) -> None:
        """See ``ordeal.buggify.set_seed``."""

    def is_active(self) -> bool:
        """See ``ordeal.buggify.is_active``."""


make_callable(__name__, buggify)

"""Points in a program where a test may make something rare or bad happen: a retry, a short read, a lost message.

A point does nothing until buggify is activated in its thread. Its decisions come from

- the tape of the run, while the Explorer or a replay runs a machine, so that they replay and shrink;
- Hypothesis' own choices, inside a Hypothesis test, so that they replay and shrink there;
- otherwise a generator of the thread, seeded by ``set_seed``.

The module can be called like the function of that name: ``from ordeal import buggify`` gives both.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import ordeal._native as _native
from ordeal._base.buggify_state import enabled, thread_state
from ordeal._base.callable_module import make_callable
from ordeal._base.fast_path import fast_path
from ordeal._base.limits import SEED_MAX
from ordeal.errors import ConfigError

__all__ = ["activate", "activated", "buggify", "buggify_value", "deactivate", "is_active", "set_seed"]

DEFAULT_PROBABILITY = 0.1


@fast_path(enabled, "false")
def buggify(probability: float | None = None) -> bool:
    """Return True if this point acts now: False while buggify is inactive, else True with ``probability``.

    None, the default, means the probability with which buggify was activated. Raises ConfigError when the probability
    is not a number from 0 to 1.
    """
    default = thread_state().probability
    if default is None:
        return False
    return _decide(default if probability is None else _checked(probability))


@fast_path(enabled, "first")
def buggify_value[Value](normal: Value, faulty: Value, probability: float | None = None) -> Value:
    """Return ``faulty`` when this point acts, else ``normal``; ``probability`` and errors are as for ``buggify``."""
    return faulty if buggify(probability) else normal


def effect_acts(probability: float) -> bool:
    """Return True if the effect of a fault happens now, with ``probability``. A fault has its own switch."""
    return _decide(probability, is_point=False)


def sample(share: float) -> bool:
    """Return True with probability ``share`` during a run, for something expensive; outside a run always."""
    return _decide(share, is_point=False, outside_runs=True)


def activate(probability: float = DEFAULT_PROBABILITY) -> None:
    """Let points reached by this thread act, with ``probability`` unless they have their own.

    Raises:
        ConfigError: the probability is not a number from 0 to 1.
    """
    thread_state().set_probability(_checked(probability))


def deactivate() -> None:
    """Stop the points reached by this thread from acting."""
    thread_state().set_probability(None)


def is_active() -> bool:
    """Return True if points reached by this thread may act."""
    return thread_state().probability is not None


def set_seed(seed: int) -> None:
    """Restart the decisions of this thread from ``seed``. The Explorer and Hypothesis do not use them.

    Raises:
        ConfigError: the seed is not a whole number from 0 to 2**64 - 1.
    """
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise ConfigError(f"the seed of buggify is {seed!r}", hint="write a whole number from 0 to 2**64 - 1")
    thread_state().generator = _native.Rng(seed, "buggify")


@contextmanager
def activated(probability: float = DEFAULT_PROBABILITY, *, seed: int | None = None) -> Iterator[None]:
    """Activate buggify in a block, as ``activate(probability)`` and ``set_seed(seed)`` do outside of one."""
    state = thread_state()
    probability_before, generator_before = state.probability, state.generator
    activate(probability)
    try:
        if seed is not None:
            set_seed(seed)
        yield
    finally:
        state.generator = generator_before
        state.set_probability(probability_before)


def _decide(probability: float, *, is_point: bool = True, outside_runs: bool | None = None) -> bool:
    state = thread_state()
    if state.decisions is not None:
        return state.decisions.decide(probability, is_point=is_point)
    if "hypothesis" in sys.modules:
        # Imported late: programs other than Hypothesis tests must not pay for it.
        decision = importlib.import_module("ordeal._hypothesis.buggify_choices").decide_in_test(probability)
        if decision is not None:
            return bool(decision)
    return state.generator.chance(probability) if outside_runs is None else outside_runs


def _checked(probability: Any) -> float:
    if isinstance(probability, int | float) and not isinstance(probability, bool) and 0 <= probability <= 1:
        return float(probability)
    raise ConfigError(f"the probability of buggify is {probability!r}", hint="write a number from 0 to 1")


class Buggify(Protocol):
    """The interface of ``ordeal.buggify`` as function and as module, for type checkers."""

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

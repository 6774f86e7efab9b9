"""Switches on at once what a test under chaos needs: properties that are tracked, and buggify."""

from __future__ import annotations

from ordeal.assertions import tracker
from ordeal.buggify import DEFAULT_PROBABILITY, activate, set_seed


def auto_configure(buggify_probability: float = DEFAULT_PROBABILITY, seed: int | None = None) -> None:
    """Track properties from zero, and activate buggify in this thread.

    ``seed`` makes the decisions of buggify outside of Hypothesis and the Explorer the same ones each time.

    Raises:
        ConfigError: the probability is not from 0 to 1, or the seed not from 0 to 2**64 - 1.
    """
    activate(buggify_probability)
    if seed is not None:
        set_seed(seed)
    tracker.reset()
    tracker.active = True

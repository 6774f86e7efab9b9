"""Invariants that are too expensive to check after every step: ``@invariant(sampled=True)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import hypothesis.stateful

from ordeal._hypothesis.markers import SAMPLED_MARKER
from ordeal.buggify import sample


def invariant[Function: Callable[..., Any]](
    *, check_during_init: bool = False, sampled: bool = False
) -> Callable[[Function], Function]:
    """Make a method an invariant. ``check_during_init`` is as for Hypothesis' ``invariant``.

    With ``sampled``, it is checked before the first step, at the end of the run, and after one step in eight. Which
    steps these are is drawn with the other choices of a run, so that it replays. Hypothesis alone checks the first
    and the last state of a ``ChaosTest`` alone.
    """
    decorate: Callable[[Any], Any] = hypothesis.stateful.invariant(check_during_init=check_during_init)
    return (lambda function: decorate(_sampled(function))) if sampled else decorate


def _sampled(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(function)
    def sampled_invariant(self: Any) -> Any:
        # Of the steps between the first check and the last one, one in eight is checked.
        return function(self) if sample(0.125) else None

    setattr(sampled_invariant, SAMPLED_MARKER, function)
    return sampled_invariant

"""Rules with types as arguments and with a weight, ``@rule(x=int, weight=10)``, and invariants that are sampled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, get_origin

import hypothesis.stateful
from hypothesis import strategies as st
from hypothesis.stateful import Bundle

from ordeal._hypothesis.markers import SAMPLED_MARKER
from ordeal.buggify import sample
from ordeal.errors import MachineError
from ordeal.swarm.weights import BASE_MAX, WEIGHT_MARKER


def rule[Function: Callable[..., Any]](
    *, targets: Sequence[Bundle[Any]] = (), target: Bundle[Any] | None = None, **arguments: Any
) -> Callable[[Function], Function]:
    """Make a method a rule, like Hypothesis' ``rule``; an argument may be a type instead of a strategy.

    A number as ``weight`` is how often the rule runs relative to others, as in ``ChaosTest.weights``, not an argument.

    Raises:
        hypothesis.errors.InvalidArgument: an argument is neither, or ``target`` and ``targets`` are both given.
        MachineError: the weight is not a whole number from 1 to 1000.
    """
    weight = arguments.pop("weight") if isinstance(arguments.get("weight"), int | float) else 1
    if type(weight) is not int or not 1 <= weight <= BASE_MAX:
        raise MachineError(f"the weight of a rule is {weight!r}", hint=f"write a whole number from 1 to {BASE_MAX}")
    decorate = _decorator(hypothesis.stateful.rule, targets, target, arguments)

    def weighted(function: Function) -> Function:
        made: Function = decorate(function)
        if weight > 1:
            setattr(made, WEIGHT_MARKER, weight)
        return made

    return weighted


def initialize[Function: Callable[..., Any]](
    *, targets: Sequence[Bundle[Any]] = (), target: Bundle[Any] | None = None, **arguments: Any
) -> Callable[[Function], Function]:
    """Make a method a rule that runs once, before the others.

    ``target``, ``targets``, other arguments and errors are as for ``rule``.
    """
    return _decorator(hypothesis.stateful.initialize, targets, target, arguments)


def invariant[Function: Callable[..., Any]](
    *, check_during_init: bool = False, sampled: bool = False
) -> Callable[[Function], Function]:
    """Make a method an invariant. ``check_during_init`` is as for Hypothesis' ``invariant``.

    With ``sampled``, it is checked before the first step, at the end of the run, and after one step in eight. Which
    steps these are is drawn with the other choices of a run, so that it replays. Hypothesis alone checks the first
    and the last state of a ``ChaosTest`` alone.
    """
    decorate: Callable[[Any], Any] = hypothesis.stateful.invariant(check_during_init=check_during_init)
    if not sampled:
        return decorate

    def decorate_sampled(function: Any) -> Any:
        @functools.wraps(function)
        def sampled_invariant(self: Any) -> Any:
            # Of the steps between the first check and the last one, one in eight is checked.
            return function(self) if sample(0.125) else None

        setattr(sampled_invariant, SAMPLED_MARKER, function)
        return decorate(sampled_invariant)

    return decorate_sampled


def strategy(given: Any) -> st.SearchStrategy[Any]:
    """Return the strategy of ``given``, a type such as ``int`` or ``list[int]``; a strategy is returned as it is.

    Raises:
        MachineError: it is neither.
    """
    found = _strategy(given)
    if isinstance(found, st.SearchStrategy):
        return found
    raise MachineError(
        f"{given!r} is neither a strategy nor a type", hint="write a strategy such as `st.integers()`, or a type: `int`"
    )


def _decorator(
    make: Any, targets: Sequence[Bundle[Any]], target: Bundle[Any] | None, arguments: dict[str, Any]
) -> Callable[[Any], Any]:
    # Hypothesis distinguishes an omitted target from None.
    where = {} if target is None else {"target": target}
    decorate: Callable[[Any], Any] = make(
        targets=targets, **where, **{name: _strategy(given) for name, given in arguments.items()}
    )
    return decorate


def _strategy(given: Any) -> Any:
    """Return the strategy of a type; anything else is left for Hypothesis to report."""
    is_type = isinstance(given, type) or get_origin(given) is not None
    return st.from_type(given) if is_type else given

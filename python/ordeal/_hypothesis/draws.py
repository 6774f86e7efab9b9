"""Draws arguments: directly from the tape if the strategy is simple, else through Hypothesis."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from hypothesis.stateful import Bundle
from hypothesis.strategies import SearchStrategy

import ordeal._native as _native
from ordeal._base.limits import DEPTH_MAX
from ordeal._hypothesis.private import kind_of, unwrap
from ordeal._hypothesis.provider import is_int64

#: Draws a value in a run, given its ``RunContext``.
Draw = Callable[[Any], Any]


def compile_draw(strategy: SearchStrategy[Any]) -> tuple[Draw, bool]:
    """Return a function that draws a value of ``strategy`` in a run, and whether it goes through Hypothesis.

    Only the exact types below are drawn without Hypothesis; they write the same choices to the tape as it would.
    """
    plain = unwrap(strategy)
    try:
        draw = _draw_plain(plain, kind_of(plain))
    except (AttributeError, TypeError, IndexError):
        draw = None  # has this name, but is made in an unknown way
    return (lambda run: run.data.draw(strategy), True) if draw is None else (draw, False)


def _draw_plain(plain: Any, kind: str) -> Draw | None:
    if kind == "IntegersStrategy":
        low, high = plain.start, plain.end
        is_plain = low is not None and high is not None and is_int64(low) and is_int64(high)
        return (lambda run: run.source.integer(low, high, 0)) if is_plain else None
    if kind == "BooleansStrategy":
        return lambda run: bool(run.source.boolean(0.5))
    if kind == "JustStrategy" and not plain._transformations:
        value = plain.elements[0]
        return lambda _run: value
    if kind == "SampledFromStrategy" and not plain._transformations:
        elements, size = tuple(plain.elements), len(plain.elements)
        return lambda run: elements[run.source.position(size)]
    if kind == "Bundle" and not getattr(plain, "_transformations", ()):
        name, consume = plain.name, plain.consume

        def draw(run: Any) -> Any:
            references = run.machine.bundles.get(name)
            if not references:
                run.data.mark_invalid(f"Cannot draw from empty bundle {name!r}")
            newest = len(references) - 1
            at = newest - (run.source.position(newest + 1) if run.source.live else run.follow(references))
            return references.pop(at) if consume else references[at]

        return draw
    return None


def compile_argument(strategy: SearchStrategy[Any]) -> tuple[Draw, bool]:
    """Return a compiled strategy that draws as ``compile_draw`` does, and whether Hypothesis draws until then."""
    draw, goes_through_hypothesis = compile_draw(strategy)
    if goes_through_hypothesis:
        return _native.new_compiled_strategy(strategy, draw), True
    plain = unwrap(strategy)
    kind = kind_of(plain)
    if kind == "IntegersStrategy":
        node = _native.integers_node(plain.start, plain.end)
    elif kind == "BooleansStrategy":
        node = _native.booleans_node()
    elif kind == "JustStrategy":
        node = _native.constant_node(plain.elements[0])
    elif kind == "SampledFromStrategy":
        node = _native.sampled_node(tuple(plain.elements), is_position=True)
    else:
        return draw, False  # a bundle: the step loop reads it itself
    return _native.new_compiled_strategy(strategy, draw, node), False


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that is loaded when a strategy is compiled, which a short run never does."""

    def loaded(*given: Any) -> Any:
        return getattr(importlib.import_module(f"ordeal._hypothesis.{module}"), name)(*given)

    return loaded


_native.set_compiler_hooks(
    _late("strategy_compiler", "compile_strategy"),
    _late("strategy_compiler", "audit"),
    _late("same_strategies", "strategy_made_alike"),
)


def draws_from_bundle(strategy: object, depth: int = 0) -> bool:
    """Return True if a strategy takes values of bundles, as far as its parts show."""
    if isinstance(strategy, Bundle):
        return True
    if isinstance(strategy, SearchStrategy):
        parts = list(vars(strategy).values())
    elif isinstance(strategy, list | tuple | dict):
        parts = list(strategy.values()) if isinstance(strategy, dict) else list(strategy)
    else:
        return False
    # Deeper, a strategy holds itself, or more than a person has written.
    return depth < DEPTH_MAX and any(draws_from_bundle(part, depth + 1) for part in parts)


#: The attributes that hold the parts of strategies.
_PARTS = (
    *("elements", "_transformations", "element_strategies", "element_strategy", "tuple_suffixes", "min_size"),
    *("max_size", "mapping", "optional", "mapped_strategy", "filtered_strategy"),
)


def describe_strategy(strategy: SearchStrategy[Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of the class that draws for ``strategy``, and its parts."""
    plain = unwrap(strategy)
    return type(plain).__name__, {part.strip("_"): getattr(plain, part, None) for part in _PARTS}

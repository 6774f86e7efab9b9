"""Compiles the arrays of Hypothesis' extension for NumPy; what is built of them, such as pandas' columns, is mapped.

The extension is only looked at where a program has imported it: NumPy takes long to import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import ordeal._native as _native

#: More values than this are rather drawn one by one: a plan has a part for each.
DENSE_MAX = 4096

_Part = Callable[[SearchStrategy[Any]], _native.StrategyNode]
_Sizes = Callable[[int, float, float], tuple[int, int | None, float]]


def is_array_strategy(kind: type) -> bool:
    """Return whether strategies of type ``kind`` draw arrays of NumPy."""
    return kind.__name__ == "ArrayStrategy" and kind.__module__ == "hypothesis.extra.numpy"


def array_node(strategy: Any, part: _Part, sizes: _Sizes) -> _native.StrategyNode | None:
    """Return the node of an ``ArrayStrategy``, of nodes that ``part`` makes; None if there is none for such arrays."""
    size, fill = strategy.array_size, strategy.fill
    if strategy.dtype.kind in "SaU" and strategy.dtype.itemsize == 0:
        return None  # the text decides about the type
    if size == 0:
        return _made(strategy, _native.tuple_node([]), _dense)
    if fill.is_empty:
        return _dense_node(strategy, part)
    if strategy.unique or strategy.element_strategy.is_empty:
        return None
    average = min(0.9 * size, max(10, math.sqrt(size)))
    node = _native.sparse_node(part(strategy.element_strategy), part(fill), size, sizes(0, size, average))
    return _made(strategy, node, _sparse)


def _dense_node(strategy: Any, part: _Part) -> _native.StrategyNode | None:
    """Return the node of an array of which each value is drawn."""
    size, elements = strategy.array_size, strategy.element_strategy
    if elements.is_empty or size > DENSE_MAX:
        return None
    if strategy.unique:
        return _made(strategy, part(st.lists(elements, min_size=size, max_size=size, unique=True)), _dense)
    return _made(strategy, _native.tuple_node([part(elements)] * size), _dense)


def _made(strategy: Any, node: _native.StrategyNode, make: Callable[[Any, Any, Any], None]) -> _native.StrategyNode:
    """Return the node of arrays that ``make`` fills with what ``node`` draws."""
    import numpy as np  # noqa: PLC0415 - who draws arrays has imported it

    def filled(drawn: Any) -> Any:
        flat = np.zeros(shape=strategy.array_size, dtype=strategy.dtype)
        make(strategy, flat, drawn)
        return flat.reshape(strategy.shape).copy()

    return _native.map_node(node, filled)


def _dense(strategy: Any, flat: Any, values: Sequence[Any]) -> None:
    for place, value in enumerate(values):
        strategy.set_element(value, flat, place)


def _sparse(strategy: Any, flat: Any, drawn: tuple[Any, ...]) -> None:
    places, values, *fill = drawn
    if fill:
        one = flat[:1].copy()
        strategy.set_element(fill[0], one, 0, fill=True)
        flat[:] = one
    for place, value in zip(places, values, strict=True):
        strategy.set_element(value, flat, place)

"""Recognizes strategies that are remade for each draw: to validate and unwrap one takes longer than to draw from it.

``data.draw(st.lists(st.integers(0, size)))`` in a rule makes two strategies that were made before, in a run or in
another one, from the same functions and arguments.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import sys
import uuid
from collections.abc import Callable, Collection, Hashable
from types import BuiltinFunctionType, FunctionType
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ordeal._base.limits import CACHED_MAX, DEPTH_MAX, ITEMS_MAX
from ordeal._hypothesis.private import kind_of

#: The types whose values never change, and are the same when they are equal.
_VALUES: frozenset[type] = frozenset(
    (
        *(bool, int, str, bytes, complex, type(None), type(...), type(NotImplemented), range),
        *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
        *(decimal.Decimal, fractions.Fraction, uuid.UUID),
    )
)
#: The arguments of a lazy strategy, which has no public names for them.
_TEXT_ALONE = {str}
_ARGUMENTS, _KEYWORDS = "_LazyStrategy__args", "_LazyStrategy__kwargs"


class _UnknownError(Exception):
    """Whether two of these are the same is unknown."""


class Same:
    """The first strategy that was made in some way. ``is_recursive`` says whether one in it must not draw itself."""

    __slots__ = ("is_recursive", "strategy")

    def __init__(self, strategy: SearchStrategy[Any], is_recursive: bool) -> None:
        self.strategy = strategy
        self.is_recursive = is_recursive


_known: dict[Hashable, Same] = {}


def same_strategy(strategy: SearchStrategy[Any]) -> Same | None:
    """Return the strategy that was first made in the same way as ``strategy``; None where that is unknown.

    The first one is validated here, so that it does not matter what becomes of its arguments.
    """
    if kind_of(strategy) not in _STRATEGIES:
        return None
    keys = _Keys()
    try:
        key = keys.of(strategy)
        known = _known.get(key)
    except (_UnknownError, TypeError, AttributeError, KeyError, ValueError):
        return None
    if known is None:
        strategy.validate()
        if len(_known) >= CACHED_MAX:
            _known.clear()
        known = _known[key] = Same(strategy, keys.are_recursive)
    return known


def strategy_made_alike(strategy: Any) -> SearchStrategy[Any] | None:
    """Return the first strategy that was made as ``strategy`` was; None where it must be drawn itself."""
    same = same_strategy(strategy) if isinstance(strategy, SearchStrategy) else None
    return None if same is None or same.is_recursive else same.strategy


class _Keys:
    """Finds what distinguishes a strategy from others. An object that may change is not a part of a key.

    The ids in a key are those of objects that the known strategy holds.
    """

    def __init__(self) -> None:
        self.are_recursive = False
        self._depth = 0

    def of(self, value: Any) -> Hashable:
        """Return the key of ``value``. Raises _UnknownError where there is none."""
        kind = type(value)
        if kind in _VALUES:
            return kind, value
        if kind is float:
            return kind, value.hex()
        key = _PARTS.get(kind) or _STRATEGIES.get(kind_of(value))
        if key is None:
            numpy = sys.modules.get("numpy")
            is_dtype = numpy is not None and issubclass(kind, numpy.dtype)
            if isinstance(value, type) or kind is BuiltinFunctionType or is_dtype:
                return kind, value
            raise _UnknownError
        if self._depth >= DEPTH_MAX:
            raise _UnknownError
        self._depth += 1
        found = kind, key(self, value)
        self._depth -= 1
        return found

    def _all(self, values: Collection[Any]) -> Hashable:
        if len(values) > ITEMS_MAX:
            raise _UnknownError
        return tuple([self.of(value) for value in values])

    def _lazy(self, strategy: Any) -> Hashable:
        function, attributes = strategy.function, strategy.__dict__
        if function in _NEVER_SAME:
            raise _UnknownError
        is_own = function.__module__.startswith("hypothesis.")
        return (
            function,
            tuple([self._argument(value, is_own) for value in attributes[_ARGUMENTS]]),
            tuple([(name, self._argument(value, is_own)) for name, value in attributes[_KEYWORDS].items()]),
            self._transformations(strategy),
        )

    def _argument(self, value: Any, is_own: bool) -> Hashable:
        """Return the key of an argument, a list or a dictionary only for Hypothesis' own functions: these read it once.

        They do so when the strategy is validated. Those that pass on a value, as just(), are not lazy.
        """
        kind = type(value)
        if is_own and kind is list:
            return kind, tuple(value) if _are_characters(value) else self._all(value)
        if is_own and kind is dict:
            return kind, self._all(list(value.keys())), self._all(list(value.values()))
        return self.of(value)

    def _builds(self, strategy: Any) -> Hashable:
        keywords = strategy.kwargs
        return self.of(strategy.target), self._all(strategy.args), tuple(keywords), self._all([*keywords.values()])

    def _sampled(self, strategy: Any) -> Hashable:
        elements = strategy.elements
        key = elements if _are_characters(elements) else self.of(elements)
        return key, self._transformations(strategy)

    def _transformations(self, strategy: Any) -> Hashable:
        return tuple([(method, self.of(called)) for method, called, *_ in strategy._transformations])

    def _recursive(self, strategy: Any) -> Hashable:
        self.are_recursive = True
        leaves = getattr(strategy, "min_leaves", None), strategy.max_leaves
        return self.of(strategy.base), self.of(strategy.extend), leaves

    def _function(self, function: FunctionType) -> Hashable:
        """Return what a function does: a nested function is made again for each call of the outer one."""
        if "<locals>" not in function.__qualname__:
            return id(function)
        cells, defaults, keywords = function.__closure__ or (), function.__defaults__, function.__kwdefaults__
        return (
            id(function.__code__),
            id(function.__globals__),
            self._all([cell.cell_contents for cell in cells]),
            self._all(defaults or ()),
            self._all([*(keywords or {}).items()]),
        )


def _are_characters(values: Any) -> bool:
    """Return True if these are texts, at most as many as an alphabet may have: they are a key as they are."""
    return type(values) in (tuple, list) and 0 < len(values) <= 256 and set(map(type, values)) == _TEXT_ALONE


def _attributes(*names: str) -> Callable[[_Keys, Any], Hashable]:
    return lambda keys, strategy: tuple([keys.of(getattr(strategy, name)) for name in names])


_SIZED = ("element_strategy", "min_size", "max_size")
_STRATEGIES: dict[str, Callable[[_Keys, Any], Hashable]] = {
    "BooleansStrategy": _attributes(),
    "IntegersStrategy": _attributes("start", "end"),
    "FloatStrategy": _attributes("min_value", "max_value", "allow_nan", "smallest_nonzero_magnitude"),
    "TextStrategy": _attributes(*_SIZED),
    "BytesStrategy": _attributes("min_size", "max_size"),
    "OneCharStringStrategy": lambda _keys, strategy: strategy.intervals,
    "ListStrategy": _attributes(*_SIZED),
    "UniqueListStrategy": _attributes(*_SIZED, "keys", "tuple_suffixes"),
    "UniqueSampledListStrategy": _attributes(*_SIZED, "keys", "tuple_suffixes"),
    "TupleStrategy": _attributes("element_strategies"),
    "BuildsStrategy": _Keys._builds,
    "LazyStrategy": _Keys._lazy,
    "SampledFromStrategy": _Keys._sampled,
    "JustStrategy": _Keys._sampled,
    "OneOfStrategy": _attributes("original_strategies"),
    "MappedStrategy": _attributes("mapped_strategy", "pack"),
    "FilteredStrategy": _attributes("filtered_strategy", "flat_conditions"),
    "FlatMapStrategy": _attributes("base", "expand"),
    "RecursiveStrategy": _Keys._recursive,
}
_PARTS: dict[type, Callable[[_Keys, Any], Hashable]] = {FunctionType: _Keys._function, tuple: _Keys._all}
#: What these make depends on types that were registered since.
_NEVER_SAME = frozenset((st.from_type, getattr(st.from_type, "__wrapped__", None), None))

"""From a type to a strategy of its values, biased towards boundaries where the type is a plain one."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any, Literal, NewType, TypeAliasType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy

from ordeal.errors import ConfigError
from ordeal.quickcheck import biased
from ordeal.strategies import mixed_types

_PLAIN: dict[Any, Callable[[], SearchStrategy[Any]]] = {
    Any: mixed_types,
    None: st.none,
    bool: st.booleans,
    bytes: biased.bytes_,
    float: biased.floats,
    int: biased.integers,
    object: mixed_types,
    str: biased.strings,
    types.NoneType: st.none,
}
#: Items of a set or keys of a dictionary: more would take longer and show nothing new.
KEYS_MAX = 20
#: Items of a list of anything but plain values.
NESTED_MAX = 3


def strategy_for_type(tp: Any) -> SearchStrategy[Any]:
    """A strategy of values of the type ``tp``, as hints write it.

    Knows the plain types, lists, tuples, sets, dictionaries, unions, ``Literal``, ``NewType``, type aliases and
    dataclasses, also recursive ones; of other types, what Hypothesis knows.

    Raises:
        ConfigError: no value of the type can be made.
    """
    return _Types().strategy(tp)


class _Types:
    """One translation; it remembers the dataclasses under way, which may contain themselves."""

    def __init__(self) -> None:
        self._dataclasses: dict[type, SearchStrategy[Any]] = {}

    def strategy(self, tp: Any) -> SearchStrategy[Any]:
        if isinstance(tp, TypeAliasType):
            return self.strategy(tp.__value__)
        if isinstance(tp, NewType):
            return self.strategy(tp.__supertype__)
        if _is_hashable(tp) and tp in _PLAIN:
            return _PLAIN[tp]()
        if dataclasses.is_dataclass(tp) and isinstance(tp, type):
            return self._dataclass(tp)
        return self._generic(tp, get_origin(tp) or tp, get_args(tp))

    def _generic(self, tp: Any, origin: Any, parts: tuple[Any, ...]) -> SearchStrategy[Any]:
        if origin is Literal:
            return st.sampled_from(parts)
        if origin in (Union, types.UnionType):
            return st.one_of([self.strategy(part) for part in parts])
        if origin is list:
            return self._list(parts[0] if parts else Any)
        if origin is tuple and parts:
            return self._tuple(parts)
        if origin in (set, frozenset) and parts:
            items = self.strategy(parts[0])
            return (st.sets if origin is set else st.frozensets)(items, max_size=KEYS_MAX)
        if origin is dict and parts:
            return st.dictionaries(self.strategy(parts[0]), self.strategy(parts[1]), max_size=KEYS_MAX)
        return _from_hypothesis(tp)

    def _list(self, part: Any) -> SearchStrategy[list[Any]]:
        items = self.strategy(part)
        if _is_hashable(part) and part in _PLAIN:
            return biased.lists(items)
        # Half of them empty, the others short: the size of what nests, maybe in itself, would have no end.
        return st.just([]).map(list) | st.lists(items, max_size=NESTED_MAX)

    def _tuple(self, parts: tuple[Any, ...]) -> SearchStrategy[Any]:
        if parts == ((),):
            return st.just(())
        if parts[-1] is Ellipsis:
            return self._list(parts[0]).map(tuple)
        return st.tuples(*map(self.strategy, parts))

    def _dataclass(self, cls: type) -> SearchStrategy[Any]:
        known = self._dataclasses.get(cls)
        if known is not None:
            return known
        fields: dict[str, SearchStrategy[Any]] = {}
        # The fields are filled in below: those of a recursive class ask for the strategy of the class itself.
        made = self._dataclasses[cls] = st.deferred(lambda: st.builds(cls, **fields))
        hints = get_type_hints(cls)
        for field in dataclasses.fields(cls):
            if field.init:
                fields[field.name] = self.strategy(hints[field.name])
        return made


def _from_hypothesis(tp: Any) -> SearchStrategy[Any]:
    try:
        strategy: SearchStrategy[Any] = st.from_type(tp)
        strategy.validate()
    except (HypothesisException, TypeError) as error:
        raise ConfigError(
            f"no values can be made of the type {getattr(tp, '__name__', tp)!r}",
            hint="give a strategy for it, or register one with hypothesis.strategies.register_type_strategy",
        ) from error
    return strategy


def _is_hashable(tp: Any) -> bool:
    try:
        dict.fromkeys([tp])
    except TypeError:
        return False
    return True

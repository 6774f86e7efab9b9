"""Makes strategies from types, biased towards boundaries for plain types."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from itertools import chain
from typing import (
    Any,
    Literal,
    NewType,
    TypeAliasType,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

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
#: The size limit of sets and dictionaries: more keys would take longer and show nothing new.
KEYS_MAX = 20


def strategy_for_type(tp: Any) -> SearchStrategy[Any]:
    """Return a strategy for values of the type ``tp``, as in type hints.

    Knows the plain types, lists, tuples, sets, dictionaries, unions, ``Literal``, ``NewType``, type aliases and
    dataclasses, including recursive and generic ones; for other types, any type that Hypothesis knows.

    Raises:
        ConfigError: no value of the type can be made.
    """
    return _Types().strategy(tp)


class _Types:
    """One translation; it remembers the aliases and dataclasses in progress, which may contain themselves."""

    def __init__(self) -> None:
        self._named: dict[Any, SearchStrategy[Any]] = {}
        # The values of type parameters of the generic types in progress.
        self._bound: dict[Any, Any] = {}

    def strategy(self, tp: Any) -> SearchStrategy[Any]:
        origin = get_origin(tp) or tp
        parts = tuple(self._bound.get(part, part) if isinstance(part, TypeVar) else part for part in get_args(tp))
        if isinstance(tp, TypeVar) and tp in self._bound:
            return self.strategy(self._bound[tp])
        if isinstance(tp, NewType):
            return self.strategy(tp.__supertype__)
        if _is_hashable(tp) and tp in _PLAIN:
            return _PLAIN[tp]()
        if isinstance(origin, TypeAliasType):
            return self._once(origin, parts, lambda: self.strategy(origin.__value__))
        if dataclasses.is_dataclass(origin) and isinstance(origin, type):
            return self._once(origin, parts, lambda: self._dataclass(origin))
        if origin is Literal:
            return st.sampled_from(parts)
        if origin in (Union, types.UnionType):
            return st.one_of([self.strategy(part) for part in parts])
        if origin is list:
            return self._list(parts[0] if parts else Any)
        if origin is tuple:
            return self._tuple(parts or (Any, ...)) if tp != tuple[()] else st.just(())
        if origin in (set, frozenset):
            items = self._hashable(parts[0] if parts else Any)
            return (st.sets if origin is set else st.frozensets)(items, max_size=KEYS_MAX)
        if origin is dict:
            key, value = parts or (Any, Any)
            return st.dictionaries(self._hashable(key), self.strategy(value), max_size=KEYS_MAX)
        try:
            strategy: SearchStrategy[Any] = st.from_type(tp)
            strategy.validate()
        except (HypothesisException, TypeError) as error:
            raise ConfigError(
                f"no values can be made of the type {getattr(tp, '__name__', tp)!r}",
                hint="give a strategy for it, or register one with hypothesis.strategies.register_type_strategy",
            ) from error
        return strategy

    def _once(
        self, origin: Any, parts: tuple[Any, ...], make: Callable[[], SearchStrategy[Any]]
    ) -> SearchStrategy[Any]:
        """Return what ``make`` makes; inside it, recursive uses get a reference to it."""
        key = (origin, parts)
        if key not in self._named:
            made: list[SearchStrategy[Any]] = []
            self._named[key] = st.deferred(lambda: made[0])
            outer = self._bound
            # In the older style, ``class Box(Generic[T])``, they are its ``__parameters__``.
            parameters = origin.__type_params__ or getattr(origin, "__parameters__", ())
            self._bound = {**outer, **dict(zip(parameters, parts, strict=False))}
            made.append(make())
            self._bound = outer
        return self._named[key]

    def _hashable(self, tp: Any) -> SearchStrategy[Any]:
        return self.strategy(tp).filter(_is_hashable) if tp in (Any, object) else self.strategy(tp)

    def _list(self, part: Any) -> SearchStrategy[list[Any]]:
        items = self.strategy(part)
        if _is_hashable(part) and part in _PLAIN:
            return biased.lists(items)
        # Half of them empty, the others short: otherwise types that contain themselves would grow without end.
        return st.just([]).map(list) | st.lists(items, max_size=3)

    def _tuple(self, parts: tuple[Any, ...]) -> SearchStrategy[Any]:
        if parts[-1] is Ellipsis:
            return self._list(parts[0]).map(tuple)
        # Each part as a separate tuple: an unpacked one, as in tuple[int, *tuple[str, ...]], has any length.
        pieces = []
        for part in parts:
            is_unpacked = getattr(part, "__unpacked__", False) or get_origin(part) is Unpack
            pieces.append(self._tuple(get_args(part)) if is_unpacked else st.tuples(self.strategy(part)))
        return st.tuples(*pieces).map(lambda drawn: tuple(chain.from_iterable(drawn)))

    def _dataclass(self, cls: type) -> SearchStrategy[Any]:
        try:
            hints = get_type_hints(cls, include_extras=True)
        except NameError:
            # Before Python 3.12.2, hints given as text do not resolve parameters of the class.
            parameters = {parameter.__name__: parameter for parameter in cls.__type_params__}
            hints = get_type_hints(cls, localns=parameters, include_extras=True)
        fields = {field.name: self.strategy(hints[field.name]) for field in dataclasses.fields(cls) if field.init}
        return st.builds(cls, **fields)


def _is_hashable(tp: Any) -> bool:
    try:
        dict.fromkeys([tp])
    except TypeError:
        return False
    return True

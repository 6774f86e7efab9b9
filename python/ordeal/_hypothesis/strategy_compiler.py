"""Compiles Hypothesis strategies to trees of nodes, from which C++ draws.

Only strategies of exactly the types below are compiled. A node makes the same choices as the strategy, in the same
order, and calls functions of the user's equally often and in the same order. A part that cannot be compiled is drawn
through Hypothesis inside the compiled tree. Probes and occasional audits check that a tree draws as Hypothesis does.
"""

from __future__ import annotations

import datetime
import math
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.strategies import (
    SearchStrategy,
    booleans,
    fixed_dictionaries,
    just,
    lists,
    none,
    nothing,
    one_of,
    sampled_from,
)

import ordeal._native as _native
from ordeal._hypothesis.build_context import BuildContext, no_test
from ordeal._hypothesis.private import MAX_DEPTH, kind_of, private, unwrap
from ordeal._hypothesis.provider import SIZE_MAX, WIDE_MAX, TapeProvider, given_up, is_int64
from ordeal._hypothesis.tape_data import TapeData

Node = _native.StrategyNode


class NotCompilableError(Exception):
    """The strategy cannot be compiled."""


# ---------------------------------------------------------------------------------------------------------------------
# Dates and times

_MICROSECOND = datetime.timedelta(microseconds=1)
_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
_FIRST_OF_TIME = 3


def _time(_compiler: Compiler, strategy: Any, _depth: int) -> Node:
    """Return the node of a strategy for dates or times without a timezone."""
    low, high = strategy.min_value, strategy.max_value
    kind = type(low)
    if type(high) is not kind or kind is not _KINDS[kind_of(strategy)]:
        raise NotCompilableError
    if kind is datetime.timedelta:
        return _native.timedelta_node(kind, _timedelta_parts(low), _timedelta_parts(high))
    if kind is datetime.date:
        end = _FIRST_OF_TIME
        return _native.calendar_node(kind, _parts(low), _parts(high), first=0, end=end, has_fold=False)
    zones = unwrap(strategy.tz_strat)
    is_naive = kind_of(zones) == "JustStrategy" and zones.elements[0] is None and not zones._transformations
    if not is_naive or low.tzinfo is not None or high.tzinfo is not None:
        raise NotCompilableError
    if kind is datetime.time or not getattr(strategy, "tricky_possible", False):
        first = _FIRST_OF_TIME if kind is datetime.time else 0
        return _native.calendar_node(kind, _parts(low), _parts(high), first=first, end=len(_PARTS), has_fold=True)
    interesting, tricky_p, widths = _tricky()
    instants, nearest = interesting(None, *strategy.instant_window)
    return _native.calendar_node(
        kind,
        _parts(low),
        _parts(high),
        first=0,
        end=len(_PARTS),
        has_fold=True,
        tricky_p=tricky_p,
        instants=[_parts(instant) for instant in instants],
        simplest=nearest,
        widths_us=[width // _MICROSECOND for width in widths],
    )


@cache
def _tricky() -> tuple[Any, ...]:
    """Return how datetimes near changes of a clock are chosen, and what widths and chance they have."""
    places = [f"hypothesis.strategies._internal.datetime:{name}" for name in _TRICKY]
    found = tuple(private(place, None) for place in places)
    if None in found:
        raise NotCompilableError
    return found


_TRICKY = ("_interesting_instants", "_TRICKY_P", "_TRICKY_WIDTHS")


def _parts(moment: Any) -> tuple[int, ...]:
    return tuple(getattr(moment, part, 1 if place < _FIRST_OF_TIME else 0) for place, part in enumerate(_PARTS))


def _timedelta_parts(delta: datetime.timedelta) -> tuple[int, int, int]:
    return delta.days, delta.seconds, delta.microseconds


_KINDS: dict[str, type] = {
    "DateStrategy": datetime.date,
    "TimeStrategy": datetime.time,
    "DatetimeStrategy": datetime.datetime,
    "TimedeltaStrategy": datetime.timedelta,
}


# ---------------------------------------------------------------------------------------------------------------------
# Arrays of Hypothesis' extension for NumPy, which takes long to import: only looked at where a program has imported it


def _array(compiler: Compiler, strategy: Any, depth: int) -> Node:
    if type(strategy).__module__ != "hypothesis.extra.numpy":
        raise NotCompilableError  # arrays of another library
    size, fill = strategy.array_size, strategy.fill
    if strategy.dtype.kind in "SaU" and strategy.dtype.itemsize == 0:
        raise NotCompilableError  # the text decides about the type
    if size == 0:
        return _made(strategy, _native.tuple_node([]), _dense)
    elements = strategy.element_strategy
    if not fill.is_empty:
        if strategy.unique or elements.is_empty:
            raise NotCompilableError
        sizes = _sizes(0, size, min(0.9 * size, max(10, math.sqrt(size))))
        node = _native.sparse_node(compiler.part(elements, depth), compiler.part(fill, depth), size, sizes)
        return _made(strategy, node, _sparse)
    # All values are drawn. More than these are drawn one by one: a plan has a part for each.
    if elements.is_empty or size > 4_096:
        raise NotCompilableError
    if strategy.unique:
        values = st.lists(elements, min_size=size, max_size=size, unique=True)
        return _made(strategy, compiler.part(values, depth), _dense)
    return _made(strategy, _native.tuple_node([compiler.part(elements, depth)] * size), _dense)


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


class Compiler:
    """Compiles one strategy.

    Attributes:
        height: how many nested spans Hypothesis opens in the nodes made so far.
        is_auditable: whether drawing calls no code of the user's and changes nothing, so that it can be repeated.
    """

    def __init__(self) -> None:
        self.height = 0
        self.is_auditable = True
        self._open: list[SearchStrategy[Any]] = []

    def whole(self, strategy: SearchStrategy[Any]) -> Node | None:
        """Return the node of ``strategy``, or None."""
        try:
            return self._node(strategy, 0)
        except NotCompilableError:
            return None

    def part(self, strategy: SearchStrategy[Any], depth: int) -> Node:
        """Return the node of a part, drawn with ``depth`` spans open; a part without one is drawn by Hypothesis."""
        try:
            return self._node(strategy, depth)
        except NotCompilableError:
            self.is_auditable = False
            self.height = max(self.height, depth + 1)
            return _native.generic_node(strategy, depth)

    def _node(self, strategy: SearchStrategy[Any], depth: int) -> Node:
        strategy.validate()
        # A recursive strategy, by deferred(), ends here; a draw that never ends does so in Hypothesis.
        if strategy.is_empty or any(each is strategy for each in self._open) or depth >= MAX_DEPTH:
            raise NotCompilableError
        plain = unwrap(strategy)
        kind = kind_of(plain)
        make = _MAKERS.get(kind)
        if make is None:
            raise NotCompilableError
        self.is_auditable = self.is_auditable and kind not in _DRAWN_ONCE
        self.height = max(self.height, depth + 1)
        self._open.append(strategy)
        try:
            return make(self, plain, depth + 1)
        except (AttributeError, TypeError, IndexError) as error:
            raise NotCompilableError from error  # it has a known name, but is made in an unknown way
        finally:
            self._open.pop()

    def calls(self, *functions: Callable[..., Any]) -> None:
        """Note that drawing calls ``functions``."""
        self.is_auditable = self.is_auditable and all(map(is_own_function, functions))


def compile_strategy(strategy: SearchStrategy[Any]) -> tuple[Node, int, bool] | None:
    """Return the node of ``strategy``, its span depth, and whether it can be audited; None if it cannot be compiled."""
    compiler = Compiler()
    node = compiler.whole(strategy)
    if node is None or (compiler.is_auditable and not passes_probe(strategy, node)):
        return None
    return node, compiler.height, compiler.is_auditable


# ---------------------------------------------------------------------------------------------------------------------
# The compilers of strategy types. Each gets the strategy and how many spans are open while it draws.

_Maker = Callable[[Compiler, Any, int], Node]


def _integers(_compiler: Compiler, strategy: Any, _depth: int) -> Node:
    low, high = strategy.start, strategy.end
    plain = all(bound is None or is_int64(bound) for bound in (low, high))
    if plain and (low is None or high is None):
        return _native.open_integers_node(low, high)
    if plain:
        return _native.integers_node(low, high)
    if low is None or high is None or low < -WIDE_MAX or high > WIDE_MAX:
        raise NotCompilableError
    return _native.wide_integers_node(low, high)


def _just(compiler: Compiler, strategy: Any, _depth: int) -> Node:
    value = strategy.elements[0]
    if not strategy._transformations:
        return _native.constant_node(value)
    return _native.transformed_node(value, _steps(compiler, strategy))


def _sampled(compiler: Compiler, strategy: Any, _depth: int) -> Node:
    elements = _elements(strategy)
    if not strategy._transformations:
        return _native.sampled_node(elements, is_position=False)
    return _native.filtered_sample_node(elements, _steps(compiler, strategy))


def _elements(strategy: Any) -> Any:
    # Hypothesis reports an event when a strategy was drawn from strategies.
    if type(strategy.elements) is not range and any(isinstance(each, SearchStrategy) for each in strategy.elements):
        raise NotCompilableError
    return strategy.elements


def _steps(compiler: Compiler, strategy: Any) -> list[tuple[bool, Callable[..., Any]]]:
    steps = [(name == "filter", function) for name, function, *_ in strategy._transformations]
    compiler.calls(*(function for _, function in steps))
    return steps


def _one_of(compiler: Compiler, strategy: Any, depth: int) -> Node:
    branches = []
    for branch in strategy.element_strategies:
        bundle = None
        if type(branch).is_currently_empty is not SearchStrategy.is_currently_empty:
            if kind_of(branch) != "Bundle":
                raise NotCompilableError
            bundle = branch.name
        branches.append((compiler.part(branch, depth), bundle))
    chooses_one = len(branches) == 1 and chooses_single_branch()
    return _native.one_of_node(branches, chooses_one)


def _text(compiler: Compiler, strategy: Any, depth: int) -> Node:
    characters = unwrap(strategy.element_strategy)
    if kind_of(characters) == "OneCharStringStrategy":
        alphabet = _alphabet(tuple(characters.intervals.intervals))
        return _native.text_node(alphabet, strategy.min_size, _size_max(strategy.max_size))
    return _native.joined_node(_list(compiler, strategy, depth))


@cache
def _alphabet(intervals: tuple[tuple[int, int], ...]) -> _native.Alphabet:
    return _native.Alphabet(list(intervals))


def _size_max(size: float) -> int:
    return min(SIZE_MAX, SIZE_MAX if size == math.inf else int(size))


_Sizes = tuple[int, int | None, float]


def _sizes(low: int, high: float, average: float) -> _Sizes:
    return low, None if high == math.inf else int(high), _p_continue(average - low, high - low)


def _solved(average: float, most: float) -> float:
    """Return with what probability each further element comes, for ``average`` of at most ``most`` elements."""
    if average == most:
        return 1.0
    if most == math.inf:
        return 1 - 1 / (1 + average)
    low, high = 0.0, 1.0
    while low < (p := (low + high) / 2) < high:
        # The first element comes with p, and with it the second with p, and so on.
        low, high = (p, high) if p * (1 - p**most) / (1 - p) <= average else (low, p)
    return low


#: Hypothesis' own is less exact, and the same choices give the same lists only with the same probability.
_p_continue: Callable[[float, float], float] = private("hypothesis.internal.conjecture.utils:_calc_p_continue", _solved)


def _list(compiler: Compiler, strategy: Any, depth: int) -> Node:
    if strategy.element_strategy.is_empty:
        raise NotCompilableError
    element = compiler.part(strategy.element_strategy, depth + 1)
    return _native.list_node(element, _sizes(strategy.min_size, strategy.max_size, strategy.average_size))


def _unique_list(compiler: Compiler, strategy: Any, depth: int) -> Node:
    if strategy.element_strategy.is_empty:
        raise NotCompilableError
    # Hypothesis joins the filter against duplicates with the filters of the element.
    filtered: Any = SearchStrategy.filter(strategy.element_strategy, bool)
    conditions = list(filtered.flat_conditions[:-1])
    compiler.calls(*conditions)
    inside = depth + spans_of_unique_list() + 1
    element = compiler.part(filtered.filtered_strategy, inside + 1)
    sizes = _sizes(strategy.min_size, strategy.max_size, strategy.average_size)
    keys, suffix = _uniqueness(compiler, strategy, inside)
    return _native.unique_list_node(element, conditions, sizes, keys, suffix)


def _unique_sample(compiler: Compiler, strategy: Any, depth: int) -> Node:
    sampled = strategy.element_strategy
    if kind_of(sampled) not in ("SampledFromStrategy", "JustStrategy"):
        raise NotCompilableError
    sizes = _sizes(strategy.min_size, strategy.max_size, strategy.average_size)
    keys, suffix = _uniqueness(compiler, strategy, depth + 1)
    return _native.unique_sample_node(
        _elements(sampled), _steps(compiler, sampled), sizes, keys, suffix, ends_by_choice()
    )


def _uniqueness(compiler: Compiler, strategy: Any, depth: int) -> tuple[list[Callable[[Any], Any] | None], Node | None]:
    compiler.calls(*strategy.keys)
    keys = [None if is_own_function(key) and key.__name__ == "identity" else key for key in strategy.keys]
    suffix = strategy.tuple_suffixes
    if suffix is None:
        return keys, None
    if kind_of(suffix) != "TupleStrategy":
        raise NotCompilableError
    return keys, compiler.part(suffix, depth)


def _fixed_dictionary(compiler: Compiler, strategy: Any, depth: int) -> Node:
    make = type(strategy.mapping)
    compiler.calls(make)
    shuffles = shuffles_dictionaries()
    # Without the shuffle, the required items are a mapped tuple.
    inside = depth if shuffles else depth + 3
    required = [(key, compiler.part(each, inside)) for key, each in strategy.mapping.items()]
    left = [(key, each) for key, each in (strategy.optional or {}).items() if not each.is_empty]
    optional = [(key, compiler.part(each, depth + 1)) for key, each in left]
    sizes = _sizes(0, len(left), len(left) / 2)
    return _native.fixed_dictionary_node(make, required, optional, sizes, shuffles)


def _map(compiler: Compiler, strategy: Any, depth: int) -> Node:
    compiler.calls(strategy.pack)
    return _native.map_node(compiler.part(strategy.mapped_strategy, depth + 1), strategy.pack)


def _filter(compiler: Compiler, strategy: Any, depth: int) -> Node:
    compiler.calls(*strategy.flat_conditions)
    return _native.filter_node(compiler.part(strategy.filtered_strategy, depth + 1), list(strategy.flat_conditions))


def _builds(compiler: Compiler, strategy: Any, depth: int) -> Node:
    compiler.calls(strategy.target)
    arguments = [compiler.part(each, depth) for each in strategy.args]
    keywords = [(name, compiler.part(each, depth)) for name, each in strategy.kwargs.items()]
    return _native.builds_node(strategy.target, arguments, keywords)


def _bundle(compiler: Compiler, strategy: Any, _depth: int) -> Node:
    if not hasattr(strategy, "_transformations"):
        raise NotCompilableError
    return _native.bundle_node(strategy.name, strategy.consume, strategy.draw_references, _steps(compiler, strategy))


_MAKERS: dict[str, _Maker] = {
    "IntegersStrategy": _integers,
    "BooleansStrategy": lambda *_: _native.booleans_node(),
    "FloatStrategy": lambda _compiler, strategy, _depth: _native.floats_node(
        strategy.min_value, strategy.max_value, strategy.allow_nan, strategy.smallest_nonzero_magnitude
    ),
    "JustStrategy": _just,
    "SampledFromStrategy": _sampled,
    "OneOfStrategy": _one_of,
    "TextStrategy": _text,
    "OneCharStringStrategy": lambda _compiler, strategy, _depth: _native.text_node(
        _alphabet(tuple(strategy.intervals.intervals)), 1, 1
    ),
    "BytesStrategy": lambda _compiler, strategy, _depth: _native.bytes_node(
        strategy.min_size, _size_max(strategy.max_size)
    ),
    "ListStrategy": _list,
    "UniqueListStrategy": _unique_list,
    "UniqueSampledListStrategy": _unique_sample,
    "TupleStrategy": lambda compiler, strategy, depth: _native.tuple_node(
        [compiler.part(each, depth) for each in strategy.element_strategies]
    ),
    "FixedDictStrategy": _fixed_dictionary,
    "PermutationStrategy": lambda _compiler, strategy, _depth: _native.permutation_node(strategy.values),
    "MappedStrategy": _map,
    "FilteredStrategy": _filter,
    "BuildsStrategy": _builds,
    "FlatMapStrategy": lambda compiler, strategy, depth: _native.flatmap_node(
        compiler.part(strategy.base, depth), strategy.expand, depth
    ),
    "CompositeStrategy": lambda _compiler, strategy, depth: _native.composite_node(
        strategy.definition, tuple(strategy.args), dict(strategy.kwargs), depth
    ),
    "RunnerStrategy": lambda _compiler, strategy, depth: _native.runner_node(_native.generic_node(strategy, depth - 1)),
    "Bundle": _bundle,
    "ArrayStrategy": _array,
    **dict.fromkeys(_KINDS, _time),
}

#: Drawing these calls code of the user's, or changes something; and arrays are not compared by one value.
_DRAWN_ONCE = {"FlatMapStrategy", "CompositeStrategy", "RunnerStrategy", "Bundle", "ArrayStrategy"}

_native.set_unsatisfied(UnsatisfiedAssumption)

# ---------------------------------------------------------------------------------------------------------------------
# Checks that compiled strategies draw as Hypothesis does

#: How many draws from new nodes are repeated through Hypothesis before the nodes are used.
PROBES = 3

_OWN_TYPES = (set, frozenset, dict, list, tuple, str, bytes, int, float, bool)


def is_own_function(function: Callable[..., Any]) -> bool:
    """Return True if ``function`` is Python's or Hypothesis' own, so that extra calls of it make no difference."""
    if function in _OWN_TYPES:
        return True
    plain = type(function) in (FunctionType, BuiltinFunctionType)
    return plain and str(getattr(function, "__module__", "")).startswith("hypothesis.")


class _NoRun:
    """Stands for a run where there is none."""

    machine = None

    def __init__(self, source: _native.ChoiceSource) -> None:
        self.data = TapeData(TapeProvider(source))


def _draw(strategy: SearchStrategy[Any], source: _native.ChoiceSource) -> tuple[Any, TapeData]:
    """Return what Hypothesis draws from the choices of ``source``: a value, or the exception that rejects them."""
    data = TapeData(TapeProvider(source))
    with BuildContext(data, is_final=False, wrapped_test=no_test):
        try:
            return data.draw(strategy), data
        except (StopTest, UnsatisfiedAssumption) as ending:
            return type(ending), data


def passes_probe(strategy: SearchStrategy[Any], node: _native.StrategyNode) -> bool:
    """Return True if some draws from ``node`` equal those through Hypothesis. They belong to no run."""
    for seed in range(PROBES):
        redraw = _native.Redraw(seed)
        run = _native.DrawContext()
        run.begin(redraw.source, _NoRun(redraw.source))
        try:
            value = node.draw(run)
        except (StopTest, UnsatisfiedAssumption) as ending:
            value = type(ending)
        length = run.length
        run.end()
        redraw.repeat()
        if not _is_repeated(strategy, redraw, value, length):
            return False
    return True


def audit(strategy: SearchStrategy[Any], choices: Sequence[Any], value: Any, length: int) -> bool:
    """Return True if Hypothesis makes ``value`` from ``choices``, which the compiled ``strategy`` drew in a run."""
    return _is_repeated(strategy, _native.Redraw(choices), value, length)


def _is_repeated(strategy: SearchStrategy[Any], redraw: _native.Redraw, value: Any, length: int) -> bool:
    repeated, data = _draw(strategy, redraw.source)
    if redraw.matches and data.length == length and same(value, repeated):
        return True
    given_up.append(
        f"{strategy!r} is drawn through Hypothesis: its plan does not do what Hypothesis {hypothesis.__version__} does."
    )
    return False


def same(one: Any, other: Any) -> bool:
    """Return True if two values are the same, floats bit by bit."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is float:
        return struct.pack("<d", one) == struct.pack("<d", other)
    if kind.__module__ == "numpy" and hasattr(one, "tobytes"):  # arrays, and values that were taken from them
        shape = (one.dtype, one.shape)
        return shape == (other.dtype, other.shape) and (
            same(one.tolist(), other.tolist()) if one.dtype.hasobject else one.tobytes() == other.tobytes()
        )
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return same(list(one.items()), list(other.items()))
    if kind in (set, frozenset):
        return len(one) == len(other) and all(map(same, sorted(one, key=repr), sorted(other, key=repr)))
    compares: object = kind.__eq__
    return bool(one == other) or compares is object.__eq__


# ---------------------------------------------------------------------------------------------------------------------
# What differs between versions of Hypothesis


def _choices(strategy: SearchStrategy[Any], *given: Any) -> int:
    """Return how many choices a draw of ``strategy`` makes; ``given`` are the choices that it may make."""
    _, data = _draw(strategy, _native.Redraw(given).source)
    return len(data.choices)


@cache
def chooses_single_branch() -> bool:
    """Return True if one_of() makes a choice when it has a single branch."""
    return _choices(one_of(booleans(), nothing()), 0, False) > 1


@cache
def shuffles_dictionaries() -> bool:
    """Return True if fixed_dictionaries() chooses the order of its keys."""
    return _choices(fixed_dictionaries({0: none(), 1: just(1)}), 0) > 0


@cache
def ends_by_choice() -> bool:
    """Return True if a unique list ends with a choice once all elements are taken."""
    taken_all = lists(sampled_from([0, 1]), unique=True, min_size=1)
    return _choices(taken_all, 0, True, 0) > len((True, 0, True, 0))


def spans_of_unique_list() -> int:
    """Return how many spans a unique list opens around itself."""
    return 1 if hasattr(sys.modules.get("hypothesis.internal.conjecture.data"), "UNIQUE_COLLECTION_LABEL") else 0

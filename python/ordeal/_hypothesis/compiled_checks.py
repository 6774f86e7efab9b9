"""Checks that compiled strategies draw as Hypothesis does: by version, by a probe, and by occasional audits."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import hypothesis
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
from ordeal._hypothesis.build_context import BuildContext
from ordeal._hypothesis.provider import TapeProvider, given_up
from ordeal._hypothesis.tape_data import TapeData

#: How many draws from new nodes are repeated through Hypothesis before the nodes are used.
PROBES = 3

_OWN_TYPES = (set, frozenset, dict, list, tuple, str, bytes, int, float, bool)


def is_own_function(function: Callable[..., Any]) -> bool:
    """Return whether ``function`` is Python's or Hypothesis' own, so that extra calls of it make no difference."""
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
    with BuildContext(data, is_final=False, wrapped_test=_no_test):
        try:
            return data.draw(strategy), data
        except (StopTest, UnsatisfiedAssumption) as ending:
            return type(ending), data


def passes_probe(strategy: SearchStrategy[Any], node: _native.StrategyNode) -> bool:
    """Return whether some draws from ``node`` equal those through Hypothesis. They belong to no run."""
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
    """Return whether Hypothesis makes ``value`` from ``choices``, which the compiled ``strategy`` drew in a run."""
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
    """Return whether two values are the same, floats bit by bit."""
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
    """Return whether one_of() makes a choice when it has a single branch."""
    return _choices(one_of(booleans(), nothing()), 0, False) > 1


@cache
def shuffles_dictionaries() -> bool:
    """Return whether fixed_dictionaries() chooses the order of its keys."""
    return _choices(fixed_dictionaries({0: none(), 1: just(1)}), 0) > 0


@cache
def ends_by_choice() -> bool:
    """Return whether a unique list ends with a choice once all elements are taken."""
    taken_all = lists(sampled_from([0, 1]), unique=True, min_size=1)
    return _choices(taken_all, 0, True, 0) > len((True, 0, True, 0))


def spans_of_unique_list() -> int:
    """Return how many spans a unique list opens around itself."""
    return 1 if hasattr(sys.modules.get("hypothesis.internal.conjecture.data"), "UNIQUE_COLLECTION_LABEL") else 0


def _no_test() -> None:
    """Stands for the test function in a draw that has none."""

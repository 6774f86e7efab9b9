"""The outcome of an operation on one side of a pair: how it is read, compared and described."""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass
from io import BytesIO, IOBase, StringIO
from typing import Any

from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX
from ordeal._native import deep_copy

#: How many items of an iterator are compared, as some never end.
ITEMS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class CallEnd:
    """A result, or the raised error; for an iterator that raised, also the items before."""

    result: Any
    error: Exception | None = None

    def shown(self) -> str:
        """Return the result, as messages show it."""
        return shown(self.result)

    def __str__(self) -> str:
        if self.error is None:
            return f"returned {self.shown()}"
        given = "" if self.result is None else f"gave {self.shown()} and then "
        said = str(self.error)
        return f"{given}raised {type(self.error).__name__}{f': {said}' if said else ''}"


def outcome_of(call: Callable[[], Any], passed_on: tuple[type[Exception], ...]) -> CallEnd:
    """Return the outcome of ``call``. Errors of the kinds ``passed_on`` are raised."""
    given: list[Any] = []
    try:
        result = call()
        if not isinstance(result, Iterator):
            return CallEnd(materialized(result))
        # Not list(): items yielded before an error are kept.
        given.extend(itertools.islice(result, ITEMS_MAX))
        return CallEnd(given)
    except passed_on:
        raise
    except Exception as error:  # noqa: BLE001 - what an operation raises is its outcome, and compared
        return CallEnd(given or None, error)


def materialized(value: Any) -> Any:
    """Return ``value`` in a comparable form: iterators and dictionary views as lists, also inside a tuple."""
    if isinstance(value, Iterator):
        return list(itertools.islice(value, ITEMS_MAX))
    if isinstance(value, KeysView | ItemsView | ValuesView):
        return list(value)
    return tuple(map(materialized, value)) if type(value) is tuple else value


async def awaited(awaitable: Any) -> Any:
    """Return the result of anything awaitable, or a list of the items of an asynchronous iterator."""
    if not isinstance(awaitable, AsyncIterator):
        return await awaitable
    items: list[Any] = []
    async for item in awaitable:
        items.append(item)
        if len(items) == ITEMS_MAX:
            break
    return items


def for_two(value: Any) -> tuple[Any, Any]:
    """Return ``value`` twice, so that neither side sees what the other does with it.

    Mutable collections and arrays are copied, and iterators split. Everything else is shared.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        pairs = [for_two(item) for item in value]
        return kind(one for one, _ in pairs), kind(other for _, other in pairs)
    if kind is dict:
        values = {key: for_two(item) for key, item in value.items()}
        return {key: one for key, (one, _) in values.items()}, {key: other for key, (_, other) in values.items()}
    if kind in _FLAT:
        return copy.copy(value), copy.copy(value)
    if isinstance(value, MutableSequence | MutableMapping | MutableSet) or hasattr(value, "__array__"):
        return deep_copy(value, {}), deep_copy(value, {})
    if isinstance(value, Iterator) and not isinstance(value, IOBase):
        one, other = itertools.tee(value)
        return one, other
    return value, value


#: Collections for which a shallow copy is enough, as their items are seldom changed.
_FLAT = {bytearray, deque, set, BytesIO, StringIO}


def same(ours: Any, theirs: Any) -> bool:
    """Return True if ``ours`` equals ``theirs``, as Python compares them, except that NaN equals NaN and True is not 1.

    Lists, tuples, deques and dictionaries are compared item by item, arrays as a whole.
    """
    kind = type(ours)
    if kind is type(theirs) and kind in _PLAIN:
        return bool(ours == theirs)
    if _is_truth(ours) is not _is_truth(theirs):
        return False
    for collection in (list, tuple, deque):
        if _are(collection, ours, theirs):
            return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if _are(dict, ours, theirs):
        return ours.keys() == theirs.keys() and all(same(item, theirs[key]) for key, item in ours.items())
    if hasattr(ours, "__array__") or hasattr(theirs, "__array__"):
        # Numpy's own numbers are arrays without an extent, and compared like Python's.
        if (_shape(ours) or ()) != (_shape(theirs) or ()):
            return False
        equal = (ours == theirs) | ((ours != ours) & (theirs != theirs))
        return bool(equal.__array__().all() if hasattr(equal, "__array__") else equal)
    return bool(ours == theirs) or bool(ours != ours and theirs != theirs)


#: Types whose values need no closer look.
_PLAIN = {bool, bytes, int, str, type(None)}


def _are(kind: type, ours: Any, theirs: Any) -> bool:
    """Return True if both are of the kind, and no derived class overrides the comparison."""
    return _is_plain(kind, ours) and _is_plain(kind, theirs)


def _is_plain(kind: Any, value: Any) -> bool:
    cls: Any = type(value)
    return issubclass(cls, kind) and cls.__eq__ is kind.__eq__


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or (_shape(value) == () and getattr(value.dtype, "kind", "") == "b")


def _shape(value: Any) -> Any:
    """Return the extent of an array; None for anything else."""
    return value.shape if hasattr(value, "__array__") and hasattr(value, "dtype") else None


@dataclass(frozen=True, slots=True)
class Sides:
    """What messages call the two sides of a comparison."""

    ours: str
    theirs: str
    within: str

    def describe_difference(self, one: Any, other: Any) -> str:
        """Return lines that say in which places two collections differ, or nothing."""
        lines: list[str] = []
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for key in dict.fromkeys((*one, *other)):
                if key not in other:
                    lines.append(f"[{shown(key)}]: only {self.ours} has it, {shown(one[key])}")
                elif key not in one:
                    lines.append(f"[{shown(key)}]: only {self.theirs} has it, {shown(other[key])}")
                elif not same(one[key], other[key]):
                    lines.append(f"[{shown(key)}]: {shown(one[key])}, {self.within} {shown(other[key])}")
        elif isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str | bytes):
            if type(one) is not type(other):
                lines.append(f"a {type(one).__name__}, {self.within} a {type(other).__name__}")
            if len(one) != len(other):
                lines.append(f"{len(one)} items, {self.within} {len(other)}")
            pairs = enumerate(zip(one, other, strict=False))
            lines += [f"[{at}]: {shown(a)}, {self.within} {shown(b)}" for at, (a, b) in pairs if not same(a, b)]
        elif isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
            lines = [f"only {self.ours} has {shown(item)}" for item in sorted(one - other, key=shown)]
            lines += [f"only {self.theirs} has {shown(item)}" for item in sorted(other - one, key=shown)]
        left = len(lines) - LISTED_MAX
        more = [f"and {left} more"] if left > 0 else []
        return "".join(f"\n  {line}" for line in [*lines[:LISTED_MAX], *more])


def agree(
    ours: CallEnd,
    theirs: CallEnd,
    equal: Callable[[Any, Any], bool],
    errors: Mapping[type[Exception], type[Exception]],
) -> bool:
    """Return True if two outcomes agree; ``errors`` says which error of ours stands for which of theirs.

    An error that is not listed must be of the class of the other, or of one derived from it.
    """
    if ours.error is None and theirs.error is None:
        return bool(equal(ours.result, theirs.result))
    if ours.error is None or theirs.error is None:
        return False
    given = ours.result is not None or theirs.result is not None
    if given and not equal(ours.result, theirs.result):
        return False
    for our_error, their_error in errors.items():
        if isinstance(ours.error, our_error) and isinstance(theirs.error, their_error):
            return True
    return isinstance(ours.error, type(theirs.error))


def shown(value: Any) -> str:
    """Return the repr of ``value``, cut to what a message can hold."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a broken repr must not hide what is to be said
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= LINE_CHARS_MAX else f"{text[:LINE_CHARS_MAX]}..."

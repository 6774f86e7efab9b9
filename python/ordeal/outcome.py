"""What came of an operation on one side of a pair: how it is read, compared and described."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from itertools import islice
from typing import Any

#: Of an iterator, as many items are compared: some never end.
ITEMS_MAX = 10_000
SHOWN_MAX = 300
DIFFERENCES_MAX = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result, or the error that was raised instead."""

    result: Any
    error: Exception | None = None

    def shown(self) -> str:
        """The result, as messages show it."""
        return _cut(self.result)

    def __str__(self) -> str:
        if self.error is None:
            return f"returned {self.shown()}"
        said = str(self.error)
        return f"raised {type(self.error).__name__}{f': {said}' if said else ''}"


def materialized(result: Any) -> Any:
    """``result`` in a form that can be compared: an iterator or a view of a dictionary as a list of its items."""
    if isinstance(result, Iterator):
        return list(islice(result, ITEMS_MAX))
    if isinstance(result, KeysView | ItemsView | ValuesView):
        return list(result)
    return result


def owned(value: Any) -> Any:
    """A copy of the lists, dictionaries, sets and byte arrays in ``value``; all else is shared by both sides."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(map(owned, value))
    if kind is dict:
        return {key: owned(item) for key, item in value.items()}
    if kind is set or kind is bytearray:
        return kind(value)
    return value


def same(ours: Any, theirs: Any) -> bool:
    """Whether two values are equal, as Python compares them, but that NaN is NaN and True is not 1.

    Lists, tuples and dictionaries are compared item by item, arrays as a whole.
    """
    if isinstance(ours, bool) is not isinstance(theirs, bool):
        return False
    if _are(list, ours, theirs) or _are(tuple, ours, theirs):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if _are(dict, ours, theirs):
        return ours.keys() == theirs.keys() and all(same(item, theirs[key]) for key, item in ours.items())
    equal = ours == theirs
    if hasattr(equal, "all") and not isinstance(equal, bool):
        return getattr(ours, "shape", None) == getattr(theirs, "shape", None) and bool(equal.all())
    return bool(equal) or (ours != ours and theirs != theirs)


def describe_difference(ours: Outcome, theirs: Outcome) -> str:
    """Lines that say in which places two collections differ, or nothing."""
    if ours.error is not None or theirs.error is not None:
        return ""
    one, other = ours.result, theirs.result
    lines: list[str] = []
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        lines = _mapping_differences(one, other)
    elif isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str | bytes):
        lines = _sequence_differences(one, other)
    elif isinstance(one, set | frozenset) and isinstance(other, set | frozenset):
        lines = [f"only the system has {_cut(item)}" for item in sorted(one - other, key=repr)]
        lines += [f"only the model has {_cut(item)}" for item in sorted(other - one, key=repr)]
    left = len(lines) - DIFFERENCES_MAX
    more = [f"and {left} more"] if left > 0 else []
    return "".join(f"\n  {line}" for line in [*lines[:DIFFERENCES_MAX], *more])


def _mapping_differences(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[str]:
    lines = []
    for key in dict.fromkeys((*one, *other)):
        if key not in other:
            lines.append(f"[{key!r}]: only the system has it, {_cut(one[key])}")
        elif key not in one:
            lines.append(f"[{key!r}]: only the model has it, {_cut(other[key])}")
        elif not same(one[key], other[key]):
            lines.append(f"[{key!r}]: {_cut(one[key])}, in the model {_cut(other[key])}")
    return lines


def _sequence_differences(one: Sequence[Any], other: Sequence[Any]) -> list[str]:
    lines = []
    if type(one) is not type(other):
        lines.append(f"a {type(one).__name__}, in the model a {type(other).__name__}")
    if len(one) != len(other):
        lines.append(f"{len(one)} items, in the model {len(other)}")
    pairs = enumerate(zip(one, other, strict=False))
    return lines + [f"[{at}]: {_cut(a)}, in the model {_cut(b)}" for at, (a, b) in pairs if not same(a, b)]


def _are(kind: type, ours: Any, theirs: Any) -> bool:
    return type(ours) is kind and type(theirs) is kind


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."

"""Invariants on collections: their order, repetitions, and whether there is anything in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from typing import Any

from ordeal.errors import ConfigError
from ordeal.invariants.check import Invariant, shown


def monotonic(*, strict: bool = False) -> Invariant:
    """Check that no item is below the one before it; with ``strict``, none is equal to it either."""

    def check(value: Any) -> str | None:
        for at, (before, item) in enumerate(pairwise(_items(value)), 1):
            try:
                holds = before < item if strict else before <= item
            except TypeError:
                return f"value[{at}], {shown(item)}, cannot be ordered after {shown(before)}"
            if not holds:
                relation = "not above" if strict else "below" if item == item else "not comparable with"
                return f"value[{at}], {shown(item)}, is {relation} the item before it, {shown(before)}"
        return None

    return Invariant(f"monotonic(strict={strict})" if strict else "monotonic()", check)


def unique(*, key: Callable[[Any], Any] | None = None) -> Invariant:
    """Check that no two items are equal or, with ``key``, have equal keys.

    Items that cannot be hashed are compared one by one.

    Raises ConfigError when the key cannot be called.
    """
    if key is not None and not callable(key):
        raise ConfigError(
            f"unique(key={key!r}): the key cannot be called", hint='write for example key=itemgetter("id")'
        )

    def check(value: Any) -> str | None:
        seen = _SeenItems()
        for at, item in enumerate(_items(value)):
            mark = item if key is None else key(item)
            earlier = seen.place(mark, at)
            if earlier is not None:
                of = "" if key is None else f" of {shown(item)}"
                return f"value[{at}] repeats value[{earlier}]: {shown(mark)}{of}"
        return None

    return Invariant("unique()" if key is None else f"unique(key={getattr(key, '__name__', 'key')})", check)


def non_empty() -> Invariant:
    """Check that there is at least one item."""

    def check(value: Any) -> str | None:
        try:
            size = len(value)
        except TypeError:
            return f"{shown(value)} is of type {type(value).__name__}, which has no length"
        return None if size else f"{shown(value)} is empty"

    return Invariant("non_empty()", check)


class _SeenItems:
    """Where each mark was seen first."""

    def __init__(self) -> None:
        self._hashed: dict[Hashable, int] = {}
        self._compared: list[tuple[Any, int]] = []

    def place(self, mark: Any, at: int) -> int | None:
        """Where an equal mark was seen before, or None; then this one is at ``at``."""
        try:
            dict.fromkeys([mark])  # asks for its hash
        except TypeError:
            earlier = next((place for other, place in self._compared if other == mark), None)
            if earlier is None:
                self._compared.append((mark, at))
            return earlier
        earlier = self._hashed.setdefault(mark, at)
        return None if earlier == at else earlier


def _items(value: Any) -> Iterable[Any]:
    """The items of a collection; those of an array as Python's own values, for these can be compared."""
    if hasattr(value, "to_numpy"):  # a frame, whose items are its rows, or a series
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Iterable):
        return value
    raise AssertionError(f"{shown(value)} is of type {type(value).__name__}, which is not a collection")

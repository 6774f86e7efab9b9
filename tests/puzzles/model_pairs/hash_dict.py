"""A dictionary in Python: open addressing over a table of places in a list of entries, which keeps their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

EMPTY, DELETED = -1, -2
SLOTS_MIN = 8
_MISSING = object()


@dataclass(slots=True)
class Entry:
    """A key with its hash and its value."""

    hash: int
    key: Any
    value: Any


class HashDict:
    """What ``dict`` does, in the same order."""

    def __init__(self) -> None:
        self._slots = [EMPTY] * SLOTS_MIN
        self._entries: list[Entry | None] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (entry.key for entry in self._entries if entry is not None)

    def __reversed__(self) -> Iterator[Any]:
        return (entry.key for entry in reversed(self._entries) if entry is not None)

    def __contains__(self, key: Any) -> bool:
        return self._find(key)[1] is not None

    def __getitem__(self, key: Any) -> Any:
        entry = self._find(key)[1]
        if entry is None:
            raise KeyError(key)
        return entry.value

    def __setitem__(self, key: Any, value: Any) -> None:
        slot, entry = self._find(key)
        if entry is not None:
            entry.value = value
            return
        self._slots[slot] = len(self._entries)
        self._entries.append(Entry(hash(key), key, value))
        self._size += 1
        if len(self._entries) * 3 >= len(self._slots) * 2:
            self._rebuild()

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def items(self) -> list[tuple[Any, Any]]:
        return [(entry.key, entry.value) for entry in self._entries if entry is not None]

    def get(self, key: Any, default: Any = None) -> Any:
        entry = self._find(key)[1]
        return default if entry is None else entry.value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, default: Any = _MISSING) -> Any:
        slot, entry = self._find(key)
        if entry is None:
            if default is _MISSING:
                raise KeyError(key)
            return default
        self._entries[self._slots[slot]] = None
        self._slots[slot] = DELETED
        self._size -= 1
        return entry.value

    def popitem(self) -> tuple[Any, Any]:
        while self._entries and self._entries[-1] is None:
            self._entries.pop()
        if not self._entries:
            raise KeyError("popitem(): dictionary is empty")
        last = self._entries[-1]
        assert last is not None
        return last.key, self.pop(last.key)

    def clear(self) -> None:
        self._slots = [EMPTY] * SLOTS_MIN
        self._entries = []
        self._size = 0

    def _find(self, key: Any) -> tuple[int, Entry | None]:
        """The slot of ``key`` and its entry, or the slot to put it into and None."""
        wanted = hash(key)
        free = None
        for slot in self._probed(wanted):
            place = self._slots[slot]
            if place == EMPTY:
                return (slot if free is None else free), None
            if place == DELETED:
                free = slot if free is None else free
                continue
            entry = self._entries[place]
            if entry is not None and entry.hash == wanted and entry.key == key:
                return slot, entry
        # Only a table without an empty slot is searched to the end.
        assert free is not None
        return free, None

    def _probed(self, wanted: int) -> Iterator[int]:
        mask = len(self._slots) - 1
        start = wanted & mask
        return ((start + step) & mask for step in range(len(self._slots)))

    def _rebuild(self) -> None:
        """Drop the deleted entries, and have a table of which at most a third is used."""
        live = [entry for entry in self._entries if entry is not None]
        slots = SLOTS_MIN
        while slots < len(live) * 3:
            slots *= 2
        self._slots = [EMPTY] * slots
        self._entries = []
        for entry in live:
            self._slots[self._find(entry.key)[0]] = len(self._entries)
            self._entries.append(entry)

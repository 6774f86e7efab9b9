"""The entries of others that wait for a run here: those with rare edges come first, then the newest."""

from __future__ import annotations

import heapq

from ordeal.store.messages import Entry

#: Limits of the queue: above either, the oldest entries are dropped.
ENTRIES_MAX = 100_000
SIZE_MAX = 256 * 2**20
#: The rarity of an entry that names no edge: after all that do.
_NO_EDGE = 2**62


class ImportQueue:
    """Entries by their ids. Owned by one thread."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, Entry]] = {}
        self._arrivals = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        """Add a new entry, which becomes the newest."""
        self._arrivals += 1
        self._entries[entry.id] = (self._arrivals, entry)
        self._size += _size(entry)
        while len(self._entries) > ENTRIES_MAX or self._size > SIZE_MAX:
            self._remove(next(iter(self._entries)))

    def take(self, count_max: int | None, known: set[int], carriers: dict[int, int]) -> list[Entry]:
        """Remove at most ``count_max`` entries that reach an edge which is not ``known``, and add their edges to it.

        ``carriers`` counts the entries that reached each edge first. Entries that reach nothing new are dropped for
        good.
        """
        waiting = len(self._entries) if count_max is None else count_max
        self._drop_known(known)
        chosen: list[Entry] = []
        order = [(_rarity(entry, carriers), -arrival, entry) for arrival, entry in self._entries.values()]
        heapq.heapify(order)
        while order and len(chosen) < waiting:
            *_, entry = heapq.heappop(order)
            self._remove(entry.id)
            if not _is_known(entry, known):
                known.update(entry.edges)
                chosen.append(entry)
        return chosen

    def _drop_known(self, known: set[int]) -> None:
        for entry_id in [id_ for id_, (_, entry) in self._entries.items() if _is_known(entry, known)]:
            self._remove(entry_id)

    def _remove(self, entry_id: str) -> None:
        _, entry = self._entries.pop(entry_id)
        self._size -= _size(entry)


def _size(entry: Entry) -> int:
    return len(entry.tape) + 8 * len(entry.edges)


def _is_known(entry: Entry, known: set[int]) -> bool:
    return bool(entry.edges) and known.issuperset(entry.edges)


def _rarity(entry: Entry, carriers: dict[int, int]) -> int:
    return min((carriers.get(edge, 0) for edge in entry.edges), default=_NO_EDGE)

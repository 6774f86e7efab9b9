"""The entries of others that wait for a run here: first those with rare edges, then the distilled, then the newest."""

from __future__ import annotations

import heapq

from ordeal.store.messages import Entry

#: Limits of the queue: above either, the oldest entries are dropped.
ENTRIES_MAX = 100_000
SIZE_MAX = 256 * 2**20
#: The rarity of an entry that names no edge: after all that do.
_NO_EDGE = 2**62
#: Goes before all arrivals: a fleet finds more each second than a member may run, and would keep it from what is known.
_DISTILLED = 2**62


class ImportQueue:
    """Entries by their ids. Owned by one thread.

    They wait in a heap by rarity as it was at some time. Edges only become more common, so an entry that comes out
    first is first, unless it has become more common since, and then it goes back. A look costs nothing for those that
    it does not reach.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._heap: list[tuple[int, int, str]] = []
        self._arrivals = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry, carriers: dict[int, int], *, distilled: bool = False) -> None:
        """Add a new entry, which becomes the newest. ``carriers`` counts the entries that reached each edge first.

        With ``distilled``, it is one of a few that reach all that an earlier fleet knew.
        """
        self._arrivals += 1
        self._entries[entry.id] = entry
        self._size += _size(entry)
        arrival = self._arrivals + _DISTILLED * distilled
        heapq.heappush(self._heap, (_rarity(entry, carriers), -arrival, entry.id))
        while len(self._entries) > ENTRIES_MAX or self._size > SIZE_MAX:
            self._remove(next(iter(self._entries)))
        if len(self._heap) > 2 * len(self._entries) + ENTRIES_MAX:
            self._heap = [each for each in self._heap if each[2] in self._entries]
            heapq.heapify(self._heap)

    def take(self, count_max: int | None, known: set[int], carriers: dict[int, int]) -> list[Entry]:
        """Remove at most ``count_max`` entries that reach an edge which is not ``known``, and add their edges to it.

        Entries that reach nothing new are dropped for good when it is their turn.
        """
        chosen: list[Entry] = []
        heap = self._heap
        while heap and (count_max is None or len(chosen) < count_max):
            rarity, arrival, entry_id = heap[0]
            entry = self._entries.get(entry_id)
            if entry is not None and not _is_known(entry, known):
                now = _rarity(entry, carriers)
                if now > rarity:
                    heapq.heapreplace(heap, (now, arrival, entry_id))
                    continue
                known.update(entry.edges)
                chosen.append(entry)
            heapq.heappop(heap)
            if entry is not None:
                self._remove(entry_id)
        return chosen

    def _remove(self, entry_id: str) -> None:
        self._size -= _size(self._entries.pop(entry_id))


def _size(entry: Entry) -> int:
    return len(entry.tape) + 8 * len(entry.edges)


def _is_known(entry: Entry, known: set[int]) -> bool:
    return bool(entry.edges) and known.issuperset(entry.edges)


def _rarity(entry: Entry, carriers: dict[int, int]) -> int:
    return min((carriers.get(edge, 0) for edge in entry.edges), default=_NO_EDGE)

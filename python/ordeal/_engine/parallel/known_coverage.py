"""The edges and shared entries that one worker knows, or that all workers know together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import ordeal._native as _native

#: How many bytes of entries are kept; the newest are the most useful.
ENTRIES_BYTES_MAX = 4 * 2**20


class KnownCoverage:
    """Grows with each update. A replacement process starts with it."""

    def __init__(self) -> None:
        self.edges: set[int] = set()
        self._entries: deque[bytes] = deque()
        self._bytes = 0

    def add(self, edges: Iterable[int], entries: bytes) -> None:
        """Add new edges, and encoded entries, which may be empty."""
        self.edges.update(edges)
        if entries:
            self._entries.append(entries)
            self._bytes += len(entries)
        while self._bytes > ENTRIES_BYTES_MAX:
            self._bytes -= len(self._entries.popleft())

    def entries(self, names: _native.MachineNames) -> list[_native.SharedEntry]:
        """Return the kept entries, in the order in which they came."""
        return [entry for each in self._entries for entry in _native.decode_entries(each, names)[0]]

"""What one worker, or all of them together, know of where runs can get: edges, and finds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ordeal import _native

#: So many bytes of finds are kept; the newest are worth most.
FINDS_BYTES_MAX = 4 * 2**20


class Known:
    """Grows with what is told. A process that takes the place of another begins with it."""

    def __init__(self) -> None:
        self.edges: set[int] = set()
        self._finds: deque[bytes] = deque()
        self._bytes = 0

    def add(self, edges: Iterable[int], finds: bytes) -> None:
        """New edges, and finds; no bytes where there are none."""
        self.edges.update(edges)
        if finds:
            self._finds.append(finds)
            self._bytes += len(finds)
        while self._bytes > FINDS_BYTES_MAX:
            self._bytes -= len(self._finds.popleft())

    def finds(self, names: _native.MachineNames) -> list[_native.Find]:
        """The finds that were kept, in the order in which they came."""
        return [find for each in self._finds for find in _native.decode_finds(each, names)[0]]

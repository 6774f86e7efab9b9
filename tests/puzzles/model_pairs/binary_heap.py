"""A priority queue in Python: a binary heap that knows where each key is, so that priorities can change."""

from __future__ import annotations


class PriorityQueue:
    """Keys with priorities; the smallest priority leaves first, of equal ones the smallest key."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int]] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def priority(self, key: int) -> int:
        return self._heap[self._places[key]][0]

    def push(self, key: int, priority: int) -> None:
        if key in self._places:
            raise ValueError(f"{key} is queued already")
        self._heap.append((priority, key))
        self._places[key] = len(self._heap) - 1
        self._sift_up(len(self._heap) - 1)

    def peek(self) -> tuple[int, int]:
        return self._heap[0]

    def pop(self) -> tuple[int, int]:
        first = self._heap[0]
        self.remove(first[1])
        return first

    def update(self, key: int, priority: int) -> None:
        place = self._places[key]
        self._heap[place] = (priority, key)
        self._sift(place)

    def remove(self, key: int) -> int:
        place = self._places.pop(key)
        priority = self._heap[place][0]
        last = self._heap.pop()
        if place < len(self._heap):
            self._put(place, last)
            self._sift(place)
        return priority

    def is_ordered(self) -> bool:
        """Whether no entry is before its parent, as all of the above relies on."""
        return all(self._heap[(place - 1) // 2] <= self._heap[place] for place in range(1, len(self._heap)))

    def _sift(self, place: int) -> None:
        self._sift_down(place)
        self._sift_up(place)

    def _sift_up(self, place: int) -> None:
        while place > 0:
            parent = (place - 1) // 2
            if self._heap[parent] <= self._heap[place]:
                return
            self._swap(place, parent)
            place = parent

    def _sift_down(self, place: int) -> None:
        while True:
            child = 2 * place + 1
            if child >= len(self._heap):
                return
            if child + 1 < len(self._heap) and self._heap[child + 1] < self._heap[child]:
                child += 1
            if self._heap[place] <= self._heap[child]:
                return
            self._swap(place, child)
            place = child

    def _swap(self, one: int, other: int) -> None:
        first, second = self._heap[one], self._heap[other]
        self._put(one, second)
        self._put(other, first)

    def _put(self, place: int, entry: tuple[int, int]) -> None:
        self._heap[place] = entry
        self._places[entry[1]] = place


class SortedQueue:
    """The model: a sorted list."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: int) -> bool:
        return any(other == key for _, other in self.entries)

    def priority(self, key: int) -> int:
        return {other: priority for priority, other in self.entries}[key]

    def push(self, key: int, priority: int) -> None:
        if key in self:
            raise ValueError(key)
        self.entries = sorted([*self.entries, (priority, key)])

    def peek(self) -> tuple[int, int]:
        return self.entries[0]

    def pop(self) -> tuple[int, int]:
        first = self.peek()
        self.entries.remove(first)
        return first

    def update(self, key: int, priority: int) -> None:
        self.remove(key)
        self.entries = sorted([*self.entries, (priority, key)])

    def remove(self, key: int) -> int:
        priority = self.priority(key)
        self.entries.remove((priority, key))
        return priority

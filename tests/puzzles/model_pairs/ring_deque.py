"""A double-ended queue in Python: a ring of slots that grows, unless it has a largest length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

SLOTS_MIN = 4


class RingDeque:
    """What ``collections.deque`` does, with ``maxlen`` and without."""

    def __init__(self, items: Iterable[Any] = (), maxlen: int | None = None) -> None:
        self.maxlen = maxlen
        self._slots: list[Any] = [None] * SLOTS_MIN
        self._head = 0
        self._size = 0
        self.extend(items)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self._slots[self._slot(at)] for at in range(self._size))

    def __getitem__(self, at: int) -> Any:
        return self._slots[self._slot(self._checked(at))]

    def __setitem__(self, at: int, item: Any) -> None:
        self._slots[self._slot(self._checked(at))] = item

    def __delitem__(self, at: int) -> None:
        at = self._checked(at)
        for place in range(at, self._size - 1):
            self._slots[self._slot(place)] = self._slots[self._slot(place + 1)]
        self.pop()

    def append(self, item: Any) -> None:
        if self.maxlen == 0:
            return
        if self._size == self.maxlen:
            self.popleft()
        self._grow_if_full()
        self._slots[self._slot(self._size)] = item
        self._size += 1

    def appendleft(self, item: Any) -> None:
        if self.maxlen == 0:
            return
        if self._size == self.maxlen:
            self.pop()
        self._grow_if_full()
        self._head = (self._head - 1) % len(self._slots)
        self._slots[self._head] = item
        self._size += 1

    def extend(self, items: Iterable[Any]) -> None:
        for item in items:
            self.append(item)

    def extendleft(self, items: Iterable[Any]) -> None:
        for item in items:
            self.appendleft(item)

    def pop(self) -> Any:
        if not self._size:
            raise IndexError("pop from an empty deque")
        self._size -= 1
        return self._taken(self._slot(self._size))

    def popleft(self) -> Any:
        if not self._size:
            raise IndexError("pop from an empty deque")
        item = self._taken(self._head)
        self._head = self._slot(1)
        self._size -= 1
        return item

    def insert(self, at: int, item: Any) -> None:
        if self._size == self.maxlen:
            raise IndexError("deque already at its maximum size")
        at = max(0, at + self._size) if at < 0 else min(at, self._size)
        self.append(item)
        for place in range(self._size - 1, at, -1):
            self._slots[self._slot(place)] = self._slots[self._slot(place - 1)]
        self._slots[self._slot(at)] = item

    def remove(self, item: Any) -> None:
        del self[self.index(item)]

    def index(self, item: Any) -> int:
        for at, other in enumerate(self):
            if other == item:
                return at
        raise ValueError(f"{item!r} is not in deque")

    def count(self, item: Any) -> int:
        return sum(other == item for other in self)

    def reverse(self) -> None:
        for at in range(self._size // 2):
            one, other = self._slot(at), self._slot(self._size - 1 - at)
            self._slots[one], self._slots[other] = self._slots[other], self._slots[one]

    def rotate(self, steps: int = 1) -> None:
        if not self._size:
            return
        for _ in range(steps % self._size):
            self.appendleft(self.pop())

    def clear(self) -> None:
        self.__init__(maxlen=self.maxlen)  # type: ignore[misc]

    def _slot(self, at: int) -> int:
        return (self._head + at) % len(self._slots)

    def _checked(self, at: int) -> int:
        if not -self._size <= at < self._size:
            raise IndexError("deque index out of range")
        return at % self._size

    def _taken(self, slot: int) -> Any:
        item, self._slots[slot] = self._slots[slot], None
        return item

    def _grow_if_full(self) -> None:
        if self._size == len(self._slots):
            self._slots = [*self, *[None] * self._size]
            self._head = 0

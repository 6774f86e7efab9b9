"""A cache in Python that drops what was used least recently: a dictionary of links in a ring."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator


class Link:
    """A key with its value, between the one used before it and the one used after it."""

    __slots__ = ("after", "before", "key", "value")

    def __init__(self, key: int, value: int) -> None:
        self.key, self.value = key, value
        self.before = self.after = self


class LRUCache:
    """Holds ``capacity`` keys at most, and counts."""

    def __init__(self, capacity: int = 3) -> None:
        self.capacity = capacity
        self.hits = self.misses = self.evictions = 0
        self._links: dict[int, Link] = {}
        # What comes after the root is the oldest, what comes before it the newest.
        self._root = Link(0, 0)

    def __len__(self) -> int:
        return len(self._links)

    def __contains__(self, key: int) -> bool:
        return key in self._links

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """From the oldest to the newest, which uses none of them."""
        link = self._root.after
        while link is not self._root:
            yield link.key, link.value
            link = link.after

    def get(self, key: int) -> int | None:
        link = self._links.get(key)
        if link is None:
            self.misses += 1
            return None
        self.hits += 1
        self._unlink(link)
        self._link_newest(link)
        return link.value

    def peek(self, key: int) -> int | None:
        link = self._links.get(key)
        return None if link is None else link.value

    def put(self, key: int, value: int) -> None:
        link = self._links.get(key)
        if link is not None:
            link.value = value
            self._unlink(link)
        else:
            link = self._links[key] = Link(key, value)
        self._link_newest(link)
        self._evict()

    def delete(self, key: int) -> bool:
        link = self._links.pop(key, None)
        if link is None:
            return False
        self._unlink(link)
        return True

    def resize(self, capacity: int) -> None:
        self.capacity = capacity
        self._evict()

    def _evict(self) -> None:
        while len(self._links) > self.capacity:
            oldest = self._root.after
            self._unlink(oldest)
            del self._links[oldest.key]
            self.evictions += 1

    def _unlink(self, link: Link) -> None:
        link.before.after = link.after
        link.after.before = link.before

    def _link_newest(self, link: Link) -> None:
        newest = self._root.before
        newest.after = self._root.before = link
        link.before, link.after = newest, self._root


class OrderedCache:
    """The model: an ``OrderedDict`` in the order of use."""

    def __init__(self, capacity: int = 3) -> None:
        self.capacity = capacity
        self.hits = self.misses = self.evictions = 0
        self.values: OrderedDict[int, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, key: int) -> bool:
        return key in self.values

    def get(self, key: int) -> int | None:
        if key not in self.values:
            self.misses += 1
            return None
        self.hits += 1
        self.values.move_to_end(key)
        return self.values[key]

    def peek(self, key: int) -> int | None:
        return self.values.get(key)

    def put(self, key: int, value: int) -> None:
        self.values[key] = value
        self.values.move_to_end(key)
        self.resize(self.capacity)

    def delete(self, key: int) -> bool:
        return self.values.pop(key, None) is not None

    def resize(self, capacity: int) -> None:
        self.capacity = capacity
        while len(self.values) > capacity:
            self.values.popitem(last=False)
            self.evictions += 1

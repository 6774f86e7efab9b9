"""The pairs: what is done to each system and its model, and what of the two must be equal."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant

from ordeal.model import Pair, op

from .binary_heap import PriorityQueue, SortedQueue
from .hash_dict import HashDict
from .lru_cache import LRUCache, OrderedCache
from .ring_deque import RingDeque

# Few, so that they are met again, and chosen to collide: of 8 slots these use 3, and -1 and -2 have the same hash.
keys = st.sampled_from([*range(0, 64, 8), *range(1, 32, 8), -1, -2])
values = st.integers(0, 3)
few = st.lists(values, max_size=6)
places = st.integers(-9, 9)
priorities = st.integers(0, 9)
names = st.integers(0, 9)
cached = st.integers(0, 6)


class DictPair(Pair):
    """A dictionary against ``dict``."""

    impl: Any = HashDict
    model: Any = dict

    @op(key=keys, value=values)
    def put(self, key: int, value: int) -> None:
        self.both("__setitem__", key, value)

    @op(key=keys)
    def get(self, key: int) -> None:
        self.both("get", key)

    @op(key=keys)
    def look_up(self, key: int) -> None:
        self.both("__getitem__", key)

    @op(key=keys)
    def delete(self, key: int) -> None:
        self.both("__delitem__", key)

    @op(key=keys, default=st.none() | values)
    def pop(self, key: int, default: int | None) -> None:
        self.both("pop", key, default)

    @op()
    def pop_item(self) -> None:
        self.both("popitem")

    @op(key=keys, value=values)
    def set_default(self, key: int, value: int) -> None:
        self.both("setdefault", key, value)

    @op()
    def clear(self) -> None:
        self.both("clear")

    @op(key=keys)
    def contains(self, key: int) -> None:
        self.both("__contains__", key)

    @op()
    def backwards(self) -> None:
        self.both(reversed)

    def view(self) -> tuple[Any, Any]:
        return (len(self.impl), self.impl.items()), (len(self.model), list(self.model.items()))


class DequePair(Pair):
    """A double-ended queue against ``collections.deque``."""

    impl: Any = RingDeque
    model: Any = deque

    @initialize(items=few, maxlen=st.none() | st.integers(0, 6))
    def begin(self, items: list[int], maxlen: int | None) -> None:
        self.impl = type(self.impl)(items, maxlen)
        self.model = deque(items, maxlen)

    @op(value=values)
    def append(self, value: int) -> None:
        self.both("append", value)

    @op(value=values)
    def append_left(self, value: int) -> None:
        self.both("appendleft", value)

    @op(items=few)
    def extend(self, items: list[int]) -> None:
        self.both("extend", items)

    @op(items=few)
    def extend_left(self, items: list[int]) -> None:
        self.both("extendleft", items)

    @op()
    def pop(self) -> None:
        self.both("pop")

    @op()
    def pop_left(self) -> None:
        self.both("popleft")

    @op(at=places, value=values)
    def insert(self, at: int, value: int) -> None:
        self.both("insert", at, value)

    @op(at=places)
    def get(self, at: int) -> None:
        self.both("__getitem__", at)

    @op(at=places, value=values)
    def put(self, at: int, value: int) -> None:
        self.both("__setitem__", at, value)

    @op(at=places)
    def delete(self, at: int) -> None:
        self.both("__delitem__", at)

    @op(value=values)
    def remove(self, value: int) -> None:
        self.both("remove", value)

    @op(value=values)
    def count(self, value: int) -> None:
        self.both("count", value)

    @op(value=values)
    def index(self, value: int) -> None:
        self.both("index", value)

    @op()
    def reverse(self) -> None:
        self.both("reverse")

    @op(steps=places)
    def rotate(self, steps: int) -> None:
        self.both("rotate", steps)

    @op()
    def clear(self) -> None:
        self.both("clear")

    def view(self) -> tuple[Any, Any]:
        return (len(self.impl), list(self.impl)), (len(self.model), list(self.model))


class QueuePair(Pair):
    """A binary heap against a sorted list."""

    impl: Any = PriorityQueue
    model: Any = SortedQueue

    @initialize(entries=st.dictionaries(names, priorities, max_size=9))
    def begin(self, entries: dict[int, int]) -> None:
        for key, priority in entries.items():
            self.both("push", key, priority)

    @op(weight=3, key=names, priority=priorities)
    def push(self, key: int, priority: int) -> None:
        self.both("push", key, priority)

    @op()
    def pop(self) -> None:
        self.both("pop")

    @op(key=names, priority=priorities)
    def update(self, key: int, priority: int) -> None:
        self.both("update", key, priority)

    @op(key=names)
    def remove(self, key: int) -> None:
        self.both("remove", key)

    @op(key=names)
    def priority(self, key: int) -> None:
        self.both("priority", key)

    @op(key=names)
    def contains(self, key: int) -> None:
        self.both("__contains__", key)

    @op()
    def peek(self) -> None:
        self.both("peek")

    def view(self) -> tuple[Any, Any]:
        return drained(self.impl), self.model.entries

    @invariant()
    def is_ordered(self) -> None:
        assert self.impl.is_ordered()


def drained(queue: PriorityQueue) -> list[tuple[int, int]]:
    """What is queued, in the order in which it would leave."""
    copied = copy.deepcopy(queue)
    return [copied.pop() for _ in range(len(copied))]


class CachePair(Pair):
    """A cache against an ``OrderedDict`` in the order of use."""

    impl: Any = LRUCache
    model: Any = OrderedCache

    @op(key=cached, value=values)
    def put(self, key: int, value: int) -> None:
        self.both("put", key, value)

    @op(key=cached)
    def get(self, key: int) -> None:
        self.both("get", key)

    @op(key=cached)
    def peek(self, key: int) -> None:
        self.both("peek", key)

    @op(key=cached)
    def delete(self, key: int) -> None:
        self.both("delete", key)

    @op(capacity=st.integers(0, 6))
    def resize(self, capacity: int) -> None:
        self.both("resize", capacity)

    @op(key=cached)
    def contains(self, key: int) -> None:
        self.both("__contains__", key)

    def view(self) -> tuple[Any, Any]:
        ours, theirs = self.impl, self.model
        return (
            (iter(ours), ours.hits, ours.misses, ours.evictions),
            (theirs.values.items(), theirs.hits, theirs.misses, theirs.evictions),
        )

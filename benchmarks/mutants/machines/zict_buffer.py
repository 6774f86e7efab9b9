"""zict: a buffer over a slow store, and a cache by weight, beside the pairs that must be in them."""

from collections import OrderedDict

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from zict import LRU, Buffer

KEYS = 8
ROOM = 10

keys = st.integers(0, KEYS - 1)
weights = st.integers(1, ROOM + 2)


class Machine(RuleBasedStateMachine):
    """A value weighs what it is."""

    def __init__(self) -> None:
        super().__init__()
        self.slow: dict[int, int] = {}
        self.buffer = Buffer({}, self.slow, ROOM, weight=lambda _key, value: value)
        self.stored: dict[int, int] = {}
        self.evicted: list[tuple[int, int]] = []
        self.lru = LRU(ROOM, {}, on_evict=lambda *pair: self.evicted.append(pair), weight=lambda _key, value: value)
        self.recent: OrderedDict[int, int] = OrderedDict()

    @rule(key=keys, weight=weights)
    def write(self, key: int, weight: int) -> None:
        self.buffer[key] = weight
        self.stored[key] = weight
        self.evicted.clear()
        self.lru[key] = weight
        self.recent.pop(key, None)
        self.recent[key] = weight
        gone = []
        if weight > ROOM:
            gone.append((key, self.recent.pop(key)))
        while sum(self.recent.values()) > ROOM:
            gone.append(self.recent.popitem(last=False))
        assert self.evicted == gone, "others were evicted"

    @rule(key=keys)
    def read(self, key: int) -> None:
        assert self.buffer.get(key) == self.stored.get(key), "the buffer has another value"
        assert self.lru.get(key) == self.recent.get(key), "the cache has another value"
        if key in self.recent:
            self.recent.move_to_end(key)

    @rule(key=keys)
    def remove(self, key: int) -> None:
        assert self.buffer.pop(key, None) == self.stored.pop(key, None), "another value was removed from the buffer"
        assert self.lru.pop(key, None) == self.recent.pop(key, None), "another value was removed from the cache"

    @invariant()
    def equal(self) -> None:
        assert dict(self.buffer) == self.stored, "the buffer holds others"
        assert sum(self.buffer.fast.values()) <= ROOM, "the fast part outgrows its room"
        assert not set(self.buffer.fast) & set(self.slow), "a value is in both parts"
        assert set(self.lru) == set(self.recent), "the cache holds others"
        assert self.lru.total_weight == sum(self.recent.values()), "another weight"

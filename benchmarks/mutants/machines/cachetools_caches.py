"""cachetools: caches for least recent use, first in first out and time to live, beside what they promise to keep."""

from collections import OrderedDict

from cachetools import FIFOCache, LRUCache, TTLCache
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

KEYS = 8
SIZE = 5
TTL = 10

keys = st.integers(0, KEYS - 1)


class Machine(RuleBasedStateMachine):
    """Three caches of equal size that get the same writes and reads."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.lru = LRUCache(SIZE)
        self.fifo = FIFOCache(SIZE)
        self.ttl = TTLCache(SIZE, TTL, timer=lambda: self.now)
        self.recent: OrderedDict[int, int] = OrderedDict()
        self.queue: OrderedDict[int, int] = OrderedDict()
        self.living: OrderedDict[int, tuple[int, int]] = OrderedDict()

    def _bury(self) -> None:
        for key in [key for key, (_, end) in self.living.items() if end <= self.now]:
            del self.living[key]

    @rule(key=keys, value=st.integers(0, 99))
    def write(self, key: int, value: int) -> None:
        self.lru[key] = self.fifo[key] = self.ttl[key] = value
        if key not in self.recent and len(self.recent) == SIZE:
            self.recent.popitem(last=False)
        self.recent[key] = value
        self.recent.move_to_end(key)
        if key not in self.queue and len(self.queue) == SIZE:
            self.queue.popitem(last=False)
        self.queue[key] = value
        self.queue.move_to_end(key)
        self._bury()
        if key not in self.living and len(self.living) == SIZE:
            self.living.popitem(last=False)
        self.living[key] = (value, self.now + TTL)
        self.living.move_to_end(key)

    @rule(key=keys)
    def read(self, key: int) -> None:
        assert self.lru.get(key) == self.recent.get(key), "least recent use: another value"
        if key in self.recent:
            self.recent.move_to_end(key)
        assert self.fifo.get(key) == self.queue.get(key), "first in, first out: another value"
        self._bury()
        assert self.ttl.get(key) == self.living.get(key, (None, 0))[0], "time to live: another value"
        if key in self.living:
            self.living.move_to_end(key)

    @rule(key=keys)
    def remove(self, key: int) -> None:
        assert self.lru.pop(key, None) == self.recent.pop(key, None), "least recent use: another value was removed"
        assert self.fifo.pop(key, None) == self.queue.pop(key, None), "first in, first out: another was removed"
        self._bury()
        assert self.ttl.pop(key, None) == self.living.pop(key, (None, 0))[0], "time to live: another was removed"

    @rule()
    def evict(self) -> None:
        self._bury()
        for cache, model in ((self.lru, self.recent), (self.fifo, self.queue), (self.ttl, self.living)):
            if model:
                assert cache.popitem()[0] == model.popitem(last=False)[0], "another key was evicted"

    @rule(seconds=st.integers(1, TTL))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def expire(self) -> None:
        ended = {key for key, (_, end) in self.living.items() if end <= self.now}
        assert {key for key, _ in self.ttl.expire()} == ended, "others expired"
        self._bury()

    @invariant()
    def equal(self) -> None:
        self._bury()
        for cache, model in ((self.lru, self.recent), (self.fifo, self.queue), (self.ttl, self.living)):
            assert len(cache) == len(model) == cache.currsize <= SIZE, "another size"
            assert set(cache) == set(model), "other keys"

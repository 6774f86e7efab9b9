"""A cache whose entries live for five ticks of a clock that the machine moves."""

from cacheout import LRUCache
from hypothesis import strategies as st

from ordeal import ChaosTest, rule


class Machine(ChaosTest):
    """Reads, writes and waits."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.cache = LRUCache(maxsize=3, ttl=5, timer=lambda: self.now)

    @rule(key=st.integers(0, 4), value=st.integers(0, 9))
    def write(self, key: int, value: int) -> None:
        self.cache.set(key, value)

    @rule(items=st.dictionaries(st.integers(0, 4), st.integers(0, 9), max_size=3))
    def write_many(self, items: dict[int, int]) -> None:
        self.cache.set_many(items)

    @rule(key=st.integers(0, 4))
    def read(self, key: int) -> None:
        self.answer = self.cache.get(key)

    @rule(key=st.integers(0, 4))
    def has(self, key: int) -> None:
        self.answer = key in self.cache

    @rule(key=st.integers(0, 4), at=st.integers(0, 20))
    def is_expired(self, key: int, at: int) -> None:
        self.answer = self.cache.expired(key, at)

    @rule(ticks=st.integers(1, 6))
    def wait(self, ticks: int) -> None:
        self.now += ticks

    @rule()
    def list_keys(self) -> None:
        self.answer = list(self.cache.keys())

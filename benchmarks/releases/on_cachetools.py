"""A cache whose entries live for five ticks of a clock that the machine moves."""

import cachetools
from hypothesis import strategies as st

from ordeal import ChaosTest, rule


class Machine(ChaosTest):
    """Reads, writes and waits."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.cache = cachetools.TTLCache(maxsize=3, ttl=5, timer=lambda: self.now)

    @rule(key=st.integers(0, 4), value=st.integers(0, 9))
    def write(self, key: int, value: int) -> None:
        self.cache[key] = value

    @rule(key=st.integers(0, 4))
    def read(self, key: int) -> None:
        self.answer = self.cache.get(key)

    @rule(ticks=st.integers(1, 6))
    def wait(self, ticks: int) -> None:
        self.now += ticks

    @rule()
    def expire(self) -> None:
        self.answer = self.cache.expire()

    @rule()
    def list_keys(self) -> None:
        self.answer = list(self.cache)

"""cachetools 7.1.4: when the new value of a key is born expired, the old one stays readable.

Changelog of 7.1.5: "Fix ``TLRUCache`` silently keeping stale values on expired overwrites." Time is a number here.
"""

from cachetools import TLRUCache
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

KEYS = 6
MAXSIZE = 50
LIVES = 8

keys = st.integers(0, KEYS - 1)


def time_to_use(_key: int, value: tuple[int, int], now: int) -> int:
    """When a value expires: the second of the pair says after how long."""
    return now + value[1]


class Clock:
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Machine(RuleBasedStateMachine):
    """A cache with room for all keys beside a dictionary of values and the times when they expire."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.cache = TLRUCache(MAXSIZE, time_to_use, timer=self.clock)
        self.model: dict[int, tuple[tuple[int, int], int]] = {}

    @rule(key=keys, number=st.integers(0, 99), life=st.integers(0, LIVES - 1))
    def write(self, key: int, number: int, life: int) -> None:
        key, value = within(key, KEYS), (number, within(life, LIVES))
        self.cache[key] = value
        self.model[key] = (value, self.clock.now + value[1])

    @rule(key=keys)
    def read(self, key: int) -> None:
        key = within(key, KEYS)
        value, expires = self.model.get(key, (None, 0))
        assert self.cache.get(key) == (value if self.clock.now < expires else None), "a stale value, or none"

    @rule(key=keys)
    def delete(self, key: int) -> None:
        key = within(key, KEYS)
        self.cache.pop(key, None)
        self.model.pop(key, None)

    @rule(seconds=st.integers(1, 5))
    def wait(self, seconds: int) -> None:
        self.clock.now += 1 + within(seconds - 1, 5)

    @rule()
    def expire(self) -> None:
        self.cache.expire()


def reproduce() -> None:
    cache = TLRUCache(MAXSIZE, time_to_use, timer=Clock())
    cache["a"] = (1, 10)
    cache["a"] = (2, 0)
    assert cache.get("a") is None, cache.get("a")

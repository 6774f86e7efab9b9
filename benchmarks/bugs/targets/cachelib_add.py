"""cachelib 0.13.0: a key whose time is over cannot be added again.

Changelog of 0.14.0: "Fix ``add()`` in ``SimpleCache`` treating expired keys as still valid, preventing them from being
overwritten until explicitly deleted".
"""

import cachelib.simple
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

KEYS = 20
LIFE = 40

keys = st.integers(0, KEYS - 1)
values = st.integers(0, 99)


class Clock:
    """Seconds that go by when a rule says so."""

    seconds = 1_000_000.0

    def time(self) -> float:
        """See ``time.time``."""
        return self.seconds


CLOCK = Clock()
cachelib.simple.time = CLOCK.time if callable(cachelib.simple.time) else CLOCK


class Machine(RuleBasedStateMachine):
    """A cache with times of life beside a dictionary of values and ends."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = Clock.seconds
        self.cache = cachelib.simple.SimpleCache(threshold=100)
        self.model: dict[str, tuple[int, float]] = {}

    def _name(self, key: int) -> str:
        CLOCK.seconds = self.seconds  # of this machine: it may be a copy
        return f"key{within(key, KEYS)}"

    def _living(self, name: str) -> int | None:
        value, end = self.model.get(name, (0, 0.0))
        return value if end > self.seconds else None

    @rule(key=keys, value=values, seconds=st.integers(1, LIFE))
    def write(self, key: int, value: int, seconds: int) -> None:
        name, life = self._name(key), 1 + within(seconds, LIFE)
        self.cache.set(name, value, timeout=life)
        self.model[name] = value, self.seconds + life

    @rule(key=keys, value=values)
    def add(self, key: int, value: int) -> None:
        name = self._name(key)
        assert self.cache.add(name, value, timeout=LIFE) == (self._living(name) is None), "another answer to an add"
        if self._living(name) is None:
            self.model[name] = value, self.seconds + LIFE

    @rule(key=keys)
    def look(self, key: int) -> None:
        name = self._name(key)
        assert self.cache.get(name) == self._living(name), "another value"

    @rule(key=keys)
    def delete(self, key: int) -> None:
        name = self._name(key)
        self.cache.delete(name)
        self.model.pop(name, None)

    @rule()
    def clear(self) -> None:
        self.cache.clear()
        self.model.clear()

    @rule()
    def wait(self) -> None:
        self.seconds += 1 + 2**-10  # never exactly to an end, which 0.14.0 takes for both


def reproduce() -> None:
    cache = cachelib.simple.SimpleCache()
    cache.set("key", 1, timeout=5)
    CLOCK.seconds += 10
    assert cache.add("key", 2), "the old value is in the way"

"""cacheout 0.11.1: the least-frequently-used cache outgrows its bound.

Changelog of 0.11.2: "Fix bug in ``LFUCache`` that would result cache growing beyond ``maxsize`` limit." A look for a
key that is not there counts as a use of it, so a later eviction picks a key that the cache does not hold. The cache has
a lock, which no copy can take along.
"""

from cacheout import LFUCache
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within

KEYS = 40
MAXSIZE = 12

keys = st.integers(0, KEYS - 1)


class Machine(RuleBasedStateMachine):
    """A cache beside a dictionary that forgets nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = LFUCache(maxsize=MAXSIZE)
        self.written: dict[int, int] = {}

    @rule(key=keys, value=st.integers(0, 9))
    def put(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        self.cache.set(key, value)
        self.written[key] = value

    @rule(key=keys)
    def look(self, key: int) -> None:
        key = within(key, KEYS)
        assert self.cache.get(key) in (None, self.written.get(key)), "a value that was never written"

    @rule(key=keys)
    def delete(self, key: int) -> None:
        key = within(key, KEYS)
        self.cache.delete(key)
        self.written.pop(key, None)

    @rule()
    def clear(self) -> None:
        self.cache.clear()
        self.written.clear()

    @invariant()
    def is_bounded(self) -> None:
        assert len(self.cache) <= MAXSIZE, "the cache has outgrown its bound"


def reproduce() -> None:
    cache = LFUCache(maxsize=2)
    cache.get("nobody")
    for key in range(3):
        cache.set(key, key)
        cache.get(key)
    assert len(cache) <= 2, f"{len(cache)} entries in a cache of 2"

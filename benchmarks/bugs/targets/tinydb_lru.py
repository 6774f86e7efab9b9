"""tinydb 3.1.0: a look for a query that is not in the cache enters it into the order of use, and eviction then fails.

Changelog of 3.1.1: "Fix a bug in the LRU cache that may lead to an invalid query cache" (issue 87).
"""

import contextlib

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tinydb.utils import LRUCache

from bugs.ranges import within

KEYS = 24
CAPACITY = 10

keys = st.integers(0, KEYS - 1)


class Machine(RuleBasedStateMachine):
    """The cache beside a dictionary in the order of use."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = LRUCache(capacity=CAPACITY)
        self.model: dict[int, int] = {}

    @rule(key=keys, value=st.integers(0, 99))
    def write(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        self.cache[key] = value
        self.model.pop(key, None)
        self.model[key] = value
        if len(self.model) > CAPACITY:
            del self.model[next(iter(self.model))]

    @rule(key=keys)
    def look(self, key: int) -> None:
        # A query that is cached: what was never written is another rule's business.
        key = within(key, KEYS)
        if key in self.model:
            assert self.cache[key] == self.model[key], "another value than was written"
            self.model[key] = self.model.pop(key)

    @rule(key=keys)
    def look_in_vain(self, key: int) -> None:
        key = within(key, KEYS)
        if key not in self.model:
            try:
                self.cache[key]
            except KeyError:
                return
            raise AssertionError("a value that was forgotten")

    @rule(key=keys)
    def delete(self, key: int) -> None:
        key = within(key, KEYS)
        if key in self.model:
            del self.cache[key]
            del self.model[key]

    @rule()
    def clear(self) -> None:
        self.cache.clear()
        self.model.clear()


def reproduce() -> None:
    cache = LRUCache(capacity=2)
    with contextlib.suppress(KeyError):
        cache["nothing"]
    for key in range(3):
        cache[key] = key
    assert sorted(cache) == [1, 2], sorted(cache)

"""boltons 23.0.0: an entry of the cache that is written again keeps its old value in ``items`` and ``values``.

Changelog of 23.1.0: "Fix cache eviction for ``cacheutils.LRU``" (issue 348).
"""

from boltons.cacheutils import LRU
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

KEYS = 12
MAXSIZE = 5

keys = st.integers(0, KEYS - 1)


class Machine(RuleBasedStateMachine):
    """A cache beside the list of its keys from the oldest use to the newest, and what was written last."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = LRU(max_size=MAXSIZE)
        self.model: dict[int, int] = {}

    @rule(key=keys, value=st.integers(0, 99))
    def write(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        self.cache[key] = value
        self.model.pop(key, None)
        self.model[key] = value
        if len(self.model) > MAXSIZE:
            del self.model[next(iter(self.model))]

    @rule(key=keys)
    def read(self, key: int) -> None:
        key = within(key, KEYS)
        value = self.cache.get(key)
        assert value == self.model.get(key), "another value than was written"
        if key in self.model:
            self.model[key] = self.model.pop(key)

    @rule(key=keys)
    def forget(self, key: int) -> None:
        key = within(key, KEYS)
        assert self.cache.pop(key, None) == self.model.pop(key, None), "another value than was written"

    @rule()
    def list_items(self) -> None:
        assert sorted(self.cache.items()) == sorted(self.model.items()), "the items differ"


def reproduce() -> None:
    cache = LRU(max_size=2)
    cache["a"] = 1
    cache["a"] = 2
    assert list(cache.items()) == [("a", 2)], list(cache.items())

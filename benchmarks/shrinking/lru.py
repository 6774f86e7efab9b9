"""A cache of four entries that forgets to note what is read, beside a model that does not. Seven steps show it."""

from collections import OrderedDict

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

CAPACITY = 4
STEPS = 7


class Cache:
    """Evicts the oldest entry, and not, as it should, the one that was used least recently."""

    def __init__(self) -> None:
        self.entries: dict[int, int] = {}

    def put(self, key: int, value: int) -> None:
        """Store a value."""
        self.entries.pop(key, None)
        self.entries[key] = value
        if len(self.entries) > CAPACITY:
            del self.entries[next(iter(self.entries))]

    def get(self, key: int) -> int | None:
        """A value, while it is there."""
        return self.entries.get(key)


class Model:
    """What the cache should do."""

    def __init__(self) -> None:
        self.entries: OrderedDict[int, int] = OrderedDict()

    def put(self, key: int, value: int) -> None:
        """Store a value."""
        self.entries.pop(key, None)
        self.entries[key] = value
        if len(self.entries) > CAPACITY:
            self.entries.popitem(last=False)

    def get(self, key: int) -> int | None:
        """A value, while it is there."""
        if key in self.entries:
            self.entries.move_to_end(key)
        return self.entries.get(key)


class Lru(RuleBasedStateMachine):
    """Compares both."""

    def __init__(self) -> None:
        super().__init__()
        self.cache, self.model = Cache(), Model()

    @rule(key=st.integers(0, 9), value=st.integers(0, 1000))
    def put(self, key: int, value: int) -> None:
        """Store a value in both."""
        self.cache.put(key, value)
        self.model.put(key, value)

    @rule(key=st.integers(0, 9))
    def get(self, key: int) -> None:
        """Read a value from both."""
        assert self.cache.get(key) == self.model.get(key)

    @rule(key=st.integers(0, 9))
    def delete(self, key: int) -> None:
        """Remove a value from both."""
        self.cache.entries.pop(key, None)
        self.model.entries.pop(key, None)

"""boltons: a dictionary with several values a key, and a cache, beside a list of pairs and what must be kept."""

from collections import OrderedDict

from boltons.cacheutils import LRU
from boltons.dictutils import OrderedMultiDict
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

SIZE = 4

keys = st.integers(0, 5)
values = st.integers(0, 9)


class Machine(RuleBasedStateMachine):
    """Pairs in the order in which they came."""

    def __init__(self) -> None:
        super().__init__()
        self.multi = OrderedMultiDict()
        self.pairs: list[tuple[int, int]] = []
        self.cache = LRU(max_size=SIZE)
        self.recent: OrderedDict[int, int] = OrderedDict()

    def _values(self, key: int) -> list[int]:
        return [value for other, value in self.pairs if other == key]

    def _without(self, key: int) -> list[tuple[int, int]]:
        return [pair for pair in self.pairs if pair[0] != key]

    @rule(key=keys, value=values)
    def add(self, key: int, value: int) -> None:
        self.multi.add(key, value)
        self.pairs.append((key, value))

    @rule(key=keys, several=st.lists(values, max_size=3))
    def add_several(self, key: int, several: list[int]) -> None:
        self.multi.addlist(key, several)
        self.pairs += [(key, value) for value in several]

    @rule(key=keys, value=values)
    def set(self, key: int, value: int) -> None:
        self.multi[key] = value
        self.pairs = [*self._without(key), (key, value)]

    @rule(pairs=st.lists(st.tuples(keys, values), max_size=4))
    def extend(self, pairs: list[tuple[int, int]]) -> None:
        self.multi.update_extend(pairs)
        self.pairs += pairs

    @rule(key=keys)
    def pop_all(self, key: int) -> None:
        assert self.multi.popall(key, None) == (self._values(key) or None), "others were popped"
        self.pairs = self._without(key)

    @rule(key=keys)
    def pop_last(self, key: int) -> None:
        found = self._values(key)
        assert self.multi.poplast(key, None) == (found[-1] if found else None), "another was popped"
        if found:
            last = max(index for index, pair in enumerate(self.pairs) if pair[0] == key)
            del self.pairs[last]

    @rule(key=keys)
    def look(self, key: int) -> None:
        found = self._values(key)
        assert self.multi.get(key) == (found[-1] if found else None), "another value"
        assert self.multi.getlist(key) == found, "other values"

    @rule(key=keys, value=values)
    def write(self, key: int, value: int) -> None:
        self.cache[key] = value
        self.recent[key] = value
        self.recent.move_to_end(key)
        if len(self.recent) > SIZE:
            self.recent.popitem(last=False)

    @rule(key=keys)
    def read(self, key: int) -> None:
        assert self.cache.get(key) == self.recent.get(key), "another value is in the cache"
        if key in self.recent:
            self.recent.move_to_end(key)

    @rule(key=keys)
    def remove(self, key: int) -> None:
        assert self.cache.pop(key, None) == self.recent.pop(key, None), "another was removed from the cache"

    @invariant()
    def equal(self) -> None:
        assert list(self.multi.items(multi=True)) == self.pairs, "other pairs, or in another order"
        assert len(self.multi) == len(dict(self.pairs)), "another number of keys"
        assert self.multi.todict() == dict(self.pairs), "another dictionary"
        assert dict(self.cache) == dict(self.recent), "the cache holds others"

"""A cache that forgets what was used least recently, a list in parts, and a set with an order."""

from boltons.cacheutils import LRU
from boltons.iterutils import split
from boltons.listutils import BarrelList
from boltons.setutils import IndexedSet
from hypothesis import strategies as st

from ordeal import ChaosTest, rule


class Machine(ChaosTest):
    """Reads and writes all three."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.cache = LRU(max_size=3)
        self.list = BarrelList()
        self.set = IndexedSet(range(8))

    @rule(key=st.integers(0, 4), value=st.integers(0, 9))
    def write(self, key: int, value: int) -> None:
        self.cache[key] = value

    @rule(key=st.integers(0, 4))
    def read(self, key: int) -> None:
        self.answer = self.cache.get(key)

    @rule()
    def list_items(self) -> None:
        self.answer = sorted(self.cache.items())

    @rule(place=st.integers(-5, 5), value=st.integers(0, 9))
    def insert(self, place: int, value: int) -> None:
        self.list.insert(place, value)
        self.answer = list(self.list)

    @rule()
    def sort(self) -> None:
        self.list.sort()
        self.answer = list(self.list)

    @rule(value=st.integers(0, 9))
    def add(self, value: int) -> None:
        self.set.add(value)

    @rule(value=st.integers(0, 9))
    def discard(self, value: int) -> None:
        self.set.discard(value)

    @rule(start=st.integers(0, 8), end=st.integers(0, 8))
    def cut(self, start: int, end: int) -> None:
        self.answer = list(self.set[start:end])

    @rule(most=st.one_of(st.none(), st.integers(0, 3)), separator=st.integers(0, 2))
    def split(self, most: int | None, separator: int) -> None:
        self.answer = split(self.list, separator, most)

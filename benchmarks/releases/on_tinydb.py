"""A table in memory, which remembers two queries."""

from hypothesis import strategies as st
from tinydb import TinyDB, where
from tinydb.storages import MemoryStorage

from ordeal import ChaosTest, rule

names = st.sampled_from(["a", "b"])
numbers = st.integers(0, 6)


class Machine(ChaosTest):
    """Writes, looks, and edits the list that a look has returned."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.data = TinyDB(storage=MemoryStorage).table("table", cache_size=2)
        self.found: list[dict[str, int]] = []

    @rule(name=names, number=numbers)
    def insert(self, name: str, number: int) -> None:
        self.answer = self.data.insert({name: number})

    @rule(name=names, number=numbers)
    def search(self, name: str, number: int) -> None:
        self.found = self.data.search(where(name) == number)
        self.answer = [dict(each) for each in self.found]

    @rule()
    def edit(self) -> None:
        self.found.clear()

    @rule(name=names, number=numbers)
    def update(self, name: str, number: int) -> None:
        self.answer = self.data.update({name: number}, where(name) < number)

    @rule(name=names, number=numbers)
    def remove(self, name: str, number: int) -> None:
        self.answer = self.data.remove(where(name) == number)

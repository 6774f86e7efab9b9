"""tinydb: a table in memory, asked through its cache of queries, beside a dictionary of documents."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tinydb import TinyDB, where
from tinydb.operations import add, delete, increment
from tinydb.storages import MemoryStorage

numbers = st.integers(0, 4)


class Machine(RuleBasedStateMachine):
    """Documents of the fields a and b."""

    def __init__(self) -> None:
        super().__init__()
        self.database = TinyDB(storage=MemoryStorage)
        self.table = self.database.table("documents", cache_size=3)
        self.model: dict[int, dict[str, Any]] = {}
        self.next_id = 1

    def _new(self, document: dict[str, Any]) -> int:
        self.model[self.next_id] = document
        self.next_id += 1
        return self.next_id - 1

    @rule(a=numbers, b=numbers)
    def insert(self, a: int, b: int) -> None:
        wanted = self._new({"a": a, "b": b})
        assert self.table.insert({"a": a, "b": b}) == wanted, "another id"

    @rule(several=st.lists(numbers, max_size=4))
    def insert_several(self, several: list[int]) -> None:
        wanted = [self._new({"a": a}) for a in several]
        assert self.table.insert_multiple([{"a": a} for a in several]) == wanted, "other ids"

    @rule(a=numbers, b=numbers)
    def update(self, a: int, b: int) -> None:
        wanted = [number for number, document in self.model.items() if document.get("a") == a]
        for number in wanted:
            self.model[number]["b"] = b
        assert self.table.update({"b": b}, where("a") == a) == wanted, "others were updated"

    @rule(a=numbers, b=numbers)
    def upsert(self, a: int, b: int) -> None:
        wanted = [number for number, document in self.model.items() if document.get("a") == a]
        for number in wanted:
            self.model[number] |= {"a": a, "b": b}
        wanted = wanted or [self._new({"a": a, "b": b})]
        assert self.table.upsert({"a": a, "b": b}, where("a") == a) == wanted, "others were updated or inserted"

    @rule(b=numbers)
    def count_up(self, b: int) -> None:
        for document in self.model.values():
            if document.get("b") == b:
                document["b"] += 1
        self.table.update(increment("b"), where("b") == b)

    @rule(b=numbers, by=st.integers(1, 3))
    def raise_a(self, b: int, by: int) -> None:
        for document in self.model.values():
            if document.get("b", 9) <= b:
                document["a"] += by
        self.table.update(add("a", by), where("b") <= b)

    @rule(a=numbers)
    def drop_b(self, a: int) -> None:
        chosen = [each for each in self.model.values() if each["a"] > a and "b" in each]
        for document in chosen:
            del document["b"]
        self.table.update(delete("b"), (where("a") > a) & where("b").exists())

    @rule(a=numbers)
    def remove(self, a: int) -> None:
        wanted = [number for number, document in self.model.items() if document["a"] == a]
        for number in wanted:
            del self.model[number]
        assert self.table.remove(where("a") == a) == wanted, "others were removed"

    @rule(number=st.integers(1, 6))
    def remove_id(self, number: int) -> None:
        if number in self.model:
            del self.model[number]
            assert self.table.remove(doc_ids=[number]) == [number], "another was removed"

    @rule(a=numbers)
    def search(self, a: int) -> None:
        wanted = [document for document in self.model.values() if document["a"] == a]
        assert self.table.search(where("a") == a) == wanted, "others were found"
        assert self.table.count(where("a") == a) == len(wanted), "another count"
        assert self.table.contains(where("a") == a) == bool(wanted), "contained, or not"

    @rule(number=st.integers(1, 9))
    def get(self, number: int) -> None:
        assert self.table.get(doc_id=number) == self.model.get(number), "another document"
        assert self.table.contains(doc_id=number) == (number in self.model), "contained, or not"

    @rule()
    def truncate(self) -> None:
        self.table.truncate()
        self.model.clear()
        self.next_id = 1

    @invariant()
    def equal(self) -> None:
        assert len(self.table) == len(self.model), "another number of documents"
        assert {document.doc_id: dict(document) for document in self.table.all()} == self.model, "other documents"

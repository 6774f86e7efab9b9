"""pyrsistent: a vector and a map that are never changed in place, beside a list and a dictionary that are."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pyrsistent._pmap import pmap
from pyrsistent._pvector import python_pvector

KEYS = 60

keys = st.integers(0, KEYS - 1)
values = st.integers(0, 9)


class Machine(RuleBasedStateMachine):
    """Each change makes a new version; an old one that was kept must stay as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.vector = python_pvector()
        self.map = pmap()
        self.list: list[int] = []
        self.dict: dict[int, int] = {}
        self.kept = (self.vector, self.map)
        self.kept_as: tuple[list[int], dict[int, int]] = ([], {})

    @rule(value=values)
    def append(self, value: int) -> None:
        self.vector = self.vector.append(value)
        self.list.append(value)

    @rule(several=st.lists(values, max_size=40))
    def extend(self, several: list[int]) -> None:
        self.vector = self.vector.extend(several)
        self.list.extend(several)

    @rule(index=st.integers(-50, 50), value=values)
    def set(self, index: int, value: int) -> None:
        if -len(self.list) <= index < len(self.list):
            self.vector = self.vector.set(index, value)
            self.list[index] = value

    @rule(index=st.integers(0, 50))
    def delete(self, index: int) -> None:
        if index < len(self.list):
            self.vector = self.vector.delete(index)
            del self.list[index]

    @rule(start=st.integers(-50, 50), stop=st.integers(-50, 50))
    def cut(self, start: int, stop: int) -> None:
        assert list(self.vector[start:stop]) == self.list[start:stop], "another slice"

    @rule(changes=st.lists(st.tuples(st.integers(0, 50), values), max_size=8), more=st.lists(values, max_size=4))
    def evolve(self, changes: list[tuple[int, int]], more: list[int]) -> None:
        evolver = self.vector.evolver()
        for index, value in changes:
            if index < len(self.list):
                evolver[index] = value
                self.list[index] = value
        for value in more:
            evolver.append(value)
            self.list.append(value)
        self.vector = evolver.persistent()

    @rule(key=keys, value=values)
    def write(self, key: int, value: int) -> None:
        self.map = self.map.set(key, value)
        self.dict[key] = value

    @rule(key=keys)
    def discard(self, key: int) -> None:
        self.map = self.map.discard(key)
        self.dict.pop(key, None)

    @rule(entries=st.dictionaries(keys, values, max_size=12))
    def update(self, entries: dict[int, int]) -> None:
        self.map = self.map.update(entries)
        self.dict.update(entries)

    @rule()
    def keep(self) -> None:
        self.kept = (self.vector, self.map)
        self.kept_as = (list(self.list), dict(self.dict))

    @rule()
    def go_back(self) -> None:
        self.vector, self.map = self.kept
        self.list, self.dict = list(self.kept_as[0]), dict(self.kept_as[1])

    @invariant()
    def equal(self) -> None:
        assert list(self.vector) == self.list, "other items"
        assert len(self.map) == len(self.dict), "another number of entries"
        assert dict(self.map) == self.dict, "other entries"
        assert list(self.kept[0]) == self.kept_as[0], "an old vector changed"
        assert dict(self.kept[1]) == self.kept_as[1], "an old map changed"

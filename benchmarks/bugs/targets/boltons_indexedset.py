"""boltons 26.0.0: after a removal, slices of an indexed set begin and end too late.

Changelog of 26.1.0: "Fixed ``setutils.IndexedSet`` slicing after removals".
"""

from boltons.setutils import IndexedSet
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

ITEMS = 30

items = st.integers(0, ITEMS - 1)


class Machine(RuleBasedStateMachine):
    """A set with an order beside a list."""

    def __init__(self) -> None:
        super().__init__()
        self.members = IndexedSet()
        self.model: list[int] = []

    @rule(item=items)
    def add(self, item: int) -> None:
        item = within(item, ITEMS)
        self.members.add(item)
        if item not in self.model:
            self.model.append(item)

    @rule(item=items)
    def discard(self, item: int) -> None:
        item = within(item, ITEMS)
        self.members.discard(item)
        if item in self.model:
            self.model.remove(item)

    @rule()
    def pop(self) -> None:
        if self.model:
            assert self.members.pop() == self.model.pop(), "another item came out"

    @rule(place=items)
    def look(self, place: int) -> None:
        if self.model:
            place = within(place, len(self.model))
            assert self.members[place] == self.model[place], "another item is there"

    @rule(start=items, count=st.integers(1, 5))
    def cut(self, start: int, count: int) -> None:
        if len(self.model) < 8:
            return
        start = within(start, len(self.model) - 1)
        stop = min(start + 1 + within(count - 1, 5), len(self.model) - 1)
        assert list(self.members[start:stop]) == self.model[start:stop], "another slice"


def reproduce() -> None:
    members = IndexedSet(range(10))
    members.discard(2)
    assert list(members[3:5]) == [4, 5], list(members[3:5])

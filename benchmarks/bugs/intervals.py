"""The machine of both targets of intervaltree, whose bugs lie in the removal of intervals."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from intervaltree import Interval, IntervalTree

from bugs.ranges import within

POINTS = 24
LENGTHS = 8

starts = st.integers(0, POINTS - 1)
lengths = st.integers(1, LENGTHS)


def interval(start: int, length: int) -> Interval:
    begin = within(start, POINTS)
    return Interval(begin, begin + 1 + within(length - 1, LENGTHS))


class Machine(RuleBasedStateMachine):
    """A tree of intervals beside a set of them."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = IntervalTree()
        self.model: set[Interval] = set()

    @rule(start=starts, length=lengths)
    def add(self, start: int, length: int) -> None:
        self.tree.add(interval(start, length))
        self.model.add(interval(start, length))

    @rule(start=starts, length=lengths)
    def discard(self, start: int, length: int) -> None:
        self.tree.discard(interval(start, length))
        self.model.discard(interval(start, length))

    @rule(place=st.integers(0, 63))
    def remove(self, place: int) -> None:
        if self.model:
            gone = sorted(self.model)[within(place, len(self.model))]
            self.tree.remove(gone)
            self.model.remove(gone)

    @rule(point=starts)
    def look(self, point: int) -> None:
        point = within(point, POINTS)
        assert self.tree[point] == {each for each in self.model if each.begin <= point < each.end}, "others are there"

    @rule()
    def list_all(self) -> None:
        assert set(self.tree) == self.model, "the intervals differ"

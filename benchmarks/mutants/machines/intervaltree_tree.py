"""intervaltree: a tree of intervals beside a set of them, and the tree's own check that it is in balance."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from intervaltree import Interval, IntervalTree

POINTS = 20

points = st.integers(0, POINTS - 1)
lengths = st.integers(1, 7)


class Machine(RuleBasedStateMachine):
    """Adding, removing, cutting and asking."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = IntervalTree()
        self.model: set[Interval] = set()

    @rule(begin=points, length=lengths)
    def add(self, begin: int, length: int) -> None:
        self.tree.addi(begin, begin + length)
        self.model.add(Interval(begin, begin + length))

    @rule(several=st.lists(st.tuples(points, lengths), max_size=10))
    def build(self, several: list[tuple[int, int]]) -> None:
        self.model = {Interval(begin, begin + length) for begin, length in several}
        self.tree = IntervalTree(self.model)

    @rule(place=st.integers(0, 63))
    def remove(self, place: int) -> None:
        if self.model:
            gone = sorted(self.model)[place % len(self.model)]
            self.tree.remove(gone)
            self.model.remove(gone)

    @rule(begin=points, length=lengths)
    def remove_overlap(self, begin: int, length: int) -> None:
        self.tree.remove_overlap(begin, begin + length)
        self.model = {each for each in self.model if not (each.begin < begin + length and begin < each.end)}

    @rule(begin=points, length=lengths)
    def chop(self, begin: int, length: int) -> None:
        end = begin + length
        self.tree.chop(begin, end)
        left = {Interval(i.begin, min(i.end, begin)) for i in self.model if i.begin < begin}
        right = {Interval(max(i.begin, end), i.end) for i in self.model if i.end > end}
        self.model = left | right

    @rule(point=points)
    def at(self, point: int) -> None:
        assert self.tree.at(point) == {i for i in self.model if i.begin <= point < i.end}, "others are at the point"

    @rule(begin=points, length=lengths)
    def overlap(self, begin: int, length: int) -> None:
        found = {i for i in self.model if i.begin < begin + length and begin < i.end}
        assert self.tree.overlap(begin, begin + length) == found, "others overlap"
        assert self.tree.overlaps(begin, begin + length) == bool(found), "an overlap is denied, or made up"

    @rule(begin=points, length=lengths)
    def envelop(self, begin: int, length: int) -> None:
        inside = {i for i in self.model if begin <= i.begin and i.end <= begin + length}
        assert self.tree.envelop(begin, begin + length) == inside, "others lie inside"

    @invariant()
    def equal(self) -> None:
        assert len(self.tree) == len(self.model), "another number of intervals"
        assert set(self.tree) == self.model, "other intervals"
        self.tree.verify()
        if self.model:
            assert self.tree.begin() == min(i.begin for i in self.model), "another begin"
            assert self.tree.end() == max(i.end for i in self.model), "another end"

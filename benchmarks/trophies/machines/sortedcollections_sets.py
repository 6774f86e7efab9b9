"""sortedcollections: an ordered set and a segment list, each compared with a list."""

from hypothesis import strategies as st
from sortedcollections import OrderedSet, SegmentList

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "sortedcollections==2.1.0 sortedcontainers==2.4.0", ["sortedcollections"]
digits = st.integers(0, 9)


class Ordered(Pair):
    impl, model = OrderedSet, dict

    @op(x=digits)
    def add(self, x):
        self.impl.add(x)
        self.model[x] = None

    @op(x=digits)
    def discard(self, x):
        self.impl.discard(x)
        self.model.pop(x, None)

    @op(x=digits)
    def index(self, x):
        if x in self.model:
            self.match(lambda: self.impl.index(x), lambda: list(self.model).index(x))

    def view(self):
        return list(self.impl), list(self.model)


class Segments(Pair):
    impl, model = SegmentList, list

    @op(x=digits)
    def append(self, x):
        self.both("append", x)

    @op(at=st.integers(-6, 6), x=digits)
    def insert(self, at, x):
        self.both("insert", at, x)

    @op(at=st.integers(-6, 6))
    def pop(self, at):
        self.both("pop", at)

    def view(self):
        return list(self.impl), self.model


def index():
    ordered = OrderedSet("ab")
    ordered.discard("a")
    assert ordered[0] == "b"
    assert ordered.index("b") == 1  # expected 0


def insert():
    segments = SegmentList([1])
    segments.insert(5, 2)
    assert list(segments) == [1, 2]  # as in a list
    SegmentList().insert(5, 2)  # IndexError


TROPHIES = [
    Trophy(
        "sortedcollections_index",
        "`OrderedSet.index` is wrong after an item before was removed",
        "It is the place of the item.",
        Ordered,
        "^index:",
        index,
        known="pull request 27, open",
    ),
    Trophy(
        "sortedcollections_insert",
        "`SegmentList.insert` behind the end of an empty list raises IndexError, in any other it appends",
        "It is a list that is inserted into quickly; a list takes any place.",
        Segments,
        "^insert",
        insert,
        "IndexError",
    ),
]

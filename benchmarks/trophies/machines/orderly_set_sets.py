"""orderly-set: an ordered set compared with a list without duplicates."""

from hypothesis import strategies as st
from orderly_set import OrderedSet

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "orderly-set==5.5.0", ["orderly_set"]
some = st.lists(st.integers(0, 5), max_size=4)


class Ordered(Pair):
    impl, model = OrderedSet, dict

    @op(x=st.integers(0, 5))
    def add(self, x):
        self.impl.add(x)
        self.model[x] = None

    @op(x=st.integers(0, 5))
    def discard(self, x):
        self.impl.discard(x)
        self.model.pop(x, None)

    @op(items=some)
    def toggle(self, items):
        self.impl.symmetric_difference_update(items)
        new = [x for x in dict.fromkeys(items) if x not in self.model]
        self.model = dict.fromkeys([x for x in self.model if x not in items] + new)

    @op(items=some)
    def contains_all(self, items):
        self.match(lambda: self.impl.issuperset(items), lambda: set(self.model) >= set(items))

    @op(at=st.integers(-6, 6))
    def get(self, at):
        self.match(lambda: self.impl[at], lambda: list(self.model)[at])

    def view(self):
        return list(self.impl), list(self.model)


def toggles():
    ordered = OrderedSet()
    ordered.symmetric_difference_update([1, 0, 1])
    assert len(ordered) == 2
    assert (ordered[0], ordered[1], ordered[2]) == (1, 0, 1)  # expected an IndexError for the third
    assert ordered.pop() == 1  # the last one is 0
    assert list(ordered) == [0]


def contains():
    assert {0}.issuperset([0, 0])
    assert not OrderedSet([0]).issuperset([0, 0])


TROPHIES = [
    Trophy(
        "orderly_set_toggle",
        "`symmetric_difference_update` with an item twice puts it into the order twice",
        "A set holds an item once; what is new in the other set is added.",
        Ordered,
        "^get:|after toggle",
        toggles,
        known="in ordered-set, where it comes from: pull request 108",
    ),
    Trophy(
        "orderly_set_superset",
        "`issuperset` counts the items of a list with duplicates instead of looking for them",
        "It reports whether the set contains all items of the other one.",
        Ordered,
        "^contains_all:",
        contains,
    ),
]

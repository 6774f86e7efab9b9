"""boltons: a set with an order, compared with a list."""

from boltons.setutils import IndexedSet
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "boltons==26.2.0", ["boltons.setutils"]
places = st.integers(-8, 8)


class Indexed(Pair):
    """It leaves gaps where items were removed, and counts past them."""

    impl, model = IndexedSet, list

    @op(count=st.sampled_from([1, 8, 32]))
    def grow(self, count):
        top = max(self.model, default=-1) + 1
        self.impl.update(range(top, top + count))
        self.model += range(top, top + count)

    @op(place=places, weight=4)
    def remove(self, place):
        if self.model:
            self.impl.remove(self.model.pop(place % len(self.model)))

    @op(place=places)
    def pop(self, place):
        if self.model:
            place %= len(self.model)
            self.match(lambda: self.impl.pop(place), lambda: self.model.pop(place))

    @op()
    def reverse(self):
        self.both("reverse")

    @op()
    def sort(self):
        self.both("sort")

    @op(place=places, weight=2)
    def at(self, place):
        if self.model:
            place %= len(self.model)
            assert self.impl[place] == self.model[place], "an item at a place"

    @op(place=places)
    def index(self, place):
        if self.model:
            place %= len(self.model)
            assert self.impl.index(self.model[place]) == place, "the place of an item"

    def view(self):
        return list(self.impl), self.model


def counts():
    items = IndexedSet(range(32))
    items.remove(0)
    items.remove(30)
    items.remove(29)  # beside the gap of 30, and before it
    items.remove(31)  # the last one: it goes, and so do the three gaps at the end, but one of them stays noted
    items.add("new")
    assert list(items)[-1] == "new"
    items[-1]  # IndexError: list index out of range


TROPHIES = [
    Trophy(
        "boltons_indexed_set",
        "an IndexedSet counts items wrongly after gaps at its end were dropped",
        "`x[i]` is the item at that place in the order, as in a list.",
        Indexed,
        "list index out of range|an item at a place|the place of an item|pop: the system",
        counts,
        "IndexError",
    ),
]

"""orderedmultidict: many values for a key, in order, compared with a list of pairs."""

from hypothesis import strategies as st
from hypothesis.stateful import invariant
from orderedmultidict import omdict

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = (
    "orderedmultidict==1.0.2 six",
    ["orderedmultidict.orderedmultidict", "orderedmultidict.itemlist"],
)
keys, digits = st.sampled_from("abc"), st.integers(0, 3)


class Items(Pair):
    impl, model = omdict, list

    @op(key=keys, value=digits, weight=3)
    def add(self, key, value):
        self.impl.add(key, value)
        self.model.append((key, value))

    @op(key=keys, values=st.lists(digits, max_size=3))
    def setlist(self, key, values):
        self.impl.setlist(key, values)
        left, found = list(values), []
        for one, old in self.model:
            if one != key:
                found.append((one, old))
            elif left:
                found.append((key, left.pop(0)))
        self.model = found + [(key, value) for value in left]

    @op(key=keys, values=st.lists(digits, max_size=2))
    def removevalues(self, key, values):
        self.impl.removevalues(key, values)
        self.model = [pair for pair in self.model if pair[0] != key or pair[1] not in values]

    @op(key=keys, last=st.booleans())
    def popvalue(self, key, last):
        found = [place for place, pair in enumerate(self.model) if pair[0] == key]
        if found:
            assert self.impl.popvalue(key, last=last) == self.model.pop(found[-1 if last else 0])[1]

    @op(key=keys)
    def poplist(self, key):
        assert self.impl.poplist(key, []) == [value for one, value in self.model if one == key]
        self.model = [pair for pair in self.model if pair[0] != key]

    @op(last=st.booleans())
    def popitem(self, last):
        if self.model:
            assert self.impl.popitem(fromall=True, last=last) == self.model.pop(-1 if last else 0)

    @op(pairs=st.lists(st.tuples(keys, digits), max_size=3))
    def updateall(self, pairs):
        self.impl.updateall(pairs)
        new = {}
        for key, value in pairs:
            new.setdefault(key, []).append(value)
        found = []
        for key, old in self.model:
            if key not in new:
                found.append((key, old))
            elif new[key]:
                found.append((key, new[key].pop(0)))
        taken = {key: sum(one == key for one, _ in self.model) for key in new}
        for key, value in pairs:
            if taken[key]:
                taken[key] -= 1
            else:
                found.append((key, value))
        self.model = found

    @op()
    def reverse(self):
        self.impl.reverse()
        self.model.reverse()

    @op()
    def copy(self):
        self.impl = self.impl.copy()

    @invariant()
    def by_key(self):
        for key in "abc":
            assert self.impl.getlist(key) == [value for one, value in self.model if one == key], "by key"
        assert len(self.impl) == len({key for key, _ in self.model}), "length"

    def view(self):
        return self.impl.allitems(), self.model


def removes():
    items = omdict([("a", 1), ("b", 0), ("a", 0)])
    items.removevalues("a", [1])
    assert items.allitems() == [("a", 0), ("b", 0)]  # expected b first, as before


TROPHIES = [
    Trophy(
        "omdict_removevalues",
        "`removevalues` puts the values that stay at the places of those that go, before other items",
        "It removes values; the items keep the order in which they were added.",
        Items,
        "after removevalues",
        removes,
    ),
]

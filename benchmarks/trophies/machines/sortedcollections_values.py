"""sortedcollections: dictionaries sorted by value or by item, compared with plain ones."""

from hypothesis import strategies as st
from sortedcollections import ItemSortedDict, NearestDict, ValueSortedDict

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "sortedcollections==2.1.0 sortedcontainers==2.4.0", ["sortedcollections"]
keys, digits = st.integers(0, 5), st.integers(0, 3)


class ByValue(Pair):
    impl, model = ValueSortedDict, dict

    @op(key=keys, value=digits, weight=3)
    def put(self, key, value):
        self.impl[key] = value
        self.model[key] = value

    @op(key=keys)
    def delete(self, key):
        self.both("__delitem__", key)

    @op(key=keys, value=digits)
    def setdefault(self, key, value):
        self.both("setdefault", key, value)

    @op(key=keys)
    def pop(self, key):
        self.both("pop", key, None)

    @op(last=st.booleans())
    def popitem(self, last):
        if self.model:
            key, value = self.impl.popitem(-1 if last else 0)
            assert value == (max if last else min)(self.model.values()), "popitem"
            assert self.model.pop(key) == value, "popitem"

    @op(pairs=st.dictionaries(keys, digits, max_size=3))
    def update(self, pairs):
        self.both("update", pairs)

    @op()
    def copy(self):
        self.impl = self.impl.copy()

    def view(self):
        ours, theirs = self.impl, self.model
        return (sorted(ours.items()), list(ours.values()), len(ours)), (
            sorted(theirs.items()),
            sorted(theirs.values()),
            len(theirs),
        )


def by_item(_key, value):
    return -value


class ByItem(ByValue):
    def impl():
        return ItemSortedDict(by_item)

    def view(self):
        ours, theirs = self.impl, self.model
        return (sorted(ours.items()), list(ours.values())), (
            sorted(theirs.items()),
            sorted(theirs.values(), reverse=True),
        )

    @op(last=st.booleans())
    def popitem(self, last):
        if self.model:
            key, value = self.impl.popitem(-1 if last else 0)
            assert value == (min if last else max)(self.model.values()), "popitem"
            assert self.model.pop(key) == value, "popitem"


class Nearest(Pair):
    """The value of the key that is nearest."""

    impl, model = NearestDict, dict

    @op(key=st.integers(0, 30), value=digits, weight=2)
    def put(self, key, value):
        self.impl[key] = value
        self.model[key] = value

    @op(key=st.integers(0, 30))
    def delete(self, key):
        self.both("__delitem__", key)

    @op(key=st.integers(0, 30))
    def near(self, key):
        if self.model:
            found = self.impl.nearest_key(key)
            assert abs(found - key) == min(abs(one - key) for one in self.model), "nearest"
            assert self.impl[key] == self.model[found], "nearest"

    def view(self):
        return sorted(self.impl.items()), sorted(self.model.items())


CLEAN = [ByValue, ByItem, Nearest]

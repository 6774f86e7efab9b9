"""BTrees: its trees in Python and in C, with nodes so small that they split often."""

from BTrees.OOBTree import OOBTree, OOBTreePy
from hypothesis import strategies as st
from hypothesis.stateful import invariant

from ordeal.model import TwoImplementations, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = (
    "BTrees==6.5 persistent==6.9 zope.interface==8.7 zope.deferredimport zope.proxy cffi pycparser",
    ["BTrees._base"],
)
keys = st.integers(0, 20)


class Small(OOBTree):
    max_leaf_size = max_internal_size = 2


class SmallPy(OOBTreePy):
    max_leaf_size = max_internal_size = 2


class Trees(TwoImplementations):
    impl, other = SmallPy, Small

    @op(key=keys, weight=4)
    def put(self, key):
        self.impl[key] = key

    @op(key=keys, weight=2)
    def delete(self, key):
        del self.impl[key]

    @op(low=keys, high=keys, no_low=st.booleans(), no_high=st.booleans())
    def between(self, low, high, no_low, no_high):
        return list(self.impl.keys(low, high, no_low, no_high))

    @op(key=keys)
    def least(self, key):
        return self.impl.minKey(key)

    @op(key=keys)
    def most(self, key):
        return self.impl.maxKey(key)

    @op(key=keys)
    def insert(self, key):
        return int(self.impl.insert(key, 0))

    @op(key=keys)
    def pop(self, key):
        return self.impl.pop(key, None)

    def view(self, impl):
        return list(impl.items()), len(impl)

    @invariant()
    def whole(self):
        self.impl._check()
        self.other._check()


def least():
    tree = OOBTreePy((number, number) for number in range(60))
    assert tree.minKey(14) == 14
    del tree[14]
    assert OOBTree(tree).minKey(14) == 15
    tree.minKey(14)  # ValueError: no key satisfies the conditions


TROPHIES = [
    Trophy(
        "btrees_min_key",
        "in Python, `minKey(key)` of a missing key at the end of a bucket finds nothing, although keys follow",
        "It is the smallest key that is at least the given one, as in C.",
        Trees,
        "least: impl",
        least,
        "ValueError",
    ),
]

"""boltons: a mapping from many to many and a cache, each compared with a simple model."""

from collections import OrderedDict

from boltons.cacheutils import LRU
from boltons.dictutils import ManyToMany
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "boltons==26.2.0", ["boltons.dictutils", "boltons.cacheutils"]
digits, keys = st.integers(0, 9), st.sampled_from("abc")


class Links(Pair):
    """Keys and values, many of each, beside a set of pairs."""

    impl, model = ManyToMany, set

    @op(key=keys, value=digits)
    def add(self, key, value):
        self.impl.add(key, value)
        self.model.add((key, value))

    @op(key=keys)
    def delete(self, key):
        if key in self.impl:
            del self.impl[key]
            self.model = {pair for pair in self.model if pair[0] != key}

    @op(key=keys, new=keys)
    def replace(self, key, new):
        if key in self.impl:
            self.impl.replace(key, new)
            self.model = {(new if one == key else one, other) for one, other in self.model}

    def view(self):
        there, back = self.impl.iteritems(), self.impl.inv.iteritems()
        return (sorted(there), sorted((key, value) for value, key in back)), (sorted(self.model),) * 2


class Recent(Pair):
    """A cache of the four that were used last."""

    model = OrderedDict

    def impl():
        return LRU(max_size=4)

    @op(key=digits)
    def put(self, key):
        self.impl[key] = key
        self.model[key] = key
        self.model.move_to_end(key)
        if len(self.model) > 4:
            self.model.popitem(last=False)

    @op(key=digits)
    def get(self, key):
        def from_model():
            self.model.move_to_end(key)
            return self.model[key]

        self.match(lambda: self.impl[key], from_model)

    @op()
    def copy(self):
        self.impl = self.impl.copy()

    def view(self):
        return sorted(self.impl), sorted(self.model)


def replaces():
    links = ManyToMany([("a", 0), ("b", 1)])
    links.replace("a", "b")
    assert list(links.iteritems()) == [("b", 0)]  # ("b", 1) is gone
    assert sorted(links.inv.iteritems()) == [(0, "b"), (1, "b")]  # but not here


def copies():
    cache = LRU(max_size=2)
    cache["used"], cache["unused"] = 1, 2
    cache["used"]  # is now the one that was used last
    cache.copy()
    cache["x"] = 3
    assert sorted(cache) == ["unused", "x"]  # expected "used" and "x", as without the copy


TROPHIES = [
    Trophy(
        "boltons_replace",
        "`ManyToMany.replace` by a key that exists loses what that key had, but only in one direction",
        "All that belonged to the one key belongs to the other, and the two directions always agree.",
        Links,
        "after replace",
        replaces,
    ),
    Trophy(
        "boltons_lru_copy",
        "to copy an LRU uses all its items, so that it and the copy no longer know which was used last",
        "To copy changes nothing; an LRU drops what was not used for longest.",
        Recent,
        "after put the views differ",
        copies,
    ),
]

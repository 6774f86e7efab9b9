"""cachebox: a cache that drops the oldest, compared with a dictionary."""

from collections import OrderedDict

from cachebox import FIFOCache
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "cachebox==5.2.3 typing_extensions", ["cachebox"]
keys = st.integers(0, 9)


class Oldest(Pair):
    model = OrderedDict

    def impl():
        return FIFOCache(3)

    @op(key=keys)
    def put(self, key):
        self.impl[key] = key
        self.model[key] = key
        if len(self.model) > 3:
            self.model.popitem(last=False)

    @op(key=keys)
    def delete(self, key):
        self.both("__delitem__", key)

    @op()
    def last(self):
        self.match(self.impl.last, lambda: next(reversed(self.model), None))

    @op(count=st.integers(0, 4))
    def drain(self, count):
        def from_model():
            gone = min(count, len(self.model))
            for _ in range(gone):
                self.model.popitem(last=False)
            return gone

        self.match(lambda: self.impl.drain(count), from_model)

    def view(self):
        return list(self.impl.items()), list(self.model.items())


def drains():
    cache = FIFOCache(3)
    cache["a"], cache["b"], cache["c"] = 1, 2, 3
    assert cache.drain(2) == 1  # expected 2
    assert len(cache) == 1


def lasts():
    cache = FIFOCache(3)
    assert cache.first() is None
    cache.last()  # OverflowError: can't convert negative int to unsigned


TROPHIES = [
    Trophy(
        "cachebox_drain",
        "`drain(n)` counts one less than it removes",
        "It removes n items and returns how many it has removed.",
        Oldest,
        "^drain:",
        drains,
    ),
    Trophy(
        "cachebox_last",
        "`last()` of an empty cache raises OverflowError, where `first()` returns None",
        "It is the same as the first one counted from the end.",
        Oldest,
        "^last:",
        lasts,
        "OverflowError",
    ),
]

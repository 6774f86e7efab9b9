"""pylru: a cache that writes back to a store, compared with a dictionary."""

import pylru
from hypothesis import strategies as st

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "pylru==1.3.3", ["pylru"]
keys, digits = st.integers(0, 5), st.integers(0, 9)


class WriteBack(Pair):
    """Whatever the size of the cache, it shows what a dictionary does."""

    model = dict

    def impl():
        return pylru.WriteBackCacheManager({}, 3)

    @op(key=keys, value=digits, weight=3)
    def put(self, key, value):
        self.impl[key] = value
        self.model[key] = value

    @op(key=keys)
    def get(self, key):
        self.match(lambda: self.impl[key], lambda: self.model[key])

    @op(key=keys)
    def delete(self, key):
        self.match(lambda: self.impl.__delitem__(key), lambda: self.model.__delitem__(key))

    @op()
    def sync(self):
        self.impl.sync()
        assert self.impl.store == self.model, "the store after sync"

    @op(size=st.integers(1, 4))
    def size(self, size):
        self.impl.size(size)

    @op()
    def clear(self):
        self.impl.clear()
        self.model.clear()

    @op(key=keys)
    def holds(self, key):
        self.match(lambda: key in self.impl, lambda: key in self.model)

    def view(self):
        return (sorted(self.impl.items()), len(self.impl)), (sorted(self.model.items()), len(self.model))


class Recent(Pair):
    """Its cache, beside a list of pairs, the last used first."""

    model = list

    def impl():
        return pylru.lrucache(3)

    limit = 3

    def use(self, key):
        self.model.insert(0, self.model.pop(next(place for place, pair in enumerate(self.model) if pair[0] == key)))

    @op(key=keys, value=digits, weight=3)
    def put(self, key, value):
        self.impl[key] = value
        self.model = [(key, value), *(pair for pair in self.model if pair[0] != key)][: self.limit]

    @op(key=keys)
    def get(self, key):
        if key in dict(self.model):
            self.use(key)
            assert self.impl[key] == self.model[0][1]

    @op(key=keys)
    def peek(self, key):
        if key in dict(self.model):
            assert self.impl.peek(key) == dict(self.model)[key]

    @op(key=keys)
    def delete(self, key):
        if key in dict(self.model):
            del self.impl[key]
            self.model = [pair for pair in self.model if pair[0] != key]

    @op()
    def popitem(self):
        if self.model:
            assert self.impl.popitem() == self.model.pop(0), "the one used last"

    @op(size=st.integers(1, 5))
    def size(self, size):
        self.limit = size
        self.impl.size(size)
        self.model = self.model[:size]

    def view(self):
        return list(self.impl.items()), self.model


CLEAN = [WriteBack, Recent]

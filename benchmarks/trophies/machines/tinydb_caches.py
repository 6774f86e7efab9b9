"""tinydb: the cache of its queries, compared with a dictionary."""

from hypothesis import strategies as st
from tinydb.utils import LRUCache

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "tinydb==4.9.0", ["tinydb"]
keys, values = st.integers(0, 9), st.integers(-5, 5)


class Unlimited(Pair):
    """Without a limit, it is a mapping like any other."""

    impl, model = LRUCache, dict

    @op(key=keys, value=values, weight=2)
    def set(self, key, value):
        self.impl.set(key, value)
        self.model[key] = value

    @op(key=keys)
    def get(self, key):
        assert self.impl.get(key) == self.model.get(key), "the value of a key"

    @op(key=keys)
    def delete(self, key):
        self.match(lambda: self.impl.__delitem__(key), lambda: self.model.__delitem__(key))

    @op()
    def items(self):
        assert dict(self.impl.items()) == self.model, "its items"

    @op()
    def read_values(self):
        assert sorted(self.impl.values()) == sorted(self.model.values()), "its values"

    @op()
    def compare(self):
        assert self.impl == self.model, "as a whole"

    def view(self):
        return sorted(self.impl), sorted(self.model)


def iteration():
    cache = LRUCache()
    cache.set("one", 1)
    cache.set("two", 2)
    list(cache.items())  # RuntimeError: OrderedDict mutated during iteration


TROPHIES = [
    Trophy(
        "tinydb_lru_items",
        "`items()`, `values()` and `==` of an LRUCache with two entries raise",
        "it is a `MutableMapping`, and reading one goes through its values. Each is read by `get()`, which moves it to "
        "the end while the iteration goes on.",
        Unlimited,
        "mutated during iteration",
        iteration,
        "RuntimeError",
        "tinydb-smartcache issue 5 met the like (closed: that package copies the keys now)",
    ),
]

"""expiringdict: a dictionary whose entries expire, compared with one whose entries do not, as none has the time to."""

from collections import OrderedDict

from expiringdict import ExpiringDict
from hypothesis import strategies as st

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "expiringdict==1.2.2", ["expiringdict"]
keys, digits = st.integers(0, 5), st.integers(0, 9)


class Entries(Pair):
    """What dictionaries have in common, and what OrderedDict has besides."""

    model = OrderedDict

    def impl():
        return ExpiringDict(max_len=100, max_age_seconds=3600)

    @op(key=keys, value=digits, weight=3)
    def put(self, key, value):
        self.impl[key] = value
        self.model[key] = value
        self.model.move_to_end(key)

    @op(key=keys)
    def get(self, key):
        return self.impl.get(key)

    @op(key=keys)
    def pop(self, key):
        return self.impl.pop(key, None)

    @op(key=keys, value=digits)
    def set_default(self, key, value):
        return self.impl.setdefault(key, value)

    def view(self):
        return sorted(self.impl.items()), sorted(self.model.items())


class Copied(Entries):
    """It can be copied as well."""

    @op()
    def copy(self):
        assert dict(self.impl.copy().items()) == dict(self.model), "what a copy holds"


class Popped(Entries):
    """It gives its last entry away as well."""

    @op()
    def pop_item(self):
        if self.model:
            assert self.impl.popitem() == self.model.popitem(), "the last entry"


def copies():
    ExpiringDict(max_len=10, max_age_seconds=60).copy()


def last():
    cache = ExpiringDict(max_len=10, max_age_seconds=60)
    cache["a"] = 1
    key, value = cache.popitem()
    assert key == "a"
    assert isinstance(value, tuple)  # expected 1: the value, and when it was set


TROPHIES = [
    Trophy(
        "expiringdict_copy",
        "`copy()` raises TypeError",
        "An ExpiringDict is an OrderedDict whose entries expire.",
        Copied,
        "missing 2 required positional arguments",
        copies,
        "TypeError",
    ),
    Trophy(
        "expiringdict_popitem",
        "`popitem()` returns the time at which an entry was set in place of its value alone",
        "`pop`, `get` and `items` return the value, and OrderedDict's `popitem` a key and its value.",
        Popped,
        "the last entry",
        last,
    ),
]

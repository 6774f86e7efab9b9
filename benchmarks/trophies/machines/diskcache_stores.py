"""diskcache: a double-ended queue and a dictionary on disk, compared with those in memory."""

import shutil
import tempfile
from collections import OrderedDict, deque

from diskcache import Deque, Index
from hypothesis import strategies as st

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "diskcache==5.6.3", ["diskcache.persistent"]
digits, keys = st.integers(0, 9), st.sampled_from("abc")


class Stored(Pair):
    def teardown(self):
        shutil.rmtree(self.impl.directory, ignore_errors=True)
        super().teardown()


class Ends(Stored):
    def impl():
        return Deque(directory=tempfile.mkdtemp(), maxlen=5)

    def model():
        return deque(maxlen=5)

    @op(value=digits, weight=2)
    def append(self, value):
        self.both("append", value)

    @op(value=digits, weight=2)
    def appendleft(self, value):
        self.both("appendleft", value)

    @op()
    def pop(self):
        self.both("pop")

    @op()
    def popleft(self):
        self.both("popleft")

    @op(steps=st.integers(-7, 7))
    def rotate(self, steps):
        self.both("rotate", steps)

    @op(value=digits)
    def remove(self, value):
        self.both("remove", value)

    @op()
    def reverse(self):
        self.both("reverse")

    @op(values=st.lists(digits, max_size=3))
    def extendleft(self, values):
        self.both("extendleft", values)

    @op(place=st.integers(-5, 4), value=digits)
    def put(self, place, value):
        self.both("__setitem__", place, value)

    @op(place=st.integers(-5, 4))
    def delete(self, place):
        self.both("__delitem__", place)

    def view(self):
        return (list(self.impl), list(reversed(self.impl))), (list(self.model), list(reversed(self.model)))


class Ordered(Stored):
    model = OrderedDict

    def impl():
        return Index(tempfile.mkdtemp())

    @op(key=keys, value=digits, weight=2)
    def put(self, key, value):
        self.both("__setitem__", key, value)

    @op(key=keys)
    def delete(self, key):
        self.both("__delitem__", key)

    @op(last=st.booleans())
    def popitem(self, last):
        self.both("popitem", last=last)

    @op(key=keys)
    def pop(self, key):
        self.both("pop", key, None)

    @op(key=keys, value=digits)
    def setdefault(self, key, value):
        self.both("setdefault", key, value)

    def view(self):
        return (list(self.impl.items()), list(reversed(self.impl))), (
            list(self.model.items()),
            list(reversed(self.model)),
        )


CLEAN = [Ends, Ordered]

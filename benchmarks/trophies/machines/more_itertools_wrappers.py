"""more-itertools: iterators that can be looked into and wound back, compared with lists."""

from hypothesis import strategies as st
from more_itertools import peekable, seekable

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "more-itertools==11.2.1", ["more_itertools.more"]
digits, bounds = st.integers(0, 9), st.none() | st.integers(-4, 4)


class Peekable(Pair):
    def impl():
        return peekable(range(6))

    def model():
        return list(range(6))

    @op()
    def next(self):
        self.match(lambda: next(self.impl, None), lambda: self.model.pop(0) if self.model else None)

    @op()
    def peek(self):
        self.match(lambda: self.impl.peek(None), lambda: self.model[0] if self.model else None)

    @op(items=st.lists(digits, max_size=3))
    def prepend(self, items):
        self.impl.prepend(*items)
        self.model = items + self.model

    @op(place=st.integers(-6, 6))
    def at(self, place):
        self.match(lambda: self.impl[place], lambda: self.model[place])

    @op(start=bounds, stop=bounds, step=st.sampled_from([None, 1, 2, -1, -2]))
    def cut(self, start, stop, step):
        self.match(lambda: self.impl[start:stop:step], lambda: self.model[start:stop:step])

    @op()
    def more(self):
        self.match(lambda: bool(self.impl), lambda: bool(self.model))


class Seekable(Pair):
    """One that keeps all items."""

    model = int

    def impl():
        return seekable(range(6))

    @op()
    def next(self):
        self.match(lambda: next(self.impl, None), lambda: self.model if self.model < 6 else None)
        self.model = min(self.model + 1, 6)

    @op(place=st.integers(0, 8))
    def seek(self, place):
        self.impl.seek(place)
        self.model = min(place, 6)

    @op(by=st.integers(-4, 4))
    def seek_by(self, by):
        self.impl.relative_seek(by)
        self.model = min(max(self.model + by, 0), 6)

    @op()
    def peek(self):
        self.match(lambda: self.impl.peek(None), lambda: self.model if self.model < 6 else None)

    @op()
    def more(self):
        self.match(lambda: bool(self.impl), lambda: self.model < 6)


class Limited(Pair):
    """One that keeps three items only."""

    model = int

    def impl():
        return seekable(range(9), maxlen=3)

    def __init__(self):
        super().__init__()
        self.read = 0

    def at(self, place):
        self.model = min(place, 9)
        self.read = max(self.read, self.model)

    @op(weight=2)
    def next(self):
        self.match(lambda: next(self.impl, None), lambda: self.model if self.model < 9 else None)
        self.at(self.model + 1)

    @op(by=st.integers(-3, 3))
    def seek_by(self, by):
        if max(self.read - 3, 0) <= self.model + by:
            self.impl.relative_seek(by)
            self.at(self.model + by)

    @op()
    def peek(self):
        if max(self.read - 2, 0) <= self.model:
            self.match(lambda: self.impl.peek(None), lambda: self.model if self.model < 9 else None)
            self.read = max(self.read, min(self.model + 1, 9))

    @op()
    def elements(self):
        assert list(self.impl.elements()) == list(range(max(self.read - 3, 0), self.read)), "elements"


CLEAN = [Peekable, Seekable, Limited]

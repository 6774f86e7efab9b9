"""pyrsistent: a persistent deque compared with the one of the standard library."""

from collections import deque

from hypothesis import strategies as st
from pyrsistent import pdeque

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "pyrsistent==0.20.0", ["pyrsistent"]
bounds = st.none() | st.integers(0, 5)


class Deques(Pair):
    impl, model = pdeque, deque

    @op(x=st.integers(0, 9))
    def append(self, x):
        self.impl = self.impl.append(x)
        self.model.append(x)

    @op()
    def reverse(self):
        self.impl = self.impl.reverse()
        self.model.reverse()

    @op(by=st.integers(-4, 4))
    def rotate(self, by):
        self.impl = self.impl.rotate(by)
        self.model.rotate(by)

    @op(start=bounds, stop=bounds)
    def slice(self, start, stop):
        self.match(lambda: list(self.impl[start:stop]), lambda: list(self.model)[start:stop])

    def view(self):
        return list(self.impl), list(self.model)


def slices():
    assert list(pdeque([1, 2, 3])[3:]) == [1, 2, 3]  # expected []
    assert list(pdeque([1, 2, 3])[:3]) == []  # expected [1, 2, 3]
    pdeque()[0:]  # ZeroDivisionError


def rotates():
    assert list(pdeque([1, 2]).rotate(3)) == [1, 2]  # expected [2, 1]


TROPHIES = [
    Trophy(
        "pyrsistent_slices",
        "a slice of a PDeque with its length as bound is all of it, nothing, or ZeroDivisionError",
        "It is sliced as other sequences are.",
        Deques,
        "^slice:",
        slices,
        "ZeroDivisionError",
    ),
    Trophy(
        "pyrsistent_rotate",
        "`rotate` by more than the length rotates nothing",
        "It returns the deque rotated by so many steps.",
        Deques,
        "after rotate",
        rotates,
    ),
]

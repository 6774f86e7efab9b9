"""The interval set against a plain set, which is slow, short and right."""

from hypothesis import strategies as st
from intervals import IntervalSet

from ordeal.model import Pair, op

numbers = st.integers(0, 20)


class PlainSet:
    def __init__(self) -> None:
        self.all: set[int] = set()

    def add(self, start: int, end: int) -> None:
        if start >= end:
            raise ValueError
        self.all.update(range(start, end))

    def remove(self, number: int) -> None:
        self.all.remove(number)

    def __contains__(self, number: int) -> bool:
        return number in self.all


class IntervalsPair(Pair):
    impl, model = IntervalSet, PlainSet

    @op(start=numbers, end=numbers)
    def add(self, start: int, end: int) -> None:
        self.both("add", start, end)

    @op(number=numbers)
    def remove(self, number: int) -> None:
        self.both("remove", number)

    @op(number=numbers)
    def contains(self, number: int) -> None:
        self.both("__contains__", number)

    def view(self) -> tuple[set[int], set[int]]:
        return self.impl.numbers(), self.model.all


TestIntervals = IntervalsPair.TestCase

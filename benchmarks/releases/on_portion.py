"""Intervals that are joined and cut, and a dictionary by intervals."""

import portion
from hypothesis import strategies as st

from ordeal import ChaosTest, rule

ends = st.tuples(st.integers(0, 9), st.integers(0, 9))


class Machine(ChaosTest):
    """One interval and one dictionary."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.interval = portion.empty()
        self.values = portion.IntervalDict()

    @rule(ends=ends)
    def add(self, ends: tuple[int, int]) -> None:
        self.interval |= portion.closedopen(*ends)
        self.answer = str(self.interval)

    @rule(ends=ends)
    def cut(self, ends: tuple[int, int]) -> None:
        self.interval &= portion.closed(*ends)
        self.answer = str(self.interval)

    @rule()
    def parts(self) -> None:
        self.answer = [str(part) for part in self.interval]

    @rule(ends=ends)
    def is_before(self, ends: tuple[int, int]) -> None:
        self.answer = self.interval < portion.closed(*ends)

    @rule(items=st.lists(st.tuples(ends, st.integers(0, 3)), max_size=3))
    def store(self, items: list[tuple[tuple[int, int], int]]) -> None:
        self.values.update([(portion.closed(*ends), value) for ends, value in items])
        self.answer = str(self.values)

"""Functions on lists of numbers."""

import more_itertools
from hypothesis import strategies as st

from ordeal import ChaosTest, rule

numbers = st.lists(st.integers(0, 3), max_size=6)
sizes = st.integers(0, 4)


class Machine(ChaosTest):
    """Calls them, one a step; what raises ends a run."""

    answer: object = None

    @rule(numbers=numbers, size=sizes)
    def batch(self, numbers: list[int], size: int) -> None:
        self.answer = list(more_itertools.batched(numbers, max(1, size)))

    @rule(numbers=numbers, size=sizes, step=st.integers(1, 3))
    def window(self, numbers: list[int], size: int, step: int) -> None:
        self.answer = list(more_itertools.windowed(numbers, size, step=step))

    @rule(rows=st.lists(numbers, max_size=4))
    def unique(self, rows: list[list[int]]) -> None:
        self.answer = list(more_itertools.unique_everseen(rows))

    @rule(numbers=numbers, count=st.integers(-2, 6))
    def exactly(self, numbers: list[int], count: int) -> None:
        self.answer = more_itertools.exactly_n(numbers, count)

    @rule(start=st.integers(-5, 5), stop=st.integers(-5, 5), step=st.sampled_from([-3, -2, -1, 1, 2, 3]))
    def count(self, start: int, stop: int, step: int) -> None:
        numbers = more_itertools.numeric_range(start, stop, step)
        self.answer = list(numbers), len(numbers)

    @rule(rows=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=2))
    def multiply(self, rows: list[list[int]]) -> None:
        self.answer = list(more_itertools.matmul(rows, rows))

"""Puzzle for drawing values again: an identifier must come back, and there are more of them than any run can try."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

# Of the ends of the range and of round numbers, which come back by themselves, hardly one has so many bits.
BITS_MIN, BITS_MAX = 22, 45


class MetAgain(ChaosTest):
    """Counts visits, and breaks at the third of one visitor."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: dict[int, int] = {}

    @rule(visitor=st.integers(2**60, 2**61))
    def visit(self, visitor: int) -> None:
        if BITS_MIN <= visitor.bit_count() <= BITS_MAX:
            self.visits[visitor] = self.visits.get(visitor, 0) + 1
            assert self.visits[visitor] < 3, "three visits"

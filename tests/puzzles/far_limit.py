"""Puzzle for `sometimes_gt` and `target`: a limit further away than any run can go, and no branch on the way to it."""

from hypothesis import strategies as st
from hypothesis import target
from hypothesis.stateful import rule

from ordeal.assertions import sometimes, sometimes_gt
from ordeal.chaos import ChaosTest

LIMIT = 10**6


class FarLimit(ChaosTest):
    """Fills a tank, and says only whether it overflows."""

    limit = LIMIT

    def __init__(self) -> None:
        super().__init__()
        self.level = 0

    @rule(litres=st.integers(0, 1000))
    def pour(self, litres: int) -> None:
        self.level += litres
        self.tell()
        assert self.level <= self.limit, "the tank overflows"

    @rule(litres=st.integers(0, 1000))
    def drain(self, litres: int) -> None:
        self.level = max(0, self.level - litres)

    def tell(self) -> None:
        sometimes(self.level > self.limit, "the tank overflows")


class ToldDistance(FarLimit):
    """Fills a tank, and says how much is missing."""

    def tell(self) -> None:
        sometimes_gt(self.level, self.limit, "the tank overflows")


class AimedHigh(FarLimit):
    """Fills a tank, and says at the end how full it was."""

    limit = LIMIT // 5

    def teardown(self) -> None:
        target(float(self.level), label="level")
        super().teardown()

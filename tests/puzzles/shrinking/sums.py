"""Failures that depend on a sum over steps: what is hard is to take a step away and let others make up for it."""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from ordeal.chaos import ChaosTest

from .known import Known, known


class ForgottenLimit(ChaosTest):
    """A counter with a limit that one of its rules forgets."""

    def __init__(self) -> None:
        super().__init__()
        self.counted, self.limit = 0, 10

    @rule(by=st.integers(1, 3))
    def count(self, by: int) -> None:
        self.counted += by

    @rule()
    def reset(self) -> None:
        self.counted = 0

    @rule(limit=st.integers(5, 10))
    def limit_to(self, limit: int) -> None:
        self.limit = limit
        self.counted = min(self.counted, limit)

    @invariant()
    def is_below_limit(self) -> None:
        assert self.counted <= self.limit


# The least limit is exceeded by six, which is twice the most that a step counts; it may be set at any time but the last
# when there is too much already.
FORGOTTEN_LIMIT = known(
    ForgottenLimit,
    ("state.limit_to(limit=5)", "state.count(by=3)", "state.count(by=3)"),
    ("state.count(by=3)", "state.limit_to(limit=5)", "state.count(by=3)"),
)


class Overstock(ChaosTest):
    """A store that buys more than fits into it."""

    def __init__(self) -> None:
        super().__init__()
        self.stock = 0

    @initialize(start=st.integers(0, 1000))
    def begin(self, start: int) -> None:
        self.stock = start

    @rule(quantity=st.integers(1, 500))
    def buy(self, quantity: int) -> None:
        self.stock += quantity

    @rule(quantity=st.integers(1, 500))
    def sell(self, quantity: int) -> None:
        self.stock = max(0, self.stock - quantity)

    @invariant()
    def fits(self) -> None:
        assert self.stock <= 1500


# Two buys reach 1500 only with what was there, of which a smaller amount is simpler than less of what follows.
OVERSTOCK = known(
    Overstock,
    ("state.begin(start=501)", "state.buy(quantity=500)", "state.buy(quantity=500)"),
)

SUMS: list[Known] = [FORGOTTEN_LIMIT, OVERSTOCK]

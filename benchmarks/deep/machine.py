"""A machine that never comes to an end: with every step it is in a state that was never seen, so that all is kept."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import ChaosTest


class Deep(ChaosTest):
    """Has a state of one number that depends on every step before."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 1

    @rule(by=st.integers(0, 1000), text=st.text(max_size=8))
    def add(self, by: int, text: str) -> None:
        self.total = (self.total * 31 + by + len(text)) % (2**61 - 1)

    def state_hash(self) -> int:
        return self.total

"""Puzzle for `state_hash` and `event`: the right digits in a row again, but one line checks them all."""

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

COMBINATION = (4, 9, 1, 7, 3, 8, 2)


class Safe:
    """A safe that compares with a table."""

    def __init__(self) -> None:
        self.pins = 0

    def dial(self, digit: int) -> None:
        """Turn the dial to a digit."""
        self.pins = (self.pins + 1) * (digit == COMBINATION[self.pins])
        assert self.pins < len(COMBINATION), "the safe is open"


class HiddenProgress(ChaosTest):
    """Dials digits, blind."""

    def __init__(self) -> None:
        super().__init__()
        self.safe = Safe()

    @rule(digit=st.integers(0, 9))
    def dial(self, digit: int) -> None:
        self.safe.dial(digit)


class SpokenProgress(HiddenProgress):
    """Dials digits, and says how many pins stand."""

    @rule(digit=st.integers(0, 9))
    def dial(self, digit: int) -> None:
        super().dial(digit)
        event(f"{self.safe.pins} pins stand")


class ToldProgress(HiddenProgress):
    """Dials digits, and tells the Explorer how many pins stand."""

    def state_hash(self) -> int:
        return 1 + self.safe.pins

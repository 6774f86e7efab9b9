"""Puzzle for checkpoints: seven right digits in a row; each shows as a branch, and any wrong one undoes them all."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest


class Safe:
    """A safe with seven pins. A wrong digit lets all of them fall."""

    def __init__(self) -> None:
        self.pins = 0

    def dial(self, digit: int) -> None:
        """Turn the dial to a digit."""
        match self.pins, digit:
            case 0, 4:
                self.pins = 1
            case 1, 9:
                self.pins = 2
            case 2, 1:
                self.pins = 3
            case 3, 7:
                self.pins = 4
            case 4, 3:
                self.pins = 5
            case 5, 8:
                self.pins = 6
            case 6, 2:
                raise AssertionError("the safe is open")
            case _:
                self.pins = 0


class DeepChain(ChaosTest):
    """Dials digits. Without checkpoints it takes ten million of them."""

    def __init__(self) -> None:
        super().__init__()
        self.safe = Safe()

    @rule(digit=st.integers(0, 9))
    def dial(self, digit: int) -> None:
        self.safe.dial(digit)

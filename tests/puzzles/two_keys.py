"""Puzzle for joined sequences: a lock with two codes of six digits; the first hides how far one is with the second."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

FIRST = (3, 1, 4, 1, 5, 0)
SECOND = (2, 5, 0, 3, 1, 4)


class Lock:
    """A lock with two codes. A wrong digit begins both anew; the first, once dialled, stays so."""

    def __init__(self) -> None:
        self.of_first = 0
        self.of_second = 0
        self.has_first = False

    def dial(self, digit: int) -> None:
        """Turn the dial to a digit."""
        self.of_first = self.of_first + 1 if digit == FIRST[self.of_first] else 0
        self.of_second = self.of_second + 1 if digit == SECOND[self.of_second] else 0
        show(self.of_first)
        if not self.has_first:
            show(10 + self.of_second)
        if self.of_second == len(SECOND):
            assert not self.has_first, "the lock is open"
            self.of_second = 0
        if self.of_first == len(FIRST):
            self.has_first = True
            self.of_first = 0


def show(place: int) -> None:
    """Let each place have a branch of its own."""
    match place:
        case 1 | 11:
            pass
        case 2:
            pass
        case 3:
            pass
        case 4:
            pass
        case 5:
            pass
        case 6:
            pass
        case 12:
            pass
        case 13:
            pass
        case 14:
            pass
        case 15:
            pass
        case 16:
            pass


class TwoKeys(ChaosTest):
    """Dials digits."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()

    @rule(digit=st.integers(0, 5))
    def dial(self, digit: int) -> None:
        self.lock.dial(digit)

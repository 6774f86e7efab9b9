"""Puzzle for edges by rule: ten keys in their order, and the same code runs for each of them."""

from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

ORDER = (6, 1, 8, 3, 9, 0, 5, 2, 7, 4)


class Panel:
    """A lock with ten keys."""

    def __init__(self) -> None:
        self.turned = 0

    def turn(self, key: int) -> None:
        """Turn a key; a wrong one turns all back."""
        if key == ORDER[self.turned]:
            self.turned += 1
        else:
            self.turned = 0
        assert self.turned < len(ORDER), "the door is open"


class WhichKey(ChaosTest):
    """A rule for each key, which some rule or other turns in the right place all the time."""

    def __init__(self) -> None:
        super().__init__()
        self.panel = Panel()

    @rule()
    def key_0(self) -> None:
        self.panel.turn(0)

    @rule()
    def key_1(self) -> None:
        self.panel.turn(1)

    @rule()
    def key_2(self) -> None:
        self.panel.turn(2)

    @rule()
    def key_3(self) -> None:
        self.panel.turn(3)

    @rule()
    def key_4(self) -> None:
        self.panel.turn(4)

    @rule()
    def key_5(self) -> None:
        self.panel.turn(5)

    @rule()
    def key_6(self) -> None:
        self.panel.turn(6)

    @rule()
    def key_7(self) -> None:
        self.panel.turn(7)

    @rule()
    def key_8(self) -> None:
        self.panel.turn(8)

    @rule()
    def key_9(self) -> None:
        self.panel.turn(9)

"""The program under test of the deep machine: a lock of fifteen stages, each opened by three buttons in a row.

A wrong button sets back within the stage, never further. Each stage has a branch of its own, so that coverage tells
them apart, and it tells nothing of how far a stage has come.
"""

STAGES = 15
BUTTONS = 12
PRESSES = 3


def wanted(stage: int) -> tuple[int, ...]:
    """The buttons that open a stage, all different."""
    return tuple((7 * stage + 3 * press * press + 5 * press + 2) % BUTTONS for press in range(PRESSES))


class Lock:
    """Opens stage by stage."""

    def __init__(self) -> None:
        self.stage = 0
        self.pressed = 0
        self.code = wanted(0)

    def press(self, button: int) -> None:
        """Press a button."""
        right = button == self.code[self.pressed]
        self.pressed = (self.pressed + 1) * right
        if self.pressed == PRESSES:
            self.pressed = 0
            self.stage += 1
            self.code = wanted(self.stage)
            self.opened()

    def opened(self) -> str:
        """What a stage says when it opens."""
        match self.stage:
            case 1:
                return "one"
            case 2:
                return "two"
            case 3:
                return "three"
            case 4:
                return "four"
            case 5:
                return "five"
            case 6:
                return "six"
            case 7:
                return "seven"
            case 8:
                return "eight"
            case 9:
                return "nine"
            case 10:
                return "ten"
            case 11:
                return "eleven"
            case 12:
                return "twelve"
            case 13:
                return "thirteen"
            case 14:
                return "fourteen"
            case _:
                raise AssertionError("the last stage is open")

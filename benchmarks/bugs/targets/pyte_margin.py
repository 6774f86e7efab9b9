"""pyte 0.5.2: after the last column was written, the cursor goes one column too few to the left.

Changelog of 0.6.0: "Fixed ``Screen.cursor_back`` when called after the draw in the last column."
"""

import pyte
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

WIDTH, HEIGHT = 20, 5


class Machine(RuleBasedStateMachine):
    """A screen beside rows of characters. A full row leaves the cursor behind its end until more is written."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self.rows = [[" "] * WIDTH for _ in range(HEIGHT)]
        self.x = self.y = 0

    @rule(number=st.integers(0, 25))
    def write(self, number: int) -> None:
        letter = chr(97 + within(number, 26))
        self.screen.draw(letter)
        if self.x == WIDTH:
            self._next_row()
            self.x = 0
        self.rows[self.y][self.x] = letter
        self.x += 1

    @rule()
    def go_down(self) -> None:
        self.screen.linefeed()
        self._next_row()
        self.x = min(self.x, WIDTH)

    @rule()
    def return_(self) -> None:
        self.screen.carriage_return()
        self.x = 0

    @rule(columns=st.integers(1, 6))
    def go_left(self, columns: int) -> None:
        columns = 1 + within(columns - 1, 6)
        self.screen.cursor_back(columns)
        self.x = max(0, min(self.x, WIDTH - 1) - columns)

    @rule()
    def look(self) -> None:
        assert [row.rstrip() for row in self.screen.display] == ["".join(row).rstrip() for row in self.rows]

    def _next_row(self) -> None:
        if self.y == HEIGHT - 1:
            self.rows = [*self.rows[1:], [" "] * WIDTH]
        else:
            self.y += 1


def reproduce() -> None:
    screen = pyte.Screen(3, 1)
    for letter in "abc":
        screen.draw(letter)
    screen.cursor_back(1)
    screen.draw("x")
    assert screen.display == ["axc"], screen.display

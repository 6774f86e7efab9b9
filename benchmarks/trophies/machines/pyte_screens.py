"""pyte: a terminal that is fed characters."""

import pyte
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal import ChaosTest
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "pyte==0.8.2 wcwidth==0.9.4", ["pyte"]


class Fed(ChaosTest):
    """It must never raise, whatever comes, and have a display."""

    def __init__(self):
        super().__init__()
        self.screen = pyte.Screen(4, 3)
        self.stream = pyte.Stream(self.screen)

    @rule(text=st.sampled_from(["a", "中", "\r", "\n", "\b", "\x1b[", "1", "3", "K", "J", "H", "P", "\x1b[A"]))
    def feed(self, text):
        self.stream.feed(text)

    @rule()
    def display(self):
        assert len(self.screen.display) == 3


def wide():
    screen = pyte.Screen(4, 3)
    pyte.Stream(screen).feed("中\ra")
    print(screen.display)  # IndexError: string index out of range


def erases():
    pyte.Stream(pyte.Screen(4, 3)).feed("\x1b[3K")  # UnboundLocalError


TROPHIES = [
    Trophy(
        "pyte_wide",
        "`display` raises after the left half of a wide character is overwritten",
        "It is the list of the lines of the screen as text.",
        Fed,
        "string index out of range",
        wide,
        "IndexError",
        known="issue 207, open",
    ),
    Trophy(
        "pyte_erase",
        "erasing a line or screen in a way that it does not know raises UnboundLocalError",
        "How to erase is a number; programs send others, which a terminal ignores.",
        Fed,
        "cannot access local variable",
        erases,
        "UnboundLocalError",
    ),
]

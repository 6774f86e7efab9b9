"""pyte: a screen that keeps what scrolled out of it, compared with one that does not."""

import pyte
from hypothesis import strategies as st

from ordeal.model import TwoImplementations, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "pyte==0.8.2 wcwidth==0.9.4", ["pyte.screens"]


class Paged(TwoImplementations):
    """Whoever looks back and returns sees what was there."""

    def impl():
        return pyte.HistoryScreen(4, 3, history=12)

    def other():
        return pyte.Screen(4, 3)

    @op(text=st.sampled_from("abc"), weight=3)
    def draw(self, text):
        self.impl.draw(text)

    @op(weight=3)
    def linefeed(self):
        self.impl.linefeed()

    @op()
    def reverse_index(self):
        self.impl.reverse_index()

    @op()
    def home(self):
        self.impl.cursor_position()

    @op(how=st.integers(0, 2))
    def erase(self, how):
        self.impl.erase_in_display(how)

    @op(lines=st.integers(2, 4))
    def resize(self, lines):
        self.impl.resize(lines, 4)

    @op(pages=st.integers(1, 2))
    def look_back(self, pages):
        if isinstance(self.impl, pyte.HistoryScreen):
            for _ in range(pages):
                self.impl.prev_page()
            while self.impl.history.position < self.impl.history.size:
                self.impl.next_page()

    def view(self, impl):
        return impl.display


def pages():
    screen = pyte.HistoryScreen(4, 3, history=12)
    screen.reverse_index()  # at the top: the screen scrolls down
    for letter in "abc":
        screen.draw(letter)
        screen.carriage_return()
        screen.linefeed()  # the third one scrolls up
    assert screen.display == ["b   ", "c   ", "    "]
    screen.prev_page()
    assert screen.display == ["a   ", "b   ", "c   "]
    screen.next_page()
    assert screen.display == ["c   ", "    ", "    "]  # expected what was there before
    assert screen.history.position == 13  # of 12


TROPHIES = [
    Trophy(
        "pyte_history",
        "a page back and forth in the history leaves another screen after a line was scrolled out at the bottom",
        "`prev_page` and `next_page` move the screen up and down through the history.",
        Paged,
        "after look_back",
        pages,
    ),
]

"""Puzzle for the energy schedule: of many rooms that lead nowhere, one is a library that keeps showing new code."""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from ordeal.chaos import ChaosTest

ROOMS = 200
LIBRARY = 137
WORDS_PER_PAGE = 4

# The lines of a page are functions of their own, so that each page shows as much new code once.
PAGES: list[tuple[Callable[[], int], ...]] = [
    (lambda: 0, lambda: 1, lambda: 2, lambda: 3, lambda: 4, lambda: 5, lambda: 6, lambda: 7),
    (lambda: 8, lambda: 9, lambda: 10, lambda: 11, lambda: 12, lambda: 13, lambda: 14, lambda: 15),
    (lambda: 16, lambda: 17, lambda: 18, lambda: 19, lambda: 20, lambda: 21, lambda: 22, lambda: 23),
    (lambda: 24, lambda: 25, lambda: 26, lambda: 27, lambda: 28, lambda: 29, lambda: 30, lambda: 31),
    (lambda: 32, lambda: 33, lambda: 34, lambda: 35, lambda: 36, lambda: 37, lambda: 38, lambda: 39),
    (lambda: 40, lambda: 41, lambda: 42, lambda: 43, lambda: 44, lambda: 45, lambda: 46, lambda: 47),
    (lambda: 48, lambda: 49, lambda: 50, lambda: 51, lambda: 52, lambda: 53, lambda: 54, lambda: 55),
    (lambda: 56, lambda: 57, lambda: 58, lambda: 59, lambda: 60, lambda: 61, lambda: 62, lambda: 63),
    (lambda: 64, lambda: 65, lambda: 66, lambda: 67, lambda: 68, lambda: 69, lambda: 70, lambda: 71),
    (lambda: 72, lambda: 73, lambda: 74, lambda: 75, lambda: 76, lambda: 77, lambda: 78, lambda: 79),
    (lambda: 80, lambda: 81, lambda: 82, lambda: 83, lambda: 84, lambda: 85, lambda: 86, lambda: 87),
    (lambda: 88, lambda: 89, lambda: 90, lambda: 91, lambda: 92, lambda: 93, lambda: 94, lambda: 95),
    (lambda: 96, lambda: 97, lambda: 98, lambda: 99, lambda: 100, lambda: 101, lambda: 102, lambda: 103),
    (lambda: 104, lambda: 105, lambda: 106, lambda: 107, lambda: 108, lambda: 109, lambda: 110, lambda: 111),
    (lambda: 112, lambda: 113, lambda: 114, lambda: 115, lambda: 116, lambda: 117, lambda: 118, lambda: 119),
    (lambda: 120, lambda: 121, lambda: 122, lambda: 123, lambda: 124, lambda: 125, lambda: 126, lambda: 127),
    (lambda: 128, lambda: 129, lambda: 130, lambda: 131, lambda: 132, lambda: 133, lambda: 134, lambda: 135),
    (lambda: 136, lambda: 137, lambda: 138, lambda: 139, lambda: 140, lambda: 141, lambda: 142, lambda: 143),
    (lambda: 144, lambda: 145, lambda: 146, lambda: 147, lambda: 148, lambda: 149, lambda: 150, lambda: 151),
    (lambda: 152, lambda: 153, lambda: 154, lambda: 155, lambda: 156, lambda: 157, lambda: 158, lambda: 159),
]


class DeadEnds(ChaosTest):
    """A visitor enters one room and stays there; in the library, reads one page and falls asleep.

    Each room is a state of its own, so each becomes a checkpoint. The library alone leads to more and earns energy.
    """

    def __init__(self) -> None:
        super().__init__()
        self.room = 0
        self.asleep = False

    @precondition(lambda self: not self.room)
    @rule(room=st.integers(1, ROOMS))
    def enter(self, room: int) -> None:
        self.room = room

    @precondition(lambda self: self.room == LIBRARY and not self.asleep)
    @rule(page=st.integers(0, len(PAGES) - 1), word=st.integers(1, WORDS_PER_PAGE))
    def read(self, page: int, word: int) -> None:
        self.asleep = True
        for line in PAGES[page]:
            line()
        assert (page, word) != (13, 3), "a word that nobody should read"

    @precondition(lambda self: bool(self.room))
    @rule()
    def wait(self) -> None:
        """Time passes, and nothing comes of it."""

    def state_hash(self) -> int:
        return 1 + self.room

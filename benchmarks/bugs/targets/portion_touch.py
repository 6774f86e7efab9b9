"""portion 2.1.1: parts of an interval that touch are not joined where a closed part begins with an open one.

Changelog of 2.1.2: "Fix invalid simplification of 3+ intervals when a closed interval shares the lower bound of an open
one".
"""

import portion
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

SIZE = 12

MAKERS = (portion.closed, portion.open, portion.closedopen, portion.openclosed)

places = st.integers(0, SIZE - 1)
kinds = st.integers(0, len(MAKERS) - 1)


def members(kind: int, low: int, high: int) -> set[float]:
    """The halves in an interval: a point and the gap behind it tell everything about whole bounds."""
    halves = {low + half / 2 for half in range(2 * (high - low) + 1)}
    return halves - ({low} if kind in (1, 3) else set()) - ({high} if kind in (1, 2) else set())


class Machine(RuleBasedStateMachine):
    """An interval in parts beside the set of its halves."""

    def __init__(self) -> None:
        super().__init__()
        self.interval = portion.empty()
        self.model: set[float] = set()

    def _given(self, kind: int, low: int, length: int) -> tuple[portion.Interval, set[float]]:
        kind, low = within(kind, len(MAKERS)), within(low, SIZE)
        high = low + 1 + within(length, 4)
        return MAKERS[kind](low, high), members(kind, low, high)

    @rule(kind=kinds, low=places, length=st.integers(0, 3))
    def add(self, kind: int, low: int, length: int) -> None:
        interval, halves = self._given(kind, low, length)
        self.interval |= interval
        self.model |= halves

    @rule(kind=kinds, low=places, length=st.integers(0, 3))
    def remove(self, kind: int, low: int, length: int) -> None:
        interval, halves = self._given(kind, low, length)
        self.interval -= interval
        self.model -= halves

    @rule(parts=st.lists(st.tuples(kinds, places, st.integers(0, 3)), min_size=2, max_size=4))
    def set(self, parts: list[tuple[int, int, int]]) -> None:
        given = [self._given(*part) for part in parts]
        self.interval = portion.Interval(*(interval for interval, _ in given))
        self.model = set().union(*(halves for _, halves in given))

    @rule(half=st.integers(0, 2 * SIZE + 8))
    def look(self, half: int) -> None:
        place = within(half, 2 * SIZE + 9) / 2
        assert (place in self.interval) == (place in self.model), "another answer"

    @rule()
    def count_parts(self) -> None:
        parts = sum(half not in self.model or half - 0.5 not in self.model for half in self.model)
        assert sum(not part.empty for part in self.interval) == parts, "another number of parts"


def reproduce() -> None:
    whole = portion.Interval(portion.open(1, 2), portion.open(2, 4), portion.closed(2, 3))
    assert len(whole) == 1, whole

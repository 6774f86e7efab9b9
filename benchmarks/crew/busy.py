"""A machine whose rules do twenty microseconds of work each: by a number of turns, so that each does the same work."""

import time

from hypothesis import strategies as st

from crew.labour import TURNS_FIRST, Labour
from ordeal import ChaosTest, rule

WORK_S = 20e-6
TRIES = 25


def turns_of(seconds: float) -> int:
    """How many turns take so long on this machine when nobody disturbs it."""
    labour = Labour()
    turns = TURNS_FIRST * 100
    best = min(_cpu_s(labour, turns) for _ in range(TRIES))
    return max(1, round(turns * seconds / best))


def _cpu_s(labour: Labour, turns: int) -> float:
    started = time.process_time()
    labour.work(turns, 1)
    return time.process_time() - started


class Busy(ChaosTest):
    """Three rules that work for ``turns`` turns each."""

    turns = TURNS_FIRST

    def __init__(self) -> None:
        super().__init__()
        self.labour = Labour()
        self.last = 1

    @rule(start=st.integers(0, 1000))
    def work(self, start: int) -> None:
        self.last = self.labour.work(self.turns, start)

    @rule()
    def go_on(self) -> None:
        self.last = self.labour.work(self.turns, self.last)

    @rule(start=st.integers(0, 1000))
    def work_twice_as_often(self, start: int) -> None:
        self.last = self.labour.work(self.turns // 2, start)
        self.last = self.labour.work(self.turns - self.turns // 2, self.last)

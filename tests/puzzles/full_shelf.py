"""Puzzle for swarm: a shelf breaks when it is full, which it never is while somebody takes from it."""

from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

STRENGTH = 16


class FullShelf(ChaosTest):
    """One rule fills, five rules empty; no branch shows how full the shelf is."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes = 0

    @rule()
    def put(self) -> None:
        self.boxes += 1
        assert self.boxes < STRENGTH, "the shelf broke"

    @rule()
    def sell(self) -> None:
        self.boxes = 0

    @rule()
    def lend(self) -> None:
        self.boxes = 0

    @rule()
    def recall(self) -> None:
        self.boxes = 0

    @rule()
    def expire(self) -> None:
        self.boxes = 0

    @rule()
    def clean(self) -> None:
        self.boxes = 0

"""Puzzle for weights: a desk breaks under many papers in a row, but only after everything else was done to it too."""

from typing import ClassVar

from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest

STRENGTH = 13


class BusyDesk(ChaosTest):
    """No rule may be left out, and one of them must come far more often than the others."""

    swarm: ClassVar[bool | str] = "sizes"

    def __init__(self) -> None:
        super().__init__()
        self.papers = 0
        self.done: set[str] = set()

    @rule()
    def put(self) -> None:
        self.papers += 1
        assert self.papers < STRENGTH or len(self.done) < 2, "the desk broke"

    @rule()
    def clear(self) -> None:
        self.papers = 0
        self.done.add("clear")

    @rule()
    def file(self) -> None:
        self.papers = 0
        self.done.add("file")


class EvenDesk(BusyDesk):
    """The same, with rules that are all alike."""

    swarm = False


class SharedDesk(BusyDesk):
    """The same, with rules that are left out, but alike."""

    swarm = "hypothesis"

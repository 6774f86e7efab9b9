"""Machines of which one invariant shows what several rules do."""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault

from .machines import switch


class Turned(RuleBasedStateMachine):
    """Two mistakes behind one assertion: turning over forgets long rows, and moving on goes the wrong way."""

    def __init__(self) -> None:
        super().__init__()
        self.row: list[int] = []
        self.model: list[int] = []

    @rule(x=st.integers(0, 9))
    def append(self, x: int) -> None:
        self.row.append(x)
        self.model.append(x)

    @rule()
    def turn(self) -> None:
        self.model.reverse()
        if len(self.row) < 4:
            self.row.reverse()

    @rule(by=st.integers(1, 3))
    def move(self, by: int) -> None:
        self.model = self.model[by:] + self.model[:by]
        self.row = self.row[-by:] + self.row[:-by]

    @invariant()
    def is_alike(self) -> None:
        assert self.row == self.model


class BothSides(RuleBasedStateMachine):
    """One mistake, which shows after whichever of two rules comes second."""

    def __init__(self) -> None:
        super().__init__()
        self.sides: set[str] = set()

    @rule()
    def left(self) -> None:
        self.sides.add("left")

    @rule()
    def right(self) -> None:
        self.sides.add("right")

    @rule()
    def rest(self) -> None: ...

    @invariant()
    def has_one_side(self) -> None:
        assert len(self.sides) < 2


def _filling(number: int) -> object:
    def fill(self: Full, by: int) -> None:
        self.total += by

    fill.__name__ = fill.__qualname__ = f"fill_{number}"
    return rule(by=st.integers(0, 3))(fill)


class Full(RuleBasedStateMachine):
    """One mistake, which shows after whichever of twelve rules comes last."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    for _number in range(12):
        locals()[f"fill_{_number}"] = _filling(_number)

    @invariant()
    def has_room(self) -> None:
        assert self.total < 10


class BrokenByFault(ChaosTest):
    """An invariant that a fault breaks, whatever the rules do."""

    faults: ClassVar[list[Fault]] = [switch("one(a)")]

    @rule()
    def rest(self) -> None: ...

    @invariant()
    def holds_without_faults(self) -> None:
        assert not self.faults[0].active


class WaitsForCalm(ChaosTest):
    """Its invariant waits until no fault is on, and one of the two is needed."""

    faults: ClassVar[list[Fault]] = [switch("one(a)"), switch("other(b)")]

    def __init__(self) -> None:
        super().__init__()
        self.lost = False

    @rule()
    def lose(self) -> None:
        self.lost = self.lost or self.faults[0].active

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.active_faults or not self.lost

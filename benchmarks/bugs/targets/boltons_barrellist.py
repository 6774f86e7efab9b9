"""boltons 25.0.0: a barrel list that consists of several parts cannot be sorted.

Changelog of 26.0.0: "Fixed ``listutils.BarrelList`` ``sort()`` with multiple internal lists". A part is cut in two when
an item is inserted into one that is too long. The parts are made small here, or it would take thousands of items.

26.0.0 has another bug, which the Explorer found: in a list of several parts, what is inserted behind the last item does
not come to stand there. So nothing is inserted there.
"""

from boltons.listutils import BarrelList
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

PLACES = 64
LONG_PART = 8


class SmallBarrelList(BarrelList):  # type: ignore[misc]  # The library has no types here.
    """A list whose parts hold a few dozen items."""

    _size_factor = LONG_PART


class Machine(RuleBasedStateMachine):
    """A barrel list beside a plain one."""

    def __init__(self) -> None:
        super().__init__()
        self.barrel = SmallBarrelList()
        self.plain: list[int] = []

    @rule(items=st.lists(st.integers(0, 999), max_size=12))
    def extend(self, items: list[int]) -> None:
        self.barrel.extend(items)
        self.plain.extend(items)

    @rule(place=st.integers(0, PLACES - 1), item=st.integers(0, 999))
    def insert(self, place: int, item: int) -> None:
        place = within(place, max(1, len(self.plain)))
        self.barrel.insert(place, item)
        self.plain.insert(place, item)

    @rule(place=st.integers(0, PLACES - 1))
    def pop(self, place: int) -> None:
        if self.plain:
            place = within(place, len(self.plain))
            assert self.barrel.pop(place) == self.plain.pop(place), "another item came out"

    @rule()
    def clear(self) -> None:
        self.barrel = SmallBarrelList()
        self.plain.clear()

    @rule()
    def sort(self) -> None:
        self.barrel.sort()
        self.plain.sort()
        assert list(self.barrel) == self.plain, "the order differs"


def reproduce() -> None:
    barrel = SmallBarrelList(range(100, 0, -1))
    barrel.insert(1, 5)
    barrel.sort()
    assert list(barrel) == sorted([*range(1, 101), 5])

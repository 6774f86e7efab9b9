"""zict 2.0.0: when a value cannot be moved to the slow store, it is in neither store afterwards.

Changelog of 2.1.0: "LRU and Buffer now deal with exceptions raised by the callbacks - namely, OSError raised when the
disk is full".
"""

from collections import UserDict
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from zict import Buffer

from bugs.ranges import within

KEYS = 10
FAST = 6

keys = st.integers(0, KEYS - 1)


class Disk(UserDict[int, int]):
    """A slow store that may be full."""

    is_full = False

    def __setitem__(self, key: int, value: int) -> None:
        if Disk.is_full:
            raise OSError("no space left")
        super().__setitem__(key, value)


def fill() -> None:
    Disk.is_full = True


def empty() -> None:
    Disk.is_full = False


FAULTS: list[tuple[str, Callable[[], object], Callable[[], object]]] = [("disk_full", fill, empty)]


class Machine(RuleBasedStateMachine):
    """A buffer over a disk beside a dictionary; a write that is refused may be there or not, all others must."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = Buffer({}, Disk(), FAST)
        self.model: dict[int, int] = {}

    @rule(key=keys, value=st.integers(0, 99))
    def write(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        self.model.pop(key, None)
        try:
            self.buffer[key] = value
        except OSError:
            return
        self.model[key] = value

    @rule(key=keys)
    def read(self, key: int) -> None:
        key = within(key, KEYS)
        if key not in self.model:
            return
        try:
            value = self.buffer[key]
        except OSError:
            return
        assert value == self.model[key], "another value than was written"

    @rule(key=keys)
    def delete(self, key: int) -> None:
        key = within(key, KEYS)
        if key in self.model:
            del self.buffer[key]
            del self.model[key]


def reproduce() -> None:
    machine = Machine()
    for key in range(FAST):
        machine.write(key=key, value=key)
    fill()
    try:
        machine.write(key=FAST, value=FAST)
    finally:
        empty()
    for key in range(FAST):
        machine.read(key=key)

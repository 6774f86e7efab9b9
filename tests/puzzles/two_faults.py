"""Puzzle for fault toggles: a value is lost only if both disks of a mirror fail while it is written."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, io


class Disk:
    """One half of the mirror."""

    def __init__(self) -> None:
        self.blocks: dict[int, int] = {}


class LeftDisk(Disk):
    """The half that is read first."""

    def write(self, block: int, value: int) -> None:
        """Store one block."""
        self.blocks[block] = value


class RightDisk(Disk):
    """The other half."""

    def write(self, block: int, value: int) -> None:
        """Store one block."""
        self.blocks[block] = value


class TwoFaults(ChaosTest):
    """Writes to both disks, and expects one of them to have taken the value."""

    faults: ClassVar[list[Fault]] = [
        io.error_on_call(f"{__name__}.LeftDisk.write"),
        io.error_on_call(f"{__name__}.RightDisk.write"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.disks = (LeftDisk(), RightDisk())

    @rule(block=st.integers(0, 3), value=st.integers(0, 9))
    def write(self, block: int, value: int) -> None:
        failed = 0
        for disk in self.disks:
            try:
                disk.write(block, value)
            except OSError:
                failed += 1
        assert failed < len(self.disks), "both disks refused the value"

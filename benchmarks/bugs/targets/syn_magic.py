"""A code of 32 bits guards the bug; each byte that is right reaches another line.

Chance alone needs some four thousand million calls. One that keeps and changes the arguments that led on needs some
thousand, and one that sees what the code is compared with a few.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within
from bugs.synthetic.device import Device

CODES = 2**32
BLOCKS = 8


class Machine(RuleBasedStateMachine):
    """One user of the device."""

    def __init__(self) -> None:
        super().__init__()
        self.device = Device()

    @rule()
    def arm(self) -> None:
        self.device.arm()

    @rule()
    def disarm(self) -> None:
        self.device.disarm()

    @rule(code=st.integers(0, CODES - 1))
    def unlock(self, code: int) -> None:
        self.device.unlock(within(code, CODES))

    @rule(block=st.integers(0, BLOCKS - 1))
    def write(self, block: int) -> None:
        self.device.write(within(block, BLOCKS))

    @invariant()
    def is_kept(self) -> None:
        assert not self.device.wiped, "the device is wiped"


def reproduce() -> None:
    machine = Machine()
    machine.arm()
    # Not as one number: Hypothesis draws the numbers that it finds in the modules of a project.
    machine.unlock(code=int.from_bytes(bytes.fromhex("d3914eb7"), "little"))
    machine.write(block=0)
    machine.is_kept()

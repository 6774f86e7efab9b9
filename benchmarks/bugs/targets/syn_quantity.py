"""A counter must become far larger than one run makes it, while a third of all calls set it back.

No line and no comparison tells a count that is nearly there from any other: only the number itself does.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within
from bugs.synthetic.meter import LIMIT, Meter

AMOUNTS = 11


class Machine(RuleBasedStateMachine):
    """One reader of the meter."""

    def __init__(self) -> None:
        super().__init__()
        self.meter = Meter()

    @rule(amount=st.integers(0, AMOUNTS - 1))
    def add(self, amount: int) -> None:
        self.meter.add(within(amount, AMOUNTS))

    @rule()
    def reset(self) -> None:
        self.meter.reset()

    @rule()
    def read(self) -> None:
        assert self.meter.count >= 0

    @invariant()
    def fits(self) -> None:
        assert not self.meter.overflown, "the meter shows too little"


def reproduce() -> None:
    machine = Machine()
    for _ in range(LIMIT // (AMOUNTS - 1)):
        machine.add(amount=AMOUNTS - 1)
    machine.fits()

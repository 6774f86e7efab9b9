"""The argument of a single call must be long: a program that leaves thirty results on a stack, of some that take them.

Chance makes such a program once in many millions. One whose parts are used again is there in some thousand.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within
from bugs.synthetic.calculator import ROOM, Calculator

WORDS = ("push", "drop", "swap", "copy", "add")
VALUES = 10


class Machine(RuleBasedStateMachine):
    """One user of the calculator."""

    def __init__(self) -> None:
        super().__init__()
        self.calculator = Calculator()

    @rule(program=st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, VALUES - 1))))
    def run(self, program: list[tuple[str, int]]) -> None:
        self.calculator.run([(word, within(value, VALUES)) for word, value in program])

    @invariant()
    def is_complete(self) -> None:
        assert not self.calculator.lost, "a result is lost"


def reproduce() -> None:
    machine = Machine()
    machine.run(program=[("push", 0)] * (ROOM + 1))
    machine.is_complete()

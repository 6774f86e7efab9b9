"""A total must come close to one number far from zero, by steps up and down, and be reported there."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within
from bugs.synthetic.budget import Budget

AMOUNTS = 800


class Machine(RuleBasedStateMachine):
    """One account beside a number."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget()
        self.total = 0

    @rule(amount=st.integers(0, AMOUNTS - 1))
    def earn(self, amount: int) -> None:
        amount = within(amount, AMOUNTS)
        self.budget.earn(amount)
        self.total += amount

    @rule(amount=st.integers(0, AMOUNTS - 1))
    def spend(self, amount: int) -> None:
        amount = within(amount, AMOUNTS)
        self.budget.spend(amount)
        if amount <= self.total:
            self.total -= amount

    @rule()
    def report(self) -> None:
        assert self.budget.report() == self.total, "the report is wrong"


def reproduce() -> None:
    machine = Machine()
    for _ in range(27):
        machine.earn(amount=499)
    machine.earn(amount=25)
    machine.report()

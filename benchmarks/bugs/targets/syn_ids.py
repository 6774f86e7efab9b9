"""A transfer that is called back and made again is booked twice: one wide id in five calls, among ids drawn anew."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.ranges import within
from bugs.synthetic.ledger import Ledger

IDS = 2**48
AMOUNTS = 1000

ids = st.integers(0, IDS - 1)


class Machine(RuleBasedStateMachine):
    """Clients without memory beside a book of amounts."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.open: dict[int, int] = {}
        self.done: dict[int, int] = {}

    @rule(transfer=ids, amount=st.integers(1, AMOUNTS))
    def begin(self, transfer: int, amount: int) -> None:
        transfer, amount = within(transfer, IDS), 1 + within(amount - 1, AMOUNTS)
        if self.ledger.begin(transfer, amount):
            self.open[transfer] = amount

    @rule(transfer=ids)
    def confirm(self, transfer: int) -> None:
        transfer = within(transfer, IDS)
        if self.ledger.confirm(transfer):
            self.done[transfer] = self.open.pop(transfer)

    @rule(transfer=ids)
    def recall(self, transfer: int) -> None:
        transfer = within(transfer, IDS)
        if self.ledger.recall(transfer):
            del self.done[transfer]

    @invariant()
    def balances(self) -> None:
        assert self.ledger.balance == sum(self.done.values()), "the balance is not the sum of what was booked"


def reproduce() -> None:
    machine = Machine()
    for _ in range(2):
        machine.begin(transfer=7, amount=5)
        machine.confirm(transfer=7)
        machine.balances()
        machine.recall(transfer=7)

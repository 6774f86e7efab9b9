"""A ledger of transfers, each known by an id that its client chooses out of 2**48."""

from bugs.synthetic import is_repaired


class Ledger:
    """A transfer is begun, confirmed, and may be called back; one that is called back can be begun again."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self.recalled: set[int] = set()
        self.balance = 0

    def begin(self, transfer: int, amount: int) -> bool:
        if transfer in self.open or transfer in self.done:
            return False
        self.open[transfer] = amount
        return True

    def confirm(self, transfer: int) -> bool:
        amount = self.open.pop(transfer, None)
        if amount is None:
            return False
        if transfer in self.recalled and not is_repaired():
            amount += amount  # The planted bug: what was called back once is booked twice.
        self.done[transfer] = amount
        self.balance += amount
        return True

    def recall(self, transfer: int) -> bool:
        amount = self.done.pop(transfer, None)
        if amount is None:
            return False
        self.balance -= amount
        self.recalled.add(transfer)
        return True

"""A budget: incomes and expenses, and a report that is wrong close to one total."""

from bugs.synthetic import is_repaired


class Budget:
    """Amounts are whole; the account cannot be overdrawn."""

    def __init__(self) -> None:
        self.total = 0

    def earn(self, amount: int) -> None:
        self.total += amount

    def spend(self, amount: int) -> None:
        if amount <= self.total:
            self.total -= amount

    def report(self) -> int:
        thousand = self.total // 1000
        rest = self.total - thousand * 1000
        if thousand == 13 and 497 <= rest < 500 and not is_repaired():
            return thousand * 1000
        return thousand * 1000 + rest

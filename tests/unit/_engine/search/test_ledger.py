"""What a search buys with a tenth of what it has spent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ordeal._engine.search.ledger import SHARE, Ledger
from ordeal._engine.storage.state_file import SavedAids


class Pieces:
    """An aid whose pieces have these prices; None while it has nothing to offer."""

    def __init__(self, *prices: int | None) -> None:
        self.left = list(prices)
        self.bought: list[int] = []

    def price(self) -> int | None:
        if self.left and self.left[0] is None:
            return self.left.pop(0)
        return self.left[0] if self.left else None

    def buy(self) -> int:
        price = self.left.pop(0)
        assert price is not None
        self.bought.append(price)
        return price


def ledger_of(*aids: Pieces) -> Ledger:
    progress: Any = SimpleNamespace(aids=SavedAids())
    return Ledger(dict(zip("ab", aids, strict=False)), progress)


def test_all_aids_together_take_a_share() -> None:
    one, other = Pieces(*[30] * 50), Pieces(*[70] * 50)
    ledger = ledger_of(one, other)
    for spent in range(0, 10_000, 100):
        ledger.spend(spent)
        assert sum(one.bought) + sum(other.bought) <= spent / SHARE
    assert 300 <= sum(other.bought) <= sum(one.bought) + 70

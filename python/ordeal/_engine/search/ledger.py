"""Buys what helps a search to find more: aids, piece by piece, for a small share of what the search has spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ordeal._engine.search.state import SearchProgress

#: All aids together take at most one step in this many.
SHARE = 10
#: What things cost, in events of the monitor, so that no clock decides: an event and the code before it take about half
#: a microsecond, a step takes 5 besides the program.
STEP = 10


class Aid(Protocol):
    """Something that helps a search, and costs something."""

    def price(self) -> int | None:
        """Return about what the next piece costs; None if there is nothing to buy now."""

    def buy(self) -> int:
        """Do the piece whose price was asked; return what it cost."""


class Ledger:
    """Spends a share of what a search has spent on ``aids``: next on the one that has had the least so far.

    What they have cost is in ``progress``, as a saved state holds it.
    """

    def __init__(self, aids: Mapping[str, Aid], progress: SearchProgress) -> None:
        self._aids = aids
        self._progress = progress

    def spend(self, spent: int) -> None:
        """Buy what can be afforded now that the search itself has ``spent`` so much."""
        paid = self._progress.aids.paid
        while (left := spent // SHARE - sum(paid.values())) > 0:
            offers = [
                (paid.get(name, 0) + price, price, name)
                for name, aid in self._aids.items()
                if (price := aid.price()) is not None
            ]
            if not offers or min(offers)[1] > left:
                return
            name = min(offers)[2]
            paid[name] = paid.get(name, 0) + self._aids[name].buy()

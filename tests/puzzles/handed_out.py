"""Puzzle for bundles: only a ticket that was handed out opens the door, and nobody guesses one."""

import hashlib

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, rule

from ordeal.chaos import ChaosTest


class Theatre:
    """Sells tickets, and forgets to tear one that is shown a second time after the break."""

    def __init__(self) -> None:
        self.tickets: dict[int, int] = {}

    def sell(self) -> int:
        """Return the number of a new ticket, which looks random and is not."""
        ticket = int.from_bytes(hashlib.sha256(bytes([len(self.tickets)])).digest()[:8])
        self.tickets[ticket] = 0
        return ticket

    def admit(self, ticket: int) -> None:
        """Let a guest in who shows a ticket."""
        if ticket in self.tickets:
            self.tickets[ticket] += 1
            assert self.tickets[ticket] < 3, "three guests came with one ticket"


class HandedOut(ChaosTest):
    """Guests show tickets that were sold to somebody."""

    sold = Bundle("sold")

    def __init__(self) -> None:
        super().__init__()
        self.theatre = Theatre()

    @rule(target=sold)
    def sell(self) -> int:
        return self.theatre.sell()

    @rule(ticket=sold)
    def admit(self, ticket: int) -> None:
        self.theatre.admit(ticket)


class Guessed(ChaosTest):
    """Guests show any number."""

    def __init__(self) -> None:
        super().__init__()
        self.theatre = Theatre()

    @rule()
    def sell(self) -> None:
        self.theatre.sell()

    @rule(ticket=st.integers(0, 2**64 - 1))
    def admit(self, ticket: int) -> None:
        self.theatre.admit(ticket)

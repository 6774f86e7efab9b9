"""The books: double entry over an append-only journal."""

from collections import Counter, deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Posting:
    """One movement between two accounts. The reference makes it unique."""

    reference: str
    debit: str
    credit: str
    cents: int


class Journal:
    """The file of postings."""

    def __init__(self) -> None:
        self.postings: list[Posting] = []

    def append(self, posting: Posting) -> None:
        """Write one posting through to the disk.

        Raises:
            OSError: the disk did not take it; nothing was written.
        """
        self.postings.append(posting)


class Ledger:
    """Posts each reference once and knows the balance of each account.

    A disk that fails stops no customer: what could not be written is written with the next posting.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._unwritten: deque[Posting] = deque()
        self._balances: Counter[str] = Counter()
        self._references: set[str] = set()

    def post(self, posting: Posting) -> None:
        """Book a movement; a reference that is booked already is left as it is."""
        if posting.reference in self._references:
            return
        self._references.add(posting.reference)
        self._unwritten.append(posting)
        self._write()
        self._balances[posting.debit] += posting.cents
        self._balances[posting.credit] -= posting.cents

    def balance(self, account: str) -> int:
        """Return debits minus credits, in cents."""
        return self._balances[account]

    def _write(self) -> None:
        while self._unwritten:
            try:
                self._journal.append(self._unwritten[0])
            except OSError:
                return
            self._unwritten.popleft()

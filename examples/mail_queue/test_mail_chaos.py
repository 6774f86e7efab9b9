"""Sends messages, deals with them, and compares the account with what was sent."""

from hypothesis import strategies as st
from mail_queue import Account, MailQueue

from ordeal import ChaosTest, invariant, rule


class MailChaos(ChaosTest):
    """The account never has more than was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = MailQueue()
        self.account = Account()
        self.sent = 0

    @rule(cents=st.integers(1, 100))
    def send(self, cents: int) -> None:
        self.queue.send(cents)
        self.sent += cents

    @rule()
    def work(self) -> None:
        self.account.work(self.queue)

    @invariant()
    def nothing_is_booked_twice(self) -> None:
        assert self.account.cents <= self.sent, f"{self.account.cents} of {self.sent} cents"


TestMail = MailChaos.TestCase

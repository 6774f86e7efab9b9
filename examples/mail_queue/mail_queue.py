"""A queue of messages that are delivered at least once, and an account that is booked from them."""

from collections import deque
from dataclasses import dataclass

from ordeal import buggify


@dataclass(frozen=True)
class Message:
    """A payment of some cents into the account."""

    number: int
    cents: int


class MailQueue:
    """Keeps each message until it is acknowledged."""

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque()
        self._sent = 0

    def send(self, cents: int) -> None:
        """Add a message."""
        self._sent += 1
        self._waiting.append(Message(self._sent, cents))

    def receive(self) -> Message | None:
        """The next message; it stays until it is acknowledged."""
        return self._waiting[0] if self._waiting else None

    def acknowledge(self, message: Message) -> None:
        """The message was dealt with. Networks being what they are, this may get lost, and then it comes again."""
        if buggify():
            return
        self._waiting.remove(message)


class Account:
    """The balance: the sum of the messages that were handled."""

    def __init__(self) -> None:
        self.cents = 0

    def work(self, queue: MailQueue) -> None:
        """Deal with the next message."""
        message = queue.receive()
        if message is not None:
            self.cents += message.cents  # the planted bug: a message that comes again is booked again
            queue.acknowledge(message)

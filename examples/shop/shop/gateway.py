"""The card acquirer, as the shop sees it: money moves here, over a network that may lose either direction."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Receipt:
    """The acquirer's word that it moved money, under the reference the shop gave."""

    reference: str
    cents: int


class CardGateway:
    """An acquirer with two kinds of movement.

    A capture settles one authorisation, so the acquirer itself makes a repeated capture harmless. A refund is a
    separate payment: an order may rightly be refunded in parts, so each request that arrives is carried out.
    """

    def __init__(self) -> None:
        self.authorised: dict[str, int] = {}
        self.captured: dict[str, int] = {}
        self.refunded: Counter[str] = Counter()
        self._receipts: dict[str, Receipt] = {}

    def authorise(self, order_id: str, cents: int) -> None:
        """Reserve money on the card; asking again replaces the reservation.

        Raises:
            TimeoutError: the request or the answer was lost; in the second case the money is reserved.
        """
        receipt = self.submit(Receipt(f"authorise:{order_id}", cents))
        self.authorised[order_id] = cents
        self.await_answer(receipt)

    def capture(self, order_id: str, cents: int) -> Receipt:
        """Collect the authorised money, once per order.

        Raises:
            TimeoutError: the request or the answer was lost; in the second case the money was collected.
        """
        receipt = self.submit(Receipt(f"capture:{order_id}", cents))
        self.captured.setdefault(order_id, cents)
        return self.await_answer(receipt)

    def refund(self, order_id: str, cents: int) -> Receipt:
        """Send money back to the card, every time it is asked to.

        Raises:
            TimeoutError: the request or the answer was lost; in the second case the money was sent.
        """
        receipt = self.submit(Receipt(f"refund:{order_id}", cents))
        self.refunded[order_id] += cents
        self._receipts[receipt.reference] = receipt
        return self.await_answer(receipt)

    def look_up(self, reference: str) -> Receipt | None:
        """Return the receipt of a refund that was carried out, or None.

        Raises:
            TimeoutError: the acquirer's reporting service did not answer.
        """
        return self._receipts.get(reference)

    def submit(self, request: Receipt) -> Receipt:
        """Carry a request to the acquirer."""
        return request

    def await_answer(self, receipt: Receipt) -> Receipt:
        """Carry the acquirer's answer back."""
        return receipt

"""Payments: the acquirer's calls with retries, so that an order sees either a receipt or `PaymentPending`."""

from collections.abc import Callable

from shop.errors import PaymentPending
from shop.gateway import CardGateway, Receipt

ATTEMPTS = 3


class Payments:
    """Retries what may be repeated; looks up what may not."""

    def __init__(self, gateway: CardGateway) -> None:
        self._gateway = gateway

    def authorise(self, order_id: str, cents: int) -> None:
        """Reserve money on the customer's card.

        Raises:
            PaymentPending: no attempt was answered.
        """
        self._retry(lambda: self._gateway.authorise(order_id, cents))

    def capture(self, order_id: str, cents: int) -> Receipt:
        """Collect the money of an order that is about to leave.

        Raises:
            PaymentPending: no attempt was answered.
        """
        return self._retry(lambda: self._gateway.capture(order_id, cents))

    def refund(self, order_id: str, cents: int) -> Receipt:
        """Send the money of an order back, unless an earlier attempt did.

        Raises:
            PaymentPending: no attempt was answered.
        """
        return self._retry(lambda: self._earlier_refund(order_id) or self._gateway.refund(order_id, cents))

    def _earlier_refund(self, order_id: str) -> Receipt | None:
        try:
            return self._gateway.look_up(f"refund:{order_id}")
        except TimeoutError:
            return None

    def _retry[T](self, call: Callable[[], T]) -> T:
        for _ in range(ATTEMPTS):
            try:
                return call()
            except TimeoutError:
                continue
        raise PaymentPending(f"no answer after {ATTEMPTS} attempts")

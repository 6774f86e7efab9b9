"""Orders, from the basket to the refund: the one place that knows which step may follow which."""

from dataclasses import dataclass
from enum import Enum

from shop.cache import IdempotencyCache
from shop.errors import WrongStatus
from shop.gateway import Receipt
from shop.inventory import Inventory
from shop.ledger import Ledger, Posting
from shop.payments import Payments


class Status(Enum):
    """Where an order is.

    `SHIPPING` lasts from the first attempt to collect the money until the parcel has left. `RETURNING` is a parcel on
    its way back, `RECEIVED` one that nobody has opened yet, `INSPECTED` one whose refund is due.
    """

    PLACED = "placed"
    AUTHORISED = "authorised"
    SHIPPING = "shipping"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    RETURNING = "returning"
    RECEIVED = "received"
    INSPECTED = "inspected"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"


OPEN = frozenset({Status.PLACED, Status.AUTHORISED})
PROMISED = OPEN | {Status.SHIPPING}
SOLD = frozenset({Status.SHIPPED, Status.DELIVERED, Status.RETURNING, Status.RECEIVED, Status.INSPECTED})


@dataclass
class Order:
    """One article, some units of it, and a price in cents."""

    id: str
    sku: str
    units: int
    unit_cents: int
    status: Status = Status.PLACED
    refund: Receipt | None = None

    @property
    def cents(self) -> int:
        """What the customer pays in all."""
        return self.units * self.unit_cents

    def require(self, *allowed: Status) -> None:
        """Raise `WrongStatus` unless the order is in one of these."""
        if self.status not in allowed:
            raise WrongStatus(f"order {self.id} is {self.status.value}")


class OrderService:
    """The steps of an order. Each may raise `ShopError` and may then be called again."""

    def __init__(self, *, stock: Inventory, payments: Payments, ledger: Ledger, seen: IdempotencyCache) -> None:
        self.orders: dict[str, Order] = {}
        self.mails: list[str] = []
        self._stock = stock
        self._payments = payments
        self._ledger = ledger
        self._seen = seen

    def place(self, sku: str, units: int, unit_cents: int) -> str:
        """Reserve the units and open an order; return its id."""
        self._stock.reserve(sku, units)
        order = Order(f"A{len(self.orders) + 1}", sku, units, unit_cents)
        self.orders[order.id] = order
        return order.id

    def amend(self, order_id: str, units: int) -> None:
        """Change the number of units. The new amount has to be authorised."""
        order = self.orders[order_id]
        order.require(*OPEN)
        self._stock.release(order.sku, order.units)
        self._stock.reserve(order.sku, units)
        order.units = units
        order.status = Status.PLACED

    def cancel(self, order_id: str) -> None:
        """Give the units back. An authorisation lapses by itself."""
        order = self.orders[order_id]
        order.require(*OPEN)
        self._stock.release(order.sku, order.units)
        order.status = Status.CANCELLED

    def authorise(self, order_id: str) -> None:
        """Have the money reserved on the card, and thank the customer at the first attempt."""
        order = self.orders[order_id]
        order.require(Status.PLACED)
        operation = f"thank:{order.id}"
        if self._seen.begin(operation):
            self.mails.append(f"Thank you for order {order.id}")
        self._payments.authorise(order.id, order.cents)
        self._seen.finish(operation)
        order.status = Status.AUTHORISED

    def ship(self, order_id: str) -> None:
        """Collect the money and hand the parcel to the carrier."""
        order = self.orders[order_id]
        order.require(Status.AUTHORISED, Status.SHIPPING)
        order.status = Status.SHIPPING
        receipt = self._payments.capture(order.id, order.cents)
        self._ledger.post(Posting(receipt.reference, "cash", "sales", receipt.cents))
        self._stock.hand_over(order.sku, order.units)
        order.status = Status.SHIPPED

    def deliver(self, order_id: str) -> None:
        """Note the carrier's word that the parcel arrived."""
        order = self.orders[order_id]
        order.require(Status.SHIPPED)
        order.status = Status.DELIVERED

    def request_return(self, order_id: str) -> None:
        """Send the customer a return label."""
        order = self.orders[order_id]
        order.require(Status.DELIVERED)
        order.status = Status.RETURNING

    def receive_return(self, order_id: str) -> None:
        """Note that the parcel came back to the warehouse."""
        order = self.orders[order_id]
        order.require(Status.RETURNING)
        order.status = Status.RECEIVED

    def inspect_return(self, order_id: str) -> None:
        """Note that the goods are complete and as good as new."""
        order = self.orders[order_id]
        order.require(Status.RECEIVED)
        order.status = Status.INSPECTED

    def settle_return(self, order_id: str) -> None:
        """Put the goods back on the shelf and the money back on the card."""
        order = self.orders[order_id]
        order.require(Status.INSPECTED)
        operation = f"settle:{order.id}"
        if self._seen.begin(operation):
            self._stock.put_back(order.sku, order.units)
        if order.refund is None:
            order.refund = self._payments.refund(order.id, order.cents)
        self._ledger.post(Posting(order.refund.reference, "sales", "cash", order.refund.cents))
        self._seen.finish(operation)
        order.status = Status.REFUNDED

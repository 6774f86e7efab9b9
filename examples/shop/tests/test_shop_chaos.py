"""The shop under faults: customers, the warehouse and the network in any order, and what must hold after each step."""

from contextlib import AbstractContextManager, suppress

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, invariant, multiple, precondition, rule
from shop.cache import IdempotencyCache
from shop.errors import OutOfStock, ShopError
from shop.gateway import CardGateway
from shop.inventory import Inventory
from shop.ledger import Journal, Ledger
from shop.orders import PROMISED, SOLD, OrderService, Status
from shop.payments import Payments

from ordeal.chaos import ChaosTest
from ordeal.faults import io, timing

SKUS = ("kettle", "lamp")
LOW_STOCK = 3
COVERED = SOLD | {Status.AUTHORISED, Status.SHIPPING}
GONE = SOLD - {Status.INSPECTED}
# In production it holds ten thousand operations. A small one forgets within a test what a large one does within a day.
CACHE_CAPACITY = 2


def allowed() -> AbstractContextManager[None]:
    """What the shop may answer while faults are active; it has to keep its promises all the same."""
    return suppress(ShopError)


class ShopChaos(ChaosTest):
    """Clerks and customers use one shop while the acquirer's network and the journal's disk fail now and then."""

    faults = [
        timing.timeout("shop.gateway.CardGateway.submit"),
        timing.timeout("shop.gateway.CardGateway.await_answer"),
        timing.timeout("shop.gateway.CardGateway.look_up"),
        io.error_on_call("shop.ledger.Journal.append"),
    ]

    placed = Bundle("placed")

    def __init__(self) -> None:
        super().__init__()
        self.stock = Inventory()
        self.gateway = CardGateway()
        self.ledger = Ledger(Journal())
        self.shop = OrderService(
            stock=self.stock,
            payments=Payments(self.gateway),
            ledger=self.ledger,
            seen=IdempotencyCache(capacity=CACHE_CAPACITY),
        )
        self.supplied = dict.fromkeys(SKUS, 0)

    @initialize(units=st.integers(5, 30))
    def open_shop(self, units: int) -> None:
        for sku in SKUS:
            self.restock(sku, units)

    @precondition(lambda self: any(self.stock.available(sku) <= LOW_STOCK for sku in SKUS))
    @rule(sku=st.sampled_from(SKUS), units=st.integers(1, 20))
    def restock(self, sku: str, units: int) -> None:
        self.stock.receive(sku, units)
        self.supplied[sku] += units

    @rule(target=placed, sku=st.sampled_from(SKUS), units=st.integers(1, 3), unit_cents=st.integers(1, 50_000))
    def place(self, sku: str, units: int, unit_cents: int) -> str | MultipleResults[str]:
        try:
            return self.shop.place(sku, units, unit_cents)
        except OutOfStock:
            return multiple()

    @rule(order=placed, units=st.integers(1, 20))
    def amend(self, order: str, units: int) -> None:
        with allowed():
            self.shop.amend(order, units)

    @rule(order=placed)
    def cancel(self, order: str) -> None:
        with allowed():
            self.shop.cancel(order)

    @rule(order=placed)
    def authorise(self, order: str) -> None:
        with allowed():
            self.shop.authorise(order)

    @rule(order=placed)
    def ship(self, order: str) -> None:
        with allowed():
            self.shop.ship(order)

    @rule(order=placed)
    def deliver(self, order: str) -> None:
        with allowed():
            self.shop.deliver(order)

    @rule(order=placed)
    def request_return(self, order: str) -> None:
        with allowed():
            self.shop.request_return(order)

    @rule(order=placed)
    def receive_return(self, order: str) -> None:
        with allowed():
            self.shop.receive_return(order)

    @rule(order=placed)
    def inspect_return(self, order: str) -> None:
        with allowed():
            self.shop.inspect_return(order)

    @rule(order=placed)
    def settle_return(self, order: str) -> None:
        with allowed():
            self.shop.settle_return(order)

    @invariant()
    def authorisations_cover_orders(self) -> None:
        for order in self.shop.orders.values():
            if order.status in COVERED:
                assert order.cents <= self.gateway.authorised[order.id], (
                    "an order costs more than the customer approved"
                )

    @invariant()
    def nobody_is_refunded_twice(self) -> None:
        for order, cents in self.gateway.refunded.items():
            assert cents <= self.gateway.captured[order], "a customer got more back than was collected"

    @invariant()
    def every_unit_is_somewhere(self) -> None:
        for sku, supplied in self.supplied.items():
            assert self.stock.on_hand[sku] <= supplied - self.units(sku, GONE), (
                "the stock counts units that do not exist"
            )

    @invariant()
    def promises_belong_to_orders(self) -> None:
        for sku in SKUS:
            assert self.stock.reserved[sku] == self.units(sku, PROMISED), "promised units and open orders disagree"

    @invariant()
    def promises_can_be_kept(self) -> None:
        for sku in SKUS:
            assert self.stock.reserved[sku] <= self.stock.on_hand[sku], "more units are promised than there are"

    @invariant()
    def ledger_agrees_with_orders(self) -> None:
        sold = sum(order.cents for order in self.shop.orders.values() if order.status in SOLD)
        assert self.ledger.balance("cash") == sold, "the ledger and the orders disagree"

    def units(self, sku: str, statuses: frozenset[Status]) -> int:
        return sum(order.units for order in self.shop.orders.values() if order.sku == sku and order.status in statuses)


TestShopChaos = ShopChaos.TestCase

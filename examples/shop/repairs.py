"""The three repairs of the README as patches, so that each bug can be looked for without the others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from shop.cache import IdempotencyCache
from shop.gateway import Receipt
from shop.orders import OPEN, OrderService, Status
from shop.payments import Payments


def amend(self: OrderService, order_id: str, units: int) -> None:
    """Amend an order in one movement of stock, which happens or does not."""
    order = self.orders[order_id]
    order.require(*OPEN)
    self._stock.reserve(order.sku, units - order.units)
    order.units = units
    order.status = Status.PLACED


def earlier_refund(self: Payments, order_id: str) -> Receipt | None:
    """Look an earlier refund up; a missing answer does not mean no."""
    return self._gateway.look_up(f"refund:{order_id}")


def forget_one(self: IdempotencyCache) -> None:
    """Forget a finished operation; what is in flight stays, even beyond the capacity."""
    for operation, finished in self._finished.items():
        if finished:
            del self._finished[operation]
            return


REPAIRS: dict[str, tuple[type, str, Callable[..., object]]] = {
    "a": (OrderService, "amend", amend),
    "b": (Payments, "_earlier_refund", earlier_refund),
    "c": (IdempotencyCache, "_forget_one", forget_one),
}


@contextmanager
def repaired(bugs: Iterable[str]) -> Iterator[None]:
    """Run the block with these bugs (letters of the README) repaired."""
    with ExitStack() as stack:
        for owner, name, replacement in (REPAIRS[bug] for bug in bugs):
            stack.enter_context(patch.object(owner, name, replacement))
        yield

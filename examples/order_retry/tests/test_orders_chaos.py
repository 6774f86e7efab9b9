"""The client orders over a network that loses requests and cuts responses."""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from orders import Client, NotConfirmed, Server

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, network


class OrdersChaos(ChaosTest):
    """However bad the network is, nothing is ordered twice, and what is confirmed is ordered."""

    faults: ClassVar[list[Fault]] = [
        network.dns_failure("orders.exchange"),
        network.connection_reset("orders.exchange").limited(probability=0.5),
        network.partial_response("orders.exchange").limited(probability=0.5),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.server = Server()
        self.client = Client(self.server)
        self.asked = 0
        self.confirmed: set[int] = set()

    @rule(item=st.sampled_from(["tea", "kettle"]), count=st.integers(1, 9))
    def order(self, item: str, count: int) -> None:
        self.asked += 1
        try:
            self.confirmed.add(self.client.order(item, count))
        except NotConfirmed:
            assert self.active_faults, "the network was well"

    @invariant()
    def nothing_is_ordered_twice(self) -> None:
        assert len(self.server.orders) <= self.asked

    @invariant()
    def what_is_confirmed_is_ordered(self) -> None:
        assert self.confirmed <= set(range(1, len(self.server.orders) + 1))


TestOrders = OrdersChaos.TestCase

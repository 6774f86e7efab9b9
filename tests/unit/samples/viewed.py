"""A machine with something to see in each step, and a failure that needs a fault."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, timing


class Gateway:
    """What the fault acts on."""

    def __init__(self) -> None:
        self.paid: dict[str, int] = {}

    def pay(self, order: str, cents: int) -> str:
        self.paid[order] = self.paid.get(order, 0) + cents
        return self.answer(order)

    def answer(self, order: str) -> str:
        return f"paid {order}"


class Till(ChaosTest):
    faults: ClassVar[list[Fault]] = [timing.timeout("unit.samples.viewed.Gateway.answer")]
    orders = Bundle("orders")

    def __init__(self) -> None:
        super().__init__()
        self.gateway = Gateway()
        self.asked: dict[str, int] = {}

    @rule(target=orders, cents=st.integers(1, 500))
    def open_order(self, cents: int) -> str:
        order = f"A{len(self.asked) + 1}"
        self.asked[order] = cents
        sys.stdout.write(f"<b>order {order}</b>\n")
        return order

    @rule(order=orders)
    def collect(self, order: str) -> None:
        for _ in range(2):
            with suppress(TimeoutError):
                if self.gateway.paid.get(order, 0) < 2 * self.asked[order]:
                    self.gateway.pay(order, self.asked[order])
                    return

    @rule(note=st.text())
    def remark(self, note: Any) -> None:
        """Do nothing of importance."""

    @invariant()
    def nobody_pays_twice(self) -> None:
        for order, cents in self.gateway.paid.items():
            assert cents <= self.asked[order], f"<script>alert('{order}')</script>"

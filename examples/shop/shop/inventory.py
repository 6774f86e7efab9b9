"""Stock: units on the shelves, and how many of them are promised to open orders."""

from collections import Counter

from shop.errors import OutOfStock


class Inventory:
    """Counts per article. `on_hand` is what a clerk would count; `reserved` is the promised part of it."""

    def __init__(self) -> None:
        self.on_hand: Counter[str] = Counter()
        self.reserved: Counter[str] = Counter()

    def available(self, sku: str) -> int:
        """Return the units that can still be promised."""
        return self.on_hand[sku] - self.reserved[sku]

    def receive(self, sku: str, units: int) -> None:
        """Book units from a supplier onto the shelf."""
        self.on_hand[sku] += units

    def reserve(self, sku: str, units: int) -> None:
        """Promise units to an order; a negative number gives part of a promise back.

        Raises:
            OutOfStock: fewer units are available.
        """
        if units > self.available(sku):
            raise OutOfStock(f"{units} of {sku} asked for, {self.available(sku)} available")
        self.reserved[sku] += units

    def release(self, sku: str, units: int) -> None:
        """Give promised units back."""
        self.reserved[sku] -= units

    def hand_over(self, sku: str, units: int) -> None:
        """Take promised units off the shelf for a parcel."""
        self.reserved[sku] -= units
        self.on_hand[sku] -= units

    def put_back(self, sku: str, units: int) -> None:
        """Put the units of a returned parcel on the shelf again."""
        self.on_hand[sku] += units

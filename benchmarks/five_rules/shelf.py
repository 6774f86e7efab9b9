"""The program under test: numbered boxes on a shelf. Operations of a microsecond or less, with a few branches."""

HEAVY = 50


class Shelf:
    """Boxes by number, with a running total of their weights."""

    def __init__(self) -> None:
        self.weights: dict[int, int] = {}
        self.total = 0
        self.heavy = 0
        self.placed = 0

    def place(self, weight: int) -> int:
        """Put a box down; its number."""
        self.placed += 1
        self.weights[self.placed] = weight
        self._count(weight, 1)
        return self.placed

    def reload(self, box: int, weight: int) -> None:
        """Replace what is in a box, if it is still there."""
        old = self.weights.get(box)
        if old is None:
            return
        self._count(old, -1)
        self._count(weight, 1)
        self.weights[box] = weight

    def look(self, box: int) -> int:
        """The weight of a box, 0 when it is gone."""
        weight = self.weights.get(box, 0)
        if weight > HEAVY:
            return HEAVY
        return weight

    def take(self, box: int) -> int:
        """Remove a box; its weight."""
        weight = self.weights.pop(box, 0)
        if weight:
            self._count(weight, -1)
        return weight

    def clear(self) -> None:
        """Remove all boxes."""
        self.weights.clear()
        self.total = 0
        self.heavy = 0

    def _count(self, weight: int, sign: int) -> None:
        self.total += sign * weight
        if weight > HEAVY:
            self.heavy += sign

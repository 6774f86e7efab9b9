"""A meter that counts up, a part at a time, and is set back now and then."""

from bugs.synthetic import is_repaired

LIMIT = 5_000


class Meter:
    """What it shows fits in as many digits as it has."""

    def __init__(self) -> None:
        self.count = 0
        self.overflown = False

    def add(self, amount: int) -> None:
        self.count += amount
        if self.count >= LIMIT and not is_repaired():
            self.overflown = True

    def reset(self) -> None:
        self.count = 0

"""The program under test of the busy machine: work of a fixed number of turns, which a clock has no say in."""

MODULUS = 65_521
TURNS_FIRST = 200


class Labour:
    """Does work, and remembers a little of it."""

    def __init__(self) -> None:
        self.done = 0
        self.odd = False

    def work(self, turns: int, start: int) -> int:
        """So many turns of plain arithmetic."""
        value = start
        for _ in range(turns):
            value = (value * 31 + 7) % MODULUS
        self.done += 1
        if value % 2:
            self.odd = not self.odd
        return value

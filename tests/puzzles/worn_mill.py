"""Puzzle for repeated parts: four right steps turn a mill; it breaks at the eighth turn, and only the first shows."""

from hypothesis.stateful import rule

from ordeal.chaos import ChaosTest


class Mill:
    """A mill. Any wrong step stops the turn that is under way, and none undoes a turn."""

    def __init__(self) -> None:
        self.at = "rest"
        self.turns = 0

    def step(self, name: str) -> None:
        """Do one thing. How far a turn has come shows as a branch; how often the mill turned does not."""
        match self.at, name:
            case "rest", "load":
                self.at = "loaded"
            case "loaded", "open":
                self.at = "open"
            case "open", "turn":
                self.at = "turned"
            case "turned", "sweep":
                self.at = "rest"
                self.turns += 1
            case _:
                self.at = "rest"


class WornMill(ChaosTest):
    """Without repetition, the eight turns have to come by chance, in one run."""

    def __init__(self) -> None:
        super().__init__()
        self.mill = Mill()

    @rule()
    def load(self) -> None:
        self.mill.step("load")

    @rule()
    def open(self) -> None:
        self.mill.step("open")

    @rule()
    def turn(self) -> None:
        self.mill.step("turn")

    @rule()
    def sweep(self) -> None:
        self.mill.step("sweep")
        assert self.mill.turns < 8, "the mill broke"

"""A launch sequence: switches in a fixed order, and any wrong one starts the count anew."""

from bugs.synthetic import is_repaired

ORDER = (2, 0, 3, 1, 1, 3, 2, 0, 0, 2, 3, 1, 2, 1, 0, 3, 3, 2)


class Launch:
    """It goes off when all switches were thrown in order; each stage that is new runs code of its own."""

    def __init__(self) -> None:
        self.stage = 0
        self.launched = False

    def throw(self, switch: int) -> None:
        if switch != ORDER[self.stage]:
            self.stage = 0
            return
        self.stage += 1
        if self.stage == len(ORDER):
            self.stage = 0
            self.launched = not is_repaired()

"""Puzzle for sizes of bundles: a rack gives way when it is full, and as many hands take from it as put on it."""

from hypothesis.stateful import Bundle, consumes, rule

from ordeal.chaos import ChaosTest

STRENGTH = 44


class Brim(ChaosTest):
    """Hangs up coats and takes them off; no branch shows how many hang there."""

    coats: Bundle[int] = Bundle("coats")

    @rule(target=coats)
    def hang(self) -> int:
        assert len(self.bundle("coats")) < STRENGTH, "the rack gave way"
        return 0

    @rule(coat=consumes(coats))
    def fetch(self, coat: int) -> None:
        pass

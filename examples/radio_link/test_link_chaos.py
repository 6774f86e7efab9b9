"""Sends frames that are acknowledged at once while one frame waits."""

from hypothesis import strategies as st
from link import Link

from ordeal import ChaosTest, rule


class LinkChaos(ChaosTest):
    """The first frame is never acknowledged, so it must be kept whatever is sent after it."""

    def __init__(self) -> None:
        super().__init__()
        self.link = Link()
        self.first = self.link.send("first")

    @rule(frames=st.integers(1, 3))
    def talk(self, frames: int) -> None:
        for _ in range(frames):
            number = self.link.send("later")
            assert number != self.first, "a number is used again while its frame waits"
            self.link.acknowledge(number)


TestLink = LinkChaos.TestCase

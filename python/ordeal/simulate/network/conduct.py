"""What a link does to what is sent on it, where the test has said it: which share is lost, doubled and reordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ordeal.simulate.runtime.decisions import DATAGRAM, PACKET, name_key

#: How finely a share is decided.
_PARTS = 1_000
#: After how long TCP sends again what got lost, in seconds.
RESENT_S = 0.2
#: The sites of the decisions about a datagram, and what happens to it; and about a packet of a stream.
ON_LINKS = {"lost on a link": "is lost", "doubled on a link": "arrives twice", "reordered on a link": "is overtaken"}
SENT_AGAIN = "sent again"
_LOST, _DOUBLED, _REORDERED = map(name_key, ON_LINKS)
_SENT_AGAIN = name_key(SENT_AGAIN)

#: Decides evenly: the kind, who, where, and the bound.
type DecideEvenly = Callable[[int, int, int, int], int]


@dataclass(frozen=True, slots=True)
class Conduct:
    """Which shares of what is sent on a link are lost, doubled and reordered, at most."""

    loss: float = 0.0
    duplicates: float = 0.0
    reordered: float = 0.0

    def fate(self, decide: DecideEvenly, name: int) -> tuple[int, bool]:
        """Return how often a datagram arrives, and whether others overtake it."""
        if _happens(decide, DATAGRAM, name, _LOST, self.loss):
            return 0, False
        copies = 1 + _happens(decide, DATAGRAM, name, _DOUBLED, self.duplicates)
        return copies, _happens(decide, DATAGRAM, name, _REORDERED, self.reordered)

    def resent_s(self, decide: DecideEvenly, name: int) -> float:
        """Return how much later a packet of a stream arrives, as it got lost and was sent again."""
        return RESENT_S if _happens(decide, PACKET, name, _SENT_AGAIN, self.loss) else 0.0


def _happens(decide: DecideEvenly, kind: int, name: int, site: int, share: float) -> bool:
    return share > 0 and 0 < decide(kind, name, site, _PARTS + 1) <= share * _PARTS

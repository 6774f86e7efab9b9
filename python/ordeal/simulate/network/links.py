"""The links between hosts: which are cut, how slow they are, and which share of what is sent on them is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ordeal.simulate.runtime.decisions import DATAGRAM, PACKET, name_key

#: How finely a share is decided.
_PARTS = 1_000
#: The sites of the decisions about a datagram, and what happens to it; and about a packet of a stream.
ON_LINKS = {"lost on a link": "is lost", "doubled on a link": "arrives twice", "reordered on a link": "is overtaken"}
SENT_AGAIN = "sent again"
_LOST, _DOUBLED, _REORDERED = map(name_key, ON_LINKS)
_SENT_AGAIN = name_key(SENT_AGAIN)

#: Decides evenly: the kind, who, where, and the bound.
type DecideEvenly = Callable[[int, int, int, int], int]


@dataclass(frozen=True, slots=True)
class Conduct:
    """The largest shares of packets on a link that are lost, doubled and reordered."""

    # `ablation_hunt.py --seeds 5 replicated_kv` finds its seven mistakes in 35 of 35 searches with lossy links, and in
    # 28 with the datagrams that any network loses.
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
        # TCP sends again what got lost after 0.2 s.
        return 0.2 if _happens(decide, PACKET, name, _SENT_AGAIN, self.loss) else 0.0


def _happens(decide: DecideEvenly, kind: int, name: int, site: int, share: float) -> bool:
    return share > 0 and 0 < decide(kind, name, site, _PARTS + 1) <= share * _PARTS


#: A link in one direction, by the names of its ends; the test itself is "".
type Link = tuple[str, str]


class Links:
    """The state of the network between nodes. A link that was cut twice is whole only when it was healed twice."""

    def __init__(self) -> None:
        self._cuts: Counter[Link] = Counter()
        self._clogs: dict[str, float] = {}
        self._latencies: dict[Link, float] = {}
        self.conducts: dict[Link, Conduct] = {}
        """What links do to what is sent on them, where the test has said it."""
        self.is_usual = True
        """Whether no packet takes longer than usual, and the test has said nothing of a link."""
        self.has_cuts = False
        """Whether any link may be cut: False for certain is what most packets meet."""

    def is_cut(self, source: str, target: str) -> bool:
        """Return True if nothing that ``source`` sends reaches ``target``."""
        return self._cuts.get((source, target), 0) > 0

    def cut(self, links: Iterable[Link]) -> None:
        """Cut links."""
        self._cuts.update(links)
        self.has_cuts = True

    def heal(self, links: Iterable[Link]) -> None:
        """Undo one cut of each of these links."""
        self._cuts.subtract(links)
        self.has_cuts = any(number > 0 for number in self._cuts.values())

    def heal_all(self) -> None:
        """Undo all cuts, and let no node be slow to reach."""
        self._cuts.clear()
        self._clogs.clear()
        self.has_cuts = False
        self.is_usual = not self._latencies

    def clog(self, name: str, seconds: float) -> None:
        """Delay everything that a node sends or gets by this much; 0 for no delay."""
        self._clogs[name] = seconds
        self.is_usual = False

    def make(self, links: Iterable[Link], latency_s: float, conduct: Conduct | None = None) -> None:
        """Set the latency of links, and which shares of the datagrams on them are lost."""
        self.is_usual = False
        for link in links:
            self._latencies[link] = latency_s
            if conduct is None:
                self.conducts.pop(link, None)
            else:
                self.conducts[link] = conduct

    def delay_s(self, source: str, target: str) -> float:
        """Return how much longer than usual a packet takes that is sent now."""
        clog_s = max(self._clogs.get(source, 0.0), self._clogs.get(target, 0.0))
        return clog_s + self._latencies.get((source, target), 0.0)

    def cuts(self) -> list[Link]:
        """Return the links that are cut, for people."""
        return sorted(link for link, number in self._cuts.items() if number > 0)

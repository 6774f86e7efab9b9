"""What workers found, passed on to the others: in rounds that go the same way each time, or as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class News:
    """What a worker told at one time: new edges, and its finds as bytes."""

    edges: Sequence[int]
    finds: bytes


@dataclass(frozen=True, slots=True)
class Sharing:
    """What workers tell each other."""

    edges: bool
    checkpoints: bool


class Exchange(Protocol):
    """Keeps what workers told, and says what one of them gets to hear when."""

    def told(self, worker: int, news: News, *, last: bool) -> None:
        """``worker`` has told its news and waits for those of others, unless they were its ``last``."""

    def answers(self) -> list[tuple[int, list[News]]]:
        """The workers that need not wait any longer, each with what is for it."""

    def rejoin(self, worker: int) -> None:
        """``worker`` begins anew, in another process that knows what was told until now."""


class AsItComes:
    """Each worker hears at once what the others have told since it heard of them last."""

    def __init__(self, workers: int) -> None:
        self._news: list[tuple[int, News]] = []
        self._heard = [0] * workers
        self._waiting: list[int] = []

    def told(self, worker: int, news: News, *, last: bool) -> None:
        """See ``Exchange``."""
        self._news.append((worker, news))
        if not last:
            self._waiting.append(worker)

    def answers(self) -> list[tuple[int, list[News]]]:
        """See ``Exchange``."""
        waiting, self._waiting = self._waiting, []
        return [(worker, self._for(worker)) for worker in waiting]

    def rejoin(self, worker: int) -> None:
        """See ``Exchange``."""
        self._heard[worker] = len(self._news)
        self._waiting = [each for each in self._waiting if each != worker]

    def _for(self, worker: int) -> list[News]:
        start, self._heard[worker] = self._heard[worker], len(self._news)
        return [news for giver, news in self._news[start:] if giver != worker]


class InRounds:
    """A worker that ends a round hears what the others told in the one before it, in their order.

    So what it hears depends on no clock, and it waits for a worker only that is more than a round behind.
    """

    def __init__(self, workers: int) -> None:
        self._rounds: list[list[News]] = [[] for _ in range(workers)]
        self._over = [False] * workers
        self._waiting: set[int] = set()

    def told(self, worker: int, news: News, *, last: bool) -> None:
        """See ``Exchange``."""
        self._rounds[worker].append(news)
        self._over[worker] = last
        if not last:
            self._waiting.add(worker)

    def answers(self) -> list[tuple[int, list[News]]]:
        """See ``Exchange``."""
        ready = sorted(worker for worker in self._waiting if self._is_complete_for(worker))
        self._waiting.difference_update(ready)
        return [(worker, self._for(worker)) for worker in ready]

    def rejoin(self, worker: int) -> None:
        """See ``Exchange``. The round that its process did not end, the next one does."""
        self._waiting.discard(worker)

    def heard(self, worker: int) -> list[News]:
        """What ``worker`` has heard until now, for the process that takes its place."""
        rounds = max(0, len(self._rounds[worker]) - 1)
        return [news for other in self._others(worker) for news in self._rounds[other][:rounds]]

    def rounds_of(self, worker: int) -> int:
        """How many rounds ``worker`` has ended."""
        return len(self._rounds[worker])

    def _others(self, worker: int) -> list[int]:
        return [other for other in range(len(self._rounds)) if other != worker]

    def _is_complete_for(self, worker: int) -> bool:
        before = len(self._rounds[worker]) - 1
        return all(self._over[other] or len(self._rounds[other]) >= before for other in self._others(worker))

    def _for(self, worker: int) -> list[News]:
        before = len(self._rounds[worker]) - 2
        if before < 0:
            return []
        others = (self._rounds[other] for other in self._others(worker))
        return [rounds[before] for rounds in others if before < len(rounds)]

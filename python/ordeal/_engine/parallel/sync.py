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

    def __bool__(self) -> bool:
        return bool(self.edges or self.finds)


#: What is left of what all have heard.
NOTHING = News((), b"")


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

    def has_finds_for(self, worker: int) -> bool:
        """Whether ``worker`` would do well to listen soon."""

    def rejoin(self, worker: int) -> None:
        """``worker`` begins anew, in another process that knows what the one before had told and heard."""


class AsItComes:
    """Each worker hears at once what the others have told since it heard of them last.

    Who only tells, and never listens, has a number from ``workers`` on.
    """

    def __init__(self, workers: int) -> None:
        self._for: dict[int, list[News]] = {worker: [] for worker in range(workers)}
        self._waiting: list[int] = []

    def told(self, worker: int, news: News, *, last: bool) -> None:
        """See ``Exchange``."""
        if last:
            self._for.pop(worker, None)  # what nobody will ask for must not pile up
        else:
            self._waiting.append(worker)
        if news:
            for other, waiting in self._for.items():
                if other != worker:
                    waiting.append(news)

    def answers(self) -> list[tuple[int, list[News]]]:
        """See ``Exchange``."""
        waiting, self._waiting = self._waiting, []
        return [(worker, self._taken(worker)) for worker in waiting]

    def has_finds_for(self, worker: int) -> bool:
        """See ``Exchange``."""
        return any(news.finds for news in self._for.get(worker, ()))

    def rejoin(self, worker: int) -> None:
        """See ``Exchange``."""
        self._waiting = [each for each in self._waiting if each != worker]

    def _taken(self, worker: int) -> list[News]:
        news, self._for[worker] = self._for[worker], []
        return news


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
        answers = [(worker, self._for(worker)) for worker in ready]
        self._forget()
        return answers

    def has_finds_for(self, worker: int) -> bool:
        """See ``Exchange``. When it listens is settled."""
        del worker
        return False

    def rejoin(self, worker: int) -> None:
        """See ``Exchange``. The round that its process did not end, the next one does."""
        self._waiting.discard(worker)

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

    def _forget(self) -> None:
        """Keep of the rounds that all have heard their number alone."""
        for worker, rounds in enumerate(self._rounds):
            listening = [other for other in self._others(worker) if not self._over[other]]
            # Who waits has told one more round than it has been answered, and hears one less than it has told.
            ended = (len(self._rounds[other]) - (other in self._waiting) - 1 for other in listening)
            heard = min(max(min(ended, default=len(rounds)), 0), len(rounds))
            rounds[:heard] = [NOTHING] * heard

"""Passes what workers find to the others: in reproducible rounds, or immediately."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

import ordeal._native as _native


class Update(msgspec.Struct, frozen=True):
    """One update from a worker: new edges, and its shared entries as bytes."""

    edges: Sequence[int]
    entries: bytes

    def __bool__(self) -> bool:
        return bool(self.edges or self.entries)


#: Stands for an update that all workers have received.
NOTHING = Update((), b"")


class Sharing(msgspec.Struct, frozen=True):
    """What workers share with each other."""

    edges: bool
    checkpoints: bool


class ImmediateExchange:
    """Each worker receives at once what the others have reported since its last answer.

    A reporter that never receives has a number from ``workers`` on.
    """

    def __init__(self, workers: int) -> None:
        self._for: dict[int, list[Update]] = {worker: [] for worker in range(workers)}
        self._waiting: list[int] = []

    def report(self, worker: int, update: Update, *, last: bool) -> None:
        """Take the ``update`` of ``worker``, which then waits for those of others unless this was its ``last``."""
        if last:
            self._for.pop(worker, None)  # updates that nobody will ask for must not pile up
        else:
            self._waiting.append(worker)
        if update:
            for other, waiting in self._for.items():
                if other != worker:
                    waiting.append(update)

    def answers(self) -> list[tuple[int, list[Update]]]:
        """Return the workers that need not wait any longer, each with the updates that it receives."""
        answers = [(worker, self._for[worker]) for worker in self._waiting]
        self._for.update((worker, []) for worker in self._waiting)
        self._waiting = []
        return answers

    def has_entries_for(self, worker: int) -> bool:
        """Return True if entries of others wait for ``worker``, which may ask for them at once."""
        return any(update.entries for update in self._for.get(worker, ()))

    def rejoin(self, worker: int) -> None:
        """Let a new process continue as ``worker``. It knows what its predecessor sent and received."""
        self._waiting = [each for each in self._waiting if each != worker]
        self._for.setdefault(worker, [])  # its predecessor may have made its last report


class RoundExchange:
    """A worker that ends a round receives what the others reported in the previous round, in order of their numbers.

    So what it receives does not depend on the clock, and it waits only for workers that are more than a round behind.
    """

    def __init__(self, workers: int) -> None:
        self._rounds: list[list[Update]] = [[] for _ in range(workers)]
        self._over = [False] * workers
        self._waiting: set[int] = set()

    def report(self, worker: int, update: Update, *, last: bool) -> None:
        """Take the ``update`` of ``worker``, which then waits for those of others unless this was its ``last``."""
        self._rounds[worker].append(update)
        self._over[worker] = last
        if not last:
            self._waiting.add(worker)

    def answers(self) -> list[tuple[int, list[Update]]]:
        """Return the workers that need not wait any longer, each with the updates that it receives."""
        ready = []
        for worker in sorted(self._waiting):
            before = len(self._rounds[worker]) - 1
            if all(self._over[other] or len(self._rounds[other]) >= before for other in self._others(worker)):
                ready.append(worker)
        self._waiting.difference_update(ready)
        answers = [(worker, self._for(worker)) for worker in ready]
        # Drop the contents of rounds that all workers have received, but keep their count.
        for worker, rounds in enumerate(self._rounds):
            listening = [other for other in self._others(worker) if not self._over[other]]
            # A worker that waits has reported one round more than it was answered, and receives one less.
            ended = (len(self._rounds[other]) - (other in self._waiting) - 1 for other in listening)
            received = min(max(min(ended, default=len(rounds)), 0), len(rounds))
            rounds[:received] = [NOTHING] * received
        return answers

    def has_entries_for(self, worker: int) -> bool:  # noqa: ARG002 - the rounds alone decide
        """Return False: nothing may be asked for before the round is over."""
        return False

    def rejoin(self, worker: int) -> None:
        """Let a new process finish the round that its predecessor as ``worker`` did not."""
        self._waiting.discard(worker)

    def _others(self, worker: int) -> list[int]:
        return [other for other in range(len(self._rounds)) if other != worker]

    def _for(self, worker: int) -> list[Update]:
        before = len(self._rounds[worker]) - 2
        if before < 0:
            return []
        others = (self._rounds[other] for other in self._others(worker))
        return [rounds[before] for rounds in others if before < len(rounds)]


#: Keeps the updates of workers, and decides when a worker receives which of them.
Exchange = ImmediateExchange | RoundExchange

#: How many bytes of entries are kept; the newest are the most useful.
ENTRIES_BYTES_MAX = 4 * 2**20


class KnownCoverage:
    """Grows with each update. A replacement process starts with it."""

    def __init__(self) -> None:
        self.edges: set[int] = set()
        self._entries: deque[bytes] = deque()
        self._bytes = 0

    def add(self, edges: Iterable[int], entries: bytes) -> None:
        """Add new edges, and encoded entries, which may be empty."""
        self.edges.update(edges)
        if entries:
            self._entries.append(entries)
            self._bytes += len(entries)
        while self._bytes > ENTRIES_BYTES_MAX:
            self._bytes -= len(self._entries.popleft())

    def entries(self, names: _native.MachineNames) -> list[_native.SharedEntry]:
        """Return the kept entries, in the order in which they came."""
        return [entry for each in self._entries for entry in _native.decode_entries(each, names)[0]]

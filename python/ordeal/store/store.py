"""A store: what members of one namespace found, shared through a backend that only keeps bytes.

Each member writes its own shard and reads all others. Contents are merged by unions and maxima, so they may arrive
late, twice and in any order; a lost member leaves what it wrote, and no other waits for it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import structs

from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import GRACE_SECONDS, INPUT_BYTES_MAX
from ordeal.store.backend import Backend, UnreachableError, new_token
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.records import (
    Content,
    Entry,
    FailureReport,
    Incoming,
    Outgoing,
    RecordError,
    bucket_text,
    encode,
)
from ordeal.store.shard import CHUNK_SIZE, HEADER, NamespaceReader, framed

#: Limits of the queue: above either, the oldest entries are dropped.
QUEUE_MAX = 100_000
#: The rarity of an entry that names no edge: after all that do.
_NO_EDGE = 2**62
#: Puts entries of the first look before later ones: a fleet finds more of those each second than a member may run.
_THERE_BEFORE = 2**62


class ImportQueue:
    """Entries by their ids. Owned by one thread.

    They wait in a heap, ordered by an earlier rarity. Edges only become more common. So the top entry is the rarest,
    unless it has become more common since; then it goes back into the heap. Entries below the top are not looked at.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._heap: list[tuple[int, int, str]] = []
        self._arrivals = _THERE_BEFORE
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry, carriers: dict[int, int]) -> None:
        """Add a new entry, which becomes the newest. ``carriers`` counts the entries that reached each edge first."""
        self._arrivals += 1
        self._entries[entry.id] = entry
        self._size += _size(entry)
        heapq.heappush(self._heap, (_rarity(entry, carriers), -self._arrivals, entry.id))
        while len(self._entries) > QUEUE_MAX or self._size > INPUT_BYTES_MAX:
            self._remove(next(iter(self._entries)))
        if len(self._heap) > 2 * len(self._entries) + QUEUE_MAX:
            self._heap = [each for each in self._heap if each[2] in self._entries]
            heapq.heapify(self._heap)

    def take(self, count_max: int | None, known: set[int], carriers: dict[int, int]) -> list[Entry]:
        """Remove at most ``count_max`` entries that reach an edge which is not ``known``, and add their edges to it.

        Entries that reach nothing new are dropped for good when it is their turn.
        """
        chosen: list[Entry] = []
        heap = self._heap
        if self._arrivals >= _THERE_BEFORE:
            self._arrivals = 0
        while heap and (count_max is None or len(chosen) < count_max):
            rarity, arrival, entry_id = heap[0]
            entry = self._entries.get(entry_id)
            if entry is not None and not (entry.edges and known.issuperset(entry.edges)):
                now = _rarity(entry, carriers)
                if now > rarity:
                    heapq.heapreplace(heap, (now, arrival, entry_id))
                    continue
                known.update(entry.edges)
                chosen.append(entry)
            heapq.heappop(heap)
            if entry is not None:
                self._remove(entry_id)
        return chosen

    def _remove(self, entry_id: str) -> None:
        self._size -= _size(self._entries.pop(entry_id))


def _size(entry: Entry) -> int:
    return len(entry.tape) + 8 * len(entry.edges)


def _rarity(entry: Entry, carriers: dict[int, int]) -> int:
    return min((carriers.get(edge, 0) for edge in entry.edges), default=_NO_EDGE)


#: How much one exchange reads at most, so that a search never stops for long; the next one continues. In bytes.
EXCHANGE_SIZE_MAX = 64 * 2**20
#: Edges that a member knows, and entries: all their names are in memory.
KNOWN_MAX = 4_000_000
#: The pause after a failed attempt, relative to its duration, and its maximum: a server that hangs for a second takes a
#: tenth of the time.
WAIT_FACTOR = 9.0

_T = TypeVar("_T")


@dataclass(slots=True)
class _News:
    """What was learnt since the last exchange."""

    edges: set[int] = field(default_factory=set)
    buckets: set[str] = field(default_factory=set)
    refused: int = 0
    refusal: str = ""

    def refuse(self, why: str) -> None:
        self.refused += 1
        self.refusal = self.refusal or one_line(why)


class Store:
    """Shares discoveries with the other members of a namespace. Made by ``open_store``; ``clock`` returns seconds.

    It is a member once it has made its first exchange. Owned by one thread, in the process that made it.

    Attributes:
        trouble: why the last attempt to reach the store failed, empty if it did not.
    """

    def __init__(self, backend: Backend, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.trouble = ""
        self._backend = backend
        self._clock = clock
        self._token = new_token()
        self._shard = bytearray(HEADER)
        self._kept = 0  # how much of it the backend has confirmed
        self._resume_at = 0.0
        self._reader = NamespaceReader(backend, self._learn, lambda why: self._news.refuse(why))  # noqa: PLW0108 - news are replaced
        # How many entries of the store were the first to reach each edge.
        self._carriers: dict[int, int] = {}
        self._entry_ids: set[str] = set()
        self._reached_here: set[int] = set()
        self._queue = ImportQueue()
        self._buckets = FailureBuckets()
        self._others = 0
        self._news = _News()

    @property
    def number(self) -> int:
        """A number that no other member has."""
        return int(self._token, 16)

    # -- exchanging ---------------------------------------------------------------------------------------------------

    def sync(self, outgoing: Outgoing, *, max_entries: int | None = None) -> Incoming:
        """Publish ``outgoing``, and return what others have published, with at most ``max_entries`` entries.

        The remaining entries come with later calls. When this returns, ``outgoing`` is published, or waits here until
        the store is back, and is published by the next call that reaches it.
        """
        # Reading comes first: what others have is not repeated.
        self._attempted(lambda: self._read_news(EXCHANGE_SIZE_MAX), otherwise=False)
        self._take(outgoing)
        if not self.trouble:
            self._attempted(self._publish, otherwise=None)
        news, self._news = self._news, _News()
        waiting = counted(len(self._shard) - self._kept, "byte")
        return Incoming(
            entries=tuple(self._queue.take(max_entries, self._reached_here, self._carriers)),
            edges=frozenset(news.edges),
            failures=tuple(map(self._buckets.report, sorted(news.buckets))),
            refused=news.refused,
            refusal=news.refusal,
            members=0 if self.trouble else self._others + 1,
            paused=self.trouble and f"{self.trouble}; {waiting} wait for it",
        )

    def close(self) -> None:
        """Leave."""
        self._backend.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- looking ------------------------------------------------------------------------------------------------------

    def edges(self) -> set[int]:
        """Return all edges that any member has published, as far as the store can be reached."""
        self._read_all()
        return set(self._carriers)

    def failures(self) -> list[FailureReport]:
        """Return all failure buckets as all members know them, by name, as far as the store can be reached."""
        self._read_all()
        return list(self._buckets)

    # -- reading ------------------------------------------------------------------------------------------------------

    def _read_all(self) -> None:
        # A fleet writes on meanwhile, so this has an end.
        for _ in range(64):
            if not self._attempted(lambda: self._read_news(EXCHANGE_SIZE_MAX), otherwise=False):
                return

    def _read_news(self, size_max: int) -> bool:
        """Read what others have written, at most this many bytes. Return whether there may be more."""
        states = self._backend.survey()
        own = states.pop(self._token, None)
        # After the backend has lost its memory, all is published again.
        self._kept = min(self._kept, 0 if own is None else own.size)
        # A member that was inactive for a minute is not counted.
        self._others = sum(state.age_seconds < 60.0 for state in states.values())
        return self._reader.read(states, size_max)

    def _learn(self, token: str, content: Content) -> None:
        if isinstance(content, FailureReport):
            if self._buckets.add(token, content):
                self._news.buckets.add(content.bucket)
            return
        edges = content.edges if isinstance(content, Entry) else content
        fresh = [edge for edge in edges if edge not in self._carriers]
        if len(self._carriers) + len(fresh) > KNOWN_MAX:
            raise RecordError(f"has edges too many; at most {KNOWN_MAX} are known")
        self._news.edges.update(fresh)
        if isinstance(content, Entry) and content.id not in self._entry_ids:
            if len(self._entry_ids) >= KNOWN_MAX:
                raise RecordError(f"is one entry too many; at most {KNOWN_MAX} are known")
            self._count(content)
            self._queue.add(content, self._carriers)
        for edge in fresh:
            self._carriers.setdefault(edge, 0)

    def _count(self, entry: Entry) -> None:
        self._entry_ids.add(entry.id)
        for edge in entry.edges:
            self._carriers[edge] = self._carriers.get(edge, 0) + 1

    # -- publishing ---------------------------------------------------------------------------------------------------

    def _take(self, outgoing: Outgoing) -> None:
        """Add what the store lacks to the shard of this member."""
        for entry in outgoing.entries:
            self._reached_here.update(entry.edges)
            is_new = not entry.edges or any(edge not in self._carriers for edge in entry.edges)
            if is_new and entry.id not in self._entry_ids and self._say(entry):
                self._count(entry)
        self._reached_here |= outgoing.edges
        edges = outgoing.edges - self._carriers.keys()
        if edges and self._say(edges):
            self._carriers.update(dict.fromkeys(edges, 0))
        for report in outgoing.failures:
            named = structs.replace(report, bucket=bucket_text(report.bucket))
            if not self._buckets.would_learn(self._token, named):
                continue
            # A trace is much longer than a count, and counts change often.
            said = named if self._buckets.wants_trace(named) else structs.replace(named, trace=b"")
            if self._say(said):
                try:
                    self._buckets.add(self._token, named)
                except RecordError as error:
                    self._news.refuse(f"what was to be published {error}")

    def _say(self, content: Content) -> bool:
        try:
            record = framed(encode(content))
        except RecordError as error:
            self._news.refuse(f"what was to be published {error}")
            return False
        if len(self._shard) + len(record) > INPUT_BYTES_MAX:
            self._news.refuse(f"this member has published {len(self._shard)} bytes, the most that are allowed")
            return False
        self._shard += record
        return True

    def _publish(self) -> None:
        while True:
            part = bytes(self._shard[self._kept : self._kept + CHUNK_SIZE])
            # An empty write also marks the member as active.
            self._backend.write(self._token, self._kept, part)
            self._kept += len(part)
            if self._kept >= len(self._shard):
                return

    # -- the backend ---------------------------------------------------------------------------------------------------

    def _attempted(self, action: Callable[[], _T], *, otherwise: _T) -> _T:
        """Run ``action``, which needs the backend, unless that was found to be away just now."""
        started = self._clock()
        if started < self._resume_at:
            return otherwise
        try:
            result = action()
        except UnreachableError as error:
            self.trouble = str(error)
            now = self._clock()
            self._resume_at = now + min(WAIT_FACTOR * (now - started), GRACE_SECONDS)
            return otherwise
        self.trouble = ""
        return result

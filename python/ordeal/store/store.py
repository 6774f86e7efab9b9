"""A store: what members of one namespace found, shared through a backend that only keeps bytes.

Each member writes its own shard and reads all others. Contents are merged by unions and maxima, so they may arrive
late, twice and in any order; a lost member leaves what it wrote, and nobody waits for it.
"""

from __future__ import annotations

import hashlib
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from ordeal._base.formatting import counted, one_line
from ordeal.errors import StoreError
from ordeal.store.backend import (
    LEASE_SECONDS_MAX,
    MEMBERS_MAX,
    TOKEN_CHARS,
    Backend,
    ReadOnlyStoreError,
    ShardName,
    ShardState,
    UnreachableError,
    new_name,
)
from ordeal.store.compaction import Compacted, Compactor
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.reading import NamespaceReader
from ordeal.store.records import (
    BaseContent,
    BucketRecord,
    Content,
    Covers,
    Entry,
    FailureReport,
    Incoming,
    Outgoing,
    RecordError,
    bucket_text,
    encode,
)
from ordeal.store.shard import LeftBehind, WriteAhead, file_of, framed, left_behind

#: Limits of the queue: above either, the oldest entries are dropped.
QUEUE_MAX = 100_000
QUEUE_SIZE_MAX = 256 * 2**20
#: The rarity of an entry that names no edge: after all that do.
_NO_EDGE = 2**62
#: Goes before all arrivals: a fleet finds more each second than a member may run, and would keep it from what is known.
_DISTILLED = 2**62


class ImportQueue:
    """Entries by their ids. Owned by one thread.

    They wait in a heap by rarity as it was at some time. Edges only become more common, so an entry that comes out
    first is first, unless it has become more common since, and then it goes back. A look costs nothing for those that
    it does not reach.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._heap: list[tuple[int, int, str]] = []
        self._arrivals = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry, carriers: dict[int, int], *, distilled: bool = False) -> None:
        """Add a new entry, which becomes the newest. ``carriers`` counts the entries that reached each edge first.

        With ``distilled``, it is one of a few that reach all that an earlier fleet knew.
        """
        self._arrivals += 1
        self._entries[entry.id] = entry
        self._size += _size(entry)
        arrival = self._arrivals + _DISTILLED * distilled
        heapq.heappush(self._heap, (_rarity(entry, carriers), -arrival, entry.id))
        while len(self._entries) > QUEUE_MAX or self._size > QUEUE_SIZE_MAX:
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
        while heap and (count_max is None or len(chosen) < count_max):
            rarity, arrival, entry_id = heap[0]
            entry = self._entries.get(entry_id)
            if entry is not None and not _is_known(entry, known):
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


def _is_known(entry: Entry, known: set[int]) -> bool:
    return bool(entry.edges) and known.issuperset(entry.edges)


def _rarity(entry: Entry, carriers: dict[int, int]) -> int:
    return min((carriers.get(edge, 0) for edge in entry.edges), default=_NO_EDGE)


#: How much one exchange reads at most, so that a search never stops for long; the next one continues. In bytes.
EXCHANGE_SIZE_MAX = 64 * 2**20
#: How much is written at a time, in bytes.
WRITE_SIZE = 4 * 2**20
#: How many such exchanges reading everything takes at most.
READ_ALL_MAX = 64
#: The maximum number of edges.
EDGES_MAX = 4_000_000
ENTRIES_MAX = 2_000_000
#: So much must be new before a store is compacted, and at least as much as the last compaction left. In bytes.
COMPACTED_SIZE_MIN = 4 * 2**20
#: How many members make their first exchange in a second where many start at once, and how long each waits at most.
STARTS_PER_SECOND = 100.0
STAGGER_SECONDS_MAX = 10.0
#: A member that was inactive for this long is not counted.
LIVING_SECONDS = 60.0
#: The pause after a failed attempt, relative to its duration, and its maximum: a server that hangs for a second takes a
#: tenth of the time.
WAIT_FACTOR = 9.0
WAIT_SECONDS_MAX = 30.0

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


@dataclass(slots=True)
class _Member:
    """This member: its shard, and how much of it the backend has confirmed.

    After a failed write, the backend may seem to have more. ``number`` is the one that it joined with and keeps, while
    ``name`` changes if the backend has lost its memory and given the number to another member.
    """

    name: ShardName
    shard: WriteAhead
    kept: int = 0
    number: int = field(init=False)

    def __post_init__(self) -> None:
        self.number = self.name.number


class Store:
    """Shares discoveries with the other members of a namespace. Made by ``open_store``.

    Owned by one thread, in the process that made it. ``join`` comes first, except for mere readers.

    Attributes:
        read_only: why nothing is published, else empty.
    """

    def __init__(
        self, backend: Backend, *, place: str, folder: Path | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``place`` is a unique text of hex digits for the store and namespace.

        In ``folder``, unpublished records survive their member; without it they do not.
        """
        self.read_only = ""
        self._medium = backend
        self._place = place
        self._folder = folder
        self._clock = clock
        self._member: _Member | None = None
        self._resume_at = 0.0
        self._paused = ""
        self._reader = NamespaceReader(backend, self._learn_record, lambda why: self._news.refuse(why))  # noqa: PLW0108 - news are replaced
        # How many entries of the store were the first to reach each edge.
        self._carriers: dict[int, int] = {}
        self._entry_ids: set[str] = set()
        self._reached_here: set[int] = set()
        self._queue = ImportQueue()
        self._buckets = FailureBuckets()
        self._others = 0
        self._uncompacted = self._base_size = 0
        self._news = _News()

    # -- joining ------------------------------------------------------------------------------------------------------

    def join(self) -> int:
        """Become a member, and publish the unpublished records of lost members of the same folder. Return the number.

        No other member of this namespace ever has the same number. They begin at 0. A store that is full, or that this
        user may not write, is joined for reading: ``read_only`` says why.

        Raises:
            StoreError: the store cannot be reached, or the folder cannot be written.
        """
        if self._member is None:
            token = new_name()
            try:
                number = self._claimed(token)
                if number is None:
                    self._member = _Member(ShardName(_number_of_reader(token), token), WriteAhead(None))
                    return self._member.number
                name = ShardName(number, token)
                path = None if self._folder is None else file_of(self._folder, self._place, name)
                self._member = _Member(name, WriteAhead(path))
                self._publish_left_behind()
            except UnreachableError as error:
                raise StoreError(
                    f"the store cannot be joined: {error}", hint="see that this machine can reach and write it"
                ) from error
            except OSError as error:
                raise StoreError(
                    f"what waits for the store cannot be kept in {self._folder}: {error.strerror or error}",
                    hint="name a folder that this user may write",
                ) from error
        return self._member.number

    def _claimed(self, token: str) -> int | None:
        """Return a new number, or None if the store can be read but not written."""
        try:
            return self._medium.claim(token, None)
        except ReadOnlyStoreError as error:
            self._medium.survey()  # a store that cannot be read either is unusable
            self.read_only = str(error)
            return None

    def _publish_left_behind(self) -> None:
        if self._folder is None:
            return
        for left in left_behind(self._folder, self._place):
            said = False
            try:
                self._publish_for(left)
                said = True
            finally:
                left.release(said=said)

    def _publish_for(self, left: LeftBehind) -> None:
        """Complete the shard of a lost member."""
        name = ShardName(self._medium.claim(left.name.token, left.name.number), left.name.token)
        state = self._medium.survey().get(name)
        offset = 0 if state is None else state.size
        for begin in range(offset, len(left.data), WRITE_SIZE):
            self._medium.write(name, begin, left.data[begin : begin + WRITE_SIZE])

    # -- exchanging ---------------------------------------------------------------------------------------------------

    def sync(self, outgoing: Outgoing, *, max_entries: int | None = None) -> Incoming:
        """Publish ``outgoing``, and return what others have published, with at most ``max_entries`` entries.

        The remaining entries come with later calls. When this returns, ``outgoing`` is published, or waits here until
        the store is back, and is published by the next call that reaches it.

        Raises:
            StoreError: this is no member yet.
        """
        member = self._joined()
        # Reading comes first: what others have is not repeated.
        self._attempted(lambda: self._read_news(EXCHANGE_SIZE_MAX), otherwise=False)
        if self.read_only:
            self._reached_here.update(outgoing.edges, *(entry.edges for entry in outgoing.entries))
            return self._incoming(member, max_entries)
        self._take(member, outgoing)
        member.shard.save()
        if not self._paused:
            self._attempted(lambda: self._publish(member), otherwise=None)
        return self._incoming(member, max_entries)

    def lease(self, bucket: str, seconds: float) -> bool:
        """Return whether this member alone may shrink ``bucket`` for the next ``seconds``.

        The holder of a lease may extend it. The lease of a lost member expires. False while the store is away:
        shrinking without a lease costs time and nothing else.
        """
        token = self._joined().name.token
        if not 0 < seconds <= LEASE_SECONDS_MAX:
            raise ValueError(f"a lease of {seconds} s; write more than 0 and at most {LEASE_SECONDS_MAX:g}")
        if self.read_only:
            return True  # nobody would see the lease
        key = hashlib.blake2b(bucket_text(bucket).encode(), digest_size=16).hexdigest()
        return self._attempted(lambda: self._medium.lease(key, token, seconds), otherwise=False)

    def stagger_seconds(self) -> float:
        """Return how long to wait before the first exchange, so that many members do not make it at the same time."""
        token = new_name() if self._member is None else self._member.name.token
        others = self._attempted(lambda: len(self._medium.survey()), otherwise=0)
        share: float = int(token, 16) / 2 ** (4 * TOKEN_CHARS)
        return share * min(others / STARTS_PER_SECOND, STAGGER_SECONDS_MAX)

    # -- compacting ---------------------------------------------------------------------------------------------------

    def is_compaction_due(self) -> bool:
        """Return whether enough was written since the last compaction, as of the last exchange."""
        return not self._paused and not self.read_only and self._uncompacted > max(COMPACTED_SIZE_MIN, self._base_size)

    def compact(self) -> Compacted | None:
        """Make a base of what all members have written. None where another process does so, or nothing is new.

        Best called in a process of its own: it takes some seconds for a million entries.
        """
        return self._attempted(Compactor(self._medium).run, otherwise=None)

    @property
    def trouble(self) -> str:
        """Why the last attempt to reach the store failed, empty if it did not."""
        return self._paused

    def close(self) -> None:
        """Leave. Unpublished records stay in the folder for the next member that joins with it."""
        if self._member is not None:
            self._member.shard.close(said=self._member.kept == self._member.shard.size)
        self._medium.close()

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
        for _ in range(READ_ALL_MAX):
            if not self._attempted(lambda: self._read_news(EXCHANGE_SIZE_MAX), otherwise=False):
                return

    def _read_news(self, size_max: int) -> bool:
        """Read what others have written, at most this many bytes. Return whether there may be more."""
        states = self._medium.survey()
        if self._member is not None and not self.read_only:
            self._compare(self._member, states.pop(self._member.name, None))
        self._others = sum(state.age_seconds < LIVING_SECONDS for state in states.values())
        sizes = self._medium.bases()
        self._reader.bases.own = None if self._member is None else self._member.name
        self._base_size = sizes[max(sizes)] if sizes else 0
        is_unfinished = self._reader.read(states, sizes, size_max)
        self._uncompacted = self._reader.bases.beyond(states)
        return is_unfinished

    def _learn_record(self, name: ShardName, _frame: bytes, content: BaseContent, is_base: bool) -> None:
        if isinstance(content, BucketRecord):
            for token, count in content.counts.items():
                report = FailureReport(content.bucket, content.trace, content.steps, count, content.shrunk)
                self._learn(ShardName(name.number, token), report)
        elif not isinstance(content, Covers):
            self._learn(name, content, distilled=is_base)

    def _learn(self, name: ShardName, content: Content, *, distilled: bool = False) -> None:
        if isinstance(content, FailureReport):
            if self._buckets.add(name.token, content):
                self._news.buckets.add(content.bucket)
            return
        edges = content.edges if isinstance(content, Entry) else content
        fresh = [edge for edge in edges if edge not in self._carriers]
        if len(self._carriers) + len(fresh) > EDGES_MAX:
            raise RecordError(f"has edges too many; at most {EDGES_MAX} are known")
        self._news.edges.update(fresh)
        if isinstance(content, Entry) and content.id not in self._entry_ids:
            if len(self._entry_ids) >= ENTRIES_MAX:
                raise RecordError(f"is one entry too many; at most {ENTRIES_MAX} are known")
            self._count(content)
            self._queue.add(content, self._carriers, distilled=distilled)
        for edge in fresh:
            self._carriers.setdefault(edge, 0)

    def _count(self, entry: Entry) -> None:
        self._entry_ids.add(entry.id)
        for edge in entry.edges:
            self._carriers[edge] = self._carriers.get(edge, 0) + 1

    # -- publishing ---------------------------------------------------------------------------------------------------

    def _take(self, member: _Member, outgoing: Outgoing) -> None:
        """Add what the store lacks to the shard of this member."""
        for entry in outgoing.entries:
            self._reached_here.update(entry.edges)
            is_new = not entry.edges or any(edge not in self._carriers for edge in entry.edges)
            if is_new and entry.id not in self._entry_ids and self._say(member, entry):
                self._count(entry)
        self._reached_here |= outgoing.edges
        edges = outgoing.edges - self._carriers.keys()
        if edges and self._say(member, edges):
            self._carriers.update(dict.fromkeys(edges, 0))
        for report in outgoing.failures:
            self._take_failure(member, structs.replace(report, bucket=bucket_text(report.bucket)))

    def _take_failure(self, member: _Member, report: FailureReport) -> None:
        token = member.name.token
        if not self._buckets.would_learn(token, report):
            return
        # A trace is much longer than a count, and counts change often.
        said = report if self._buckets.wants_trace(report) else structs.replace(report, trace=b"")
        if self._say(member, said):
            try:
                self._buckets.add(token, report)
            except RecordError as error:
                self._news.refuse(f"what was to be published {error}")

    def _say(self, member: _Member, content: Content) -> bool:
        try:
            if member.shard.append(framed(encode(content))):
                return True
            self._news.refuse(f"this member has published {member.shard.size} bytes, and there is no room for more")
        except RecordError as error:
            self._news.refuse(f"what was to be published {error}")
        return False

    def _compare(self, member: _Member, state: ShardState | None) -> None:
        """Check what the backend has of this member's shard: nothing at first, and after it lost its memory."""
        if state is None:
            member.name = ShardName(self._medium.claim(member.name.token, member.name.number), member.name.token)
            member.kept = 0
        member.kept = min(member.kept, 0 if state is None else state.size)

    def _publish(self, member: _Member) -> None:
        while True:
            part = member.shard.part(member.kept, WRITE_SIZE)
            # An empty write also marks the member as active.
            self._medium.write(member.name, member.kept, part)
            member.kept += len(part)
            if member.kept >= member.shard.size:
                return

    def _incoming(self, member: _Member, max_entries: int | None) -> Incoming:
        news, self._news = self._news, _News()
        paused = self._paused
        if paused:
            waiting = counted(member.shard.size - member.kept, "byte")
            paused = "; ".join(filter(None, [paused, f"{waiting} wait for it", member.shard.trouble]))
        return Incoming(
            entries=tuple(self._queue.take(max_entries, self._reached_here, self._carriers)),
            edges=frozenset(news.edges),
            failures=tuple(map(self._buckets.report, sorted(news.buckets))),
            refused=news.refused,
            refusal=news.refusal,
            members=0 if paused else self._others + 1,
            paused=paused,
        )

    # -- the backend ---------------------------------------------------------------------------------------------------

    def _joined(self) -> _Member:
        if self._member is None:
            raise StoreError("this is no member of the store yet", hint="call `join` before `sync` and `lease`")
        return self._member

    def _attempted(self, action: Callable[[], _T], *, otherwise: _T) -> _T:
        """Run ``action``, which needs the backend, unless that was found to be away just now."""
        started = self._clock()
        if started < self._resume_at:
            return otherwise
        try:
            result = action()
        except UnreachableError as error:
            self._paused = str(error)
            now = self._clock()
            self._resume_at = now + min(WAIT_FACTOR * (now - started), WAIT_SECONDS_MAX)
            return otherwise
        self._paused = ""
        return result


def _number_of_reader(token: str) -> int:
    """Return a number that no member has, for a reader."""
    return MEMBERS_MAX + int(token, 16) % MEMBERS_MAX

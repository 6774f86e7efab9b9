"""Bases and compaction: makes one base of many shards, while all members go on reading and writing.

A base begins with what it stands for: shards up to an offset, and older bases. Then come the entries that are still
worth something, all other edges, and the failure buckets with the counts of each member. Whoever has read a base
continues each of its shards where the base ends. Contents are merged by unions and maxima, so reading a base next to
the shards that it was made of changes nothing, and neither do two bases that were made at the same time.

One process at a time compacts, by a lease. It reads what every reader reads, keeps what is still worth something, and
writes a base, which is not seen before it is complete. Only then are the shards of lost members deleted. So it can be
killed at any moment: what it had not finished is made again by the next one.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ordeal.store.backend import Backend, ShardName, ShardState, Span, Unreadable, new_name
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.records import (
    BaseContent,
    BucketRecord,
    Covers,
    Entry,
    FailureReport,
    RecordError,
    decode,
    decode_of_base,
    encode,
)
from ordeal.store.shard import FRAME_SIZE, HEADER, ShardReader, framed

#: How often a base that cannot be used is tried, one exchange after the other.
TRIES_MAX = 3


@dataclass(slots=True)
class _BaseProgress:
    """How far a base was read. ``covers`` is its first record."""

    reader: ShardReader = field(default_factory=ShardReader)
    covers: Covers | None = None


class BaseReader:
    """The bases that one member has read. Owned by one thread.

    Attributes:
        own: the shard of this member, which it need not read.
        refusals: why bases, or records in them, were refused.
        read: the bases that were read to their end.
        done: the names of these, and of all that they stand for.
    """

    def __init__(self, shards: dict[ShardName, ShardReader]) -> None:
        """``shards`` are moved on to where a base that was read ends."""
        self.own: ShardName | None = None
        self.refusals: list[str] = []
        self._shards = shards
        self._readings: dict[ShardName, _BaseProgress] = {}
        self.read: set[ShardName] = set()
        self.done: set[str] = set()
        self._failed: Counter[ShardName] = Counter()
        self._ends: dict[str, int] = {}

    def unread(self, sizes: Mapping[ShardName, int]) -> Iterator[ShardName]:
        """Yield the bases that remain to be read, the newest first, because it may make the others needless."""
        for name in sorted(sizes, reverse=True):
            if str(name) not in self.done and self._failed[name] < TRIES_MAX:
                yield name

    def span(self, name: ShardName, size: int) -> Span | None:
        """Return what to read next of a base of this size, None when nothing more of it can be read now."""
        if str(name) in self.done:
            return None
        reader = self._readings.setdefault(name, _BaseProgress()).reader
        wanted = reader.wanted(size)
        if not wanted:
            self._give_up(name)
            return None
        return Span(name, reader.offset, wanted, is_base=True)

    def feed(
        self, name: ShardName, size: int, answer: bytes | Unreadable
    ) -> tuple[list[tuple[bytes, BaseContent]], bool]:
        """Take what was read of a base. Return the contents to be learnt, and whether to continue reading it.

        Each content comes with its framed record.

        A base that stands for nothing beyond what was read of the shards is not read any further.
        """
        reading = self._readings[name]
        if isinstance(answer, Unreadable) or not answer:
            self._give_up(name)  # a newer one has taken its place, and is listed the next time
            return [], False
        frames, refusal = reading.reader.feed(answer, framed=True)
        contents: list[tuple[bytes, BaseContent]] = []
        for frame in frames:
            try:
                contents.append((frame, decode_of_base(memoryview(frame)[FRAME_SIZE:])))
            except RecordError as error:
                refusal = refusal or f"a record {error}"
        if refusal:
            self.refusals.append(f"base {name} is not used: {refusal}")
        if contents and reading.covers is None:
            _, first = contents.pop(0)
            if not isinstance(first, Covers):
                refusal = "it does not begin with what it stands for"
                self.refusals.append(f"base {name} is not used: {refusal}")
            else:
                reading.covers = first
        if refusal or reading.reader.damage:
            self._give_up(name)
            return [], False
        covers = reading.covers
        if covers is not None and not self._says_more(covers):
            contents = []
            self._finish(name, covers)
        elif covers is not None and reading.reader.offset >= size:
            self._finish(name, covers)
            self.read.add(name)
        return contents, str(name) not in self.done

    def beyond(self, states: Mapping[ShardName, ShardState]) -> int:
        """Return how many bytes of these shards are in no base yet."""
        return sum(max(0, state.size - self._ends.get(str(name), 0)) for name, state in states.items())

    def _says_more(self, covers: Covers) -> bool:
        names = ((ShardName.parse(text), offset) for text, offset in covers.shards.items())
        return any(
            name not in (None, self.own) and offset and (name not in self._shards or self._shards[name].offset < offset)
            for name, offset in names
        )

    def _finish(self, name: ShardName, covers: Covers) -> None:
        self.done |= {str(name), *covers.bases}
        self._readings.pop(name, None)
        self._ends.update(covers.shards)
        for text, offset in covers.shards.items():
            shard = ShardName.parse(text)
            if shard is not None and shard != self.own:
                self._shards.setdefault(shard, ShardReader()).skip_to(offset)

    def _give_up(self, name: ShardName) -> None:
        self._failed[name] += 1
        self._readings.pop(name, None)


#: Who compacts has this lease, and renews it while it works.
LEASE = "compaction"
LEASE_SECONDS = 8.0
RENEW_SECONDS = 2.0
#: The shard of a member that was inactive for this long is deleted once a base has all of it. A member that was only
#: asleep notices, and publishes it again.
LOST_SECONDS = 600.0
#: How much is written at a time, and how many shards are read at a time.
_PART_SIZE = 2**20
_SPANS = 8
#: The highest number of a base.
GENERATIONS_MAX = 999_999
#: How many edges without an entry go into one record.
_EDGES_PER_RECORD = 100_000


class _LostLeaseError(Exception):
    """Another process has begun to compact."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: how many entries it read and kept, the sizes in bytes, and how many shards it deleted."""

    entries_read: int
    entries_kept: int
    size_before: int
    size_after: int
    shards_deleted: int


class Distiller:
    """Keeps the shortest entry for each edge, all edges, and all buckets, by their records."""

    def __init__(self) -> None:
        self.entries_read = 0
        # Which frame has the shortest tape of each edge, and how long it is. What loses is dropped in time.
        self._best: dict[int, int] = {}
        self._frames: list[bytes] = []
        self._sizes: list[int] = []
        self._loose: dict[bytes, None] = {}
        self._edges: set[int] = set()
        self._buckets = FailureBuckets()

    def add(self, token: str, frame: bytes, content: BaseContent) -> None:
        """Take one content of a shard or base with its framed record; ``token`` is of the member that wrote it.

        Raises:
            RecordError: there are too many failures.
        """
        if isinstance(content, Entry):
            self._add_entry(frame, content)
        elif isinstance(content, FailureReport):
            self._buckets.add(token, content)
        elif isinstance(content, BucketRecord):
            trace, steps, shrunk = content.trace, content.steps, content.shrunk
            for member, count in content.counts.items():
                self._buckets.add(member, FailureReport(content.bucket, trace, steps, count, shrunk))
        elif not isinstance(content, Covers):
            self._edges |= content

    def _add_entry(self, frame: bytes, entry: Entry) -> None:
        self.entries_read += 1
        if not entry.edges:
            self._loose[frame] = None
            return
        best, sizes, size = self._best, self._sizes, len(entry.tape)
        number = len(sizes)
        won = False
        for edge in entry.edges:
            holder = best.get(edge)
            if holder is None or size < sizes[holder]:
                best[edge] = number
                won = True
        if won:
            self._frames.append(frame)
            sizes.append(size)

    @property
    def entries_kept(self) -> int:
        """How many entries are the shortest for some edge, or name none."""
        return len(set(self._best.values())) + len(self._loose)

    def frames(self) -> Iterator[bytes]:
        """Yield everything that is kept, as framed records."""
        for number in sorted(set(self._best.values())):
            yield self._frames[number]
        yield from self._loose
        rest = sorted(self._edges.difference(self._best))
        for begin in range(0, len(rest), _EDGES_PER_RECORD):
            yield framed(encode(frozenset(rest[begin : begin + _EDGES_PER_RECORD])))
        for parts in self._buckets.parts():
            yield framed(encode(BucketRecord(*parts)))


@dataclass(slots=True)
class Compactor:
    """Compacts the namespace of one backend. Owned by one thread, in the process that made it."""

    backend: Backend
    clock: Callable[[], float] = time.monotonic
    _token: str = field(default_factory=new_name, init=False)
    _renew_at: float = field(default=0.0, init=False)

    def run(self) -> Compacted | None:
        """Make a new base of everything. None where another process does so, or nothing has changed.

        Raises:
            UnreachableError: the backend failed; everything is as it was, or compacted.
        """
        try:
            self._hold()
            done = self._compact()
            self.backend.lease(LEASE, self._token, 0.0)
            return done
        except _LostLeaseError:
            return None

    def _hold(self) -> None:
        """Take or renew the lease, when that is due."""
        now = self.clock()
        if now >= self._renew_at:
            if not self.backend.lease(LEASE, self._token, LEASE_SECONDS):
                raise _LostLeaseError
            self._renew_at = now + RENEW_SECONDS

    def _compact(self) -> Compacted | None:
        states = self.backend.survey()
        sizes = dict(self.backend.bases())
        readers: dict[ShardName, ShardReader] = {}
        distiller = Distiller()
        bases = BaseReader(readers)
        self._read_bases(bases, sizes, distiller)
        before = {str(name): reader.offset for name, reader in readers.items()}
        self._read_shards(readers, states, distiller)
        covers = {str(name): reader.offset for name, reader in readers.items() if reader.offset > len(HEADER)}
        made = 0
        if covers != before or len(bases.read) > 1:
            replaced = tuple(str(name) for name in sizes if str(name) in bases.done)
            made = self._write(Covers(covers, replaced), max(sizes, default=None), distiller)
        # What these bases stand for is needless. They remain themselves, for those who are reading them.
        old = [name for name in sizes if str(name) in bases.done and name not in bases.read]
        self._renew_at = 0.0
        self._hold()
        lost = self._lost(readers)
        if lost or old:
            self.backend.remove(lost, old)
        if not made and not lost:
            return None
        read = sum(state.size for state in states.values()) + sum(sizes[name] for name in bases.read)
        return Compacted(distiller.entries_read, distiller.entries_kept, read, made, len(lost))

    def _lost(self, readers: dict[ShardName, ShardReader]) -> list[ShardName]:
        """Return the shards of lost members of which a base has everything, by what the backend says now."""
        return [
            name
            for name, state in self.backend.survey().items()
            if state.age_seconds > LOST_SECONDS
            and name in readers
            and (readers[name].offset == state.size or state.size <= len(HEADER))
        ]

    def _read_bases(self, bases: BaseReader, sizes: dict[ShardName, int], distiller: Distiller) -> None:
        for name in bases.unread(sizes):
            goes_on = True
            while goes_on and (span := bases.span(name, sizes[name])) is not None:
                self._hold()
                (answer,) = self.backend.read([span])
                contents, goes_on = bases.feed(name, sizes[name], answer)
                for frame, content in contents:
                    with suppress(RecordError):
                        distiller.add("", frame, content)

    def _read_shards(
        self, readers: dict[ShardName, ShardReader], states: dict[ShardName, ShardState], distiller: Distiller
    ) -> None:
        """Read all shards as far as they go."""
        turn = deque(sorted(states))
        while turn:
            self._hold()
            spans: list[Span] = []
            while turn and len(spans) < _SPANS:
                name = turn.popleft()
                reader = readers.setdefault(name, ShardReader())
                wanted = reader.wanted(states[name].size)
                if wanted:
                    spans.append(Span(name, reader.offset, wanted))
            for span, answer in zip(spans, self.backend.read(spans), strict=True):
                reader = readers[span.name]
                before = reader.offset, reader.needed
                if isinstance(answer, Unreadable):
                    continue
                for frame in reader.feed(answer, framed=True)[0]:
                    with suppress(RecordError):
                        distiller.add(span.name.token, frame, decode(memoryview(frame)[FRAME_SIZE:]))
                if (reader.offset, reader.needed) != before and not reader.damage:
                    turn.append(span.name)

    def _write(self, covers: Covers, newest: ShardName | None, distiller: Distiller) -> int:
        """Write a base. Return its size."""
        generation = 0 if newest is None else min(newest.number + 1, GENERATIONS_MAX)
        size = 0

        def parts() -> Iterator[bytes]:
            nonlocal size
            part = bytearray(HEADER + framed(encode(covers)))
            for frame in distiller.frames():
                part += frame
                if len(part) >= _PART_SIZE:
                    self._hold()
                    size += len(part)
                    yield bytes(part)
                    part.clear()
            size += len(part)
            yield bytes(part)
            # Nobody else has begun while this was written.
            self._renew_at = 0.0
            self._hold()

        self.backend.write_base(ShardName(generation, new_name()), parts())
        return size

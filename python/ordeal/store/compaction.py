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

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ordeal.store.backend import Backend, ShardName, new_name
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.reading import NamespaceReader
from ordeal.store.records import BaseContent, BucketRecord, Covers, Entry, FailureReport, encode
from ordeal.store.shard import HEADER, ShardReader, framed

#: Who compacts has this lease, and renews it while it works.
LEASE = "compaction"
LEASE_SECONDS = 8.0
RENEW_SECONDS = 2.0
#: The shard of a member that was inactive for this long is deleted once a base has all of it. A member that was only
#: asleep notices, and publishes it again.
LOST_SECONDS = 600.0
#: How much is written at a time.
_PART_SIZE = 2**20
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

    def add(self, name: ShardName, frame: bytes, content: BaseContent, is_base: bool) -> None:  # noqa: ARG002
        """Take one content of a shard or base with its framed record.

        Raises:
            RecordError: there are too many failures.
        """
        if isinstance(content, Entry):
            self._add_entry(frame, content)
        elif isinstance(content, FailureReport):
            self._buckets.add(name.token, content)
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
        distiller = Distiller()
        reader = NamespaceReader(self.backend, distiller.add, lambda _why: None)
        readers, bases = reader.shards, reader.bases
        reader.read({}, sizes, math.inf, self._hold)
        before = {str(name): reader.offset for name, reader in readers.items()}
        reader.read(states, {}, math.inf, self._hold)
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

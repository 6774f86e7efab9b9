"""Compaction: puts the shards of lost members together into one, while all others go on reading and writing.

It keeps the shortest entry for each edge, all other edges, and the failure buckets with the counts of each member.
Contents are merged by unions and maxima, so reading them twice changes nothing. The shards are deleted once the new one
is complete. So a compaction may be killed at any moment: what it has written is a shard of a lost member like others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from ordeal.store.backend import Backend, ShardState, new_token
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.records import BucketRecord, Content, Entry, FailureReport, encode
from ordeal.store.shard import HEADER, SHARD_SIZE_MAX, NamespaceReader, ShardReader, framed

#: One compaction begins in this time. Two at once lose nothing but time.
LEASE_SECONDS = 60.0
#: A member that was inactive for this long is lost. One that was only asleep notices, and publishes its shard again.
LOST_SECONDS = 600.0
#: A store is compacted when this many members are lost, or their shards have this many bytes, and at least twice as
#: many as the largest of them, which an earlier compaction may have made.
LOST_MAX = 64
LOST_SIZE_MIN = 4 * 2**20
#: How much is written at a time.
_PART_SIZE = 2**20
#: How many edges without an entry go into one record.
_EDGES_PER_RECORD = 100_000


class Distiller:
    """Keeps the shortest entry for each edge, all edges, and all buckets, by their records."""

    def __init__(self) -> None:
        # Which frame has the shortest tape of each edge, and how long it is. What loses is dropped in time.
        self._best: dict[int, int] = {}
        self._frames: list[bytes] = []
        self._sizes: list[int] = []
        self._loose: dict[bytes, None] = {}
        self._edges: set[int] = set()
        self._buckets = FailureBuckets()

    def add(self, token: str, frame: bytes, content: Content) -> None:
        """Take one content of a shard with its framed record.

        Raises:
            RecordError: there are too many failures.
        """
        if isinstance(content, Entry):
            self._add_entry(frame, content)
        elif isinstance(content, FailureReport):
            self._buckets.add(token, content)
        elif isinstance(content, BucketRecord):
            for member, report in content.reports():
                self._buckets.add(member, report)
        else:
            self._edges |= content

    def _add_entry(self, frame: bytes, entry: Entry) -> None:
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


def lost_members(states: Mapping[str, ShardState]) -> dict[str, ShardState]:
    """Return the shards of lost members."""
    return {token: state for token, state in states.items() if state.age_seconds > LOST_SECONDS}


def is_worth_it(sizes: Collection[int]) -> bool:
    """Return True if shards of lost members with these sizes should be put together."""
    largest = max(sizes, default=0)
    return len(sizes) > LOST_MAX or sum(sizes) > max(LOST_SIZE_MIN, 2 * largest)


def compact(backend: Backend) -> int:
    """Put the shards of lost members together. Return how many were deleted: 0 where another process does so.

    Raises:
        UnreachableError: the backend failed; everything is as it was, or compacted.
    """
    lost = lost_members(backend.survey())
    if len(lost) < 2 or not backend.lease(LEASE_SECONDS):
        return 0
    distiller = Distiller()
    reader = NamespaceReader(backend, distiller.add, lambda _why: None)
    reader.read(lost, math.inf)
    _write(backend, distiller)
    replaced = [token for token, state in backend.survey().items() if _has_all(reader.shards.get(token), state)]
    backend.remove(replaced)
    return len(replaced)


def _has_all(reader: ShardReader | None, state: ShardState) -> bool:
    return reader is not None and (reader.offset == state.size or state.size <= len(HEADER))


def _write(backend: Backend, distiller: Distiller) -> None:
    token, offset, part = new_token(), 0, bytearray(HEADER)
    for frame in distiller.frames():
        if offset + len(part) + len(frame) > SHARD_SIZE_MAX:
            backend.write(token, offset, bytes(part))
            token, offset, part = new_token(), 0, bytearray(HEADER)
        part += frame
        if len(part) >= _PART_SIZE:
            backend.write(token, offset, bytes(part))
            offset += len(part)
            part.clear()
    backend.write(token, offset, bytes(part))

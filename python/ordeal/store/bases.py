"""Bases: what a compaction made of the shards of a namespace, and how a member reads them.

A base begins with what it stands for: shards up to an offset, and older bases. Then come the entries that are still
worth something, all other edges, and the failure buckets with the counts of each member. Whoever has read a base
continues each of its shards where the base ends. Contents are merged by unions and maxima, so reading a base beside the
shards that it was made of changes nothing, and neither do two bases that were made at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ordeal.store.backend import ShardName, ShardState, Span, Unreadable
from ordeal.store.records import BaseContent, Covers, RecordError, decode_of_base
from ordeal.store.shard import FRAME_SIZE, ShardReader

#: How often a base that cannot be used is tried, one exchange after the other.
TRIES_MAX = 3


@dataclass(slots=True)
class _Reading:
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
        self._readings: dict[ShardName, _Reading] = {}
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
        reader = self._readings.setdefault(name, _Reading()).reader
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

"""Reads what all members of a namespace have written, from where it stopped: bases first, then the shards in turns.

Searches read a part with each exchange, and a compaction reads everything.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ordeal.store.backend import Backend, ShardName, ShardState, Span, Unreadable
from ordeal.store.records import BaseContent, Covers, RecordError, decode, decode_of_base
from ordeal.store.shard import FRAME_SIZE, ShardReader

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
        frames, refusal = reading.reader.feed(answer)
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


#: How much is read of shards by one command, in bytes.
_READ_SIZE = 8 * 2**20


class NamespaceReader:
    """Reads a namespace through its backend, which may be away. Owned by one thread.

    Attributes:
        shards: how far each shard was read.
        bases: which bases were read.
    """

    def __init__(
        self,
        backend: Backend,
        learn: Callable[[ShardName, bytes, BaseContent, bool], None],
        refuse: Callable[[str], None],
    ) -> None:
        """``learn`` takes a framed record of a shard or base with its content and whether it is of a base.

        It may raise ``RecordError``. ``refuse`` takes what is wrong with a shard, a base or a record.
        """
        self._backend = backend
        self._learn = learn
        self._refuse = refuse
        self.shards: dict[ShardName, ShardReader] = {}
        self.bases = BaseReader(self.shards)

    def read(
        self,
        states: Mapping[ShardName, ShardState],
        sizes: Mapping[ShardName, int],
        size_max: float,
        hold: Callable[[], None] = lambda: None,
    ) -> bool:
        """Read at most this many bytes of bases of these ``sizes`` and of shards. Return whether there may be more.

        ``hold`` is called between two commands.
        """
        left = size_max
        for name in self.bases.unread(sizes):
            goes_on = True
            while goes_on and left > 0 and (span := self.bases.span(name, sizes[name])) is not None:
                hold()
                (answer,) = self._backend.read([span])
                left -= len(answer) if isinstance(answer, bytes) else 0
                contents, goes_on = self.bases.feed(name, sizes[name], answer)
                for frame, content in contents:
                    self._offer(name, frame, content, is_base=True)
        for refusal in self.bases.refusals:
            self._refuse(refusal)
        self.bases.refusals.clear()
        for name in sorted(states.keys() - self.shards.keys()):
            self.shards[name] = ShardReader()
        # In turns, so that no shard delays the others: the one read last comes last.
        turn = deque(
            name for name, reader in self.shards.items() if name in states and states[name].size > reader.offset
        )
        while left > 0 and (spans := self._next_spans(turn, states, min(left, _READ_SIZE))):
            hold()
            for span, answer in zip(spans, self._backend.read(spans), strict=True):
                left -= len(answer) if isinstance(answer, bytes) else 0
                if self._goes_on(span.name, answer):
                    turn.append(span.name)
        return left <= 0

    def _next_spans(
        self, turn: deque[ShardName], states: Mapping[ShardName, ShardState], size_max: float
    ) -> list[Span]:
        """Return what to read of the first shards, which are removed from ``turn``: at most one record too much."""
        spans: list[Span] = []
        while turn and size_max > 0:
            name = turn.popleft()
            reader = self.shards[name]
            size = reader.wanted(states[name].size)
            if size:
                spans.append(Span(name, reader.offset, size))
                size_max -= size
        return spans

    def _goes_on(self, name: ShardName, answer: bytes | Unreadable) -> bool:
        """Learn what was read of a shard. Return whether to continue reading it."""
        reader = self.shards[name] = self.shards.pop(name)
        before = reader.offset, reader.needed
        frames: list[bytes] = []
        if isinstance(answer, Unreadable):
            refusal = reader.stop(answer.why)
        else:
            frames, refusal = reader.feed(answer)
        for frame in frames:
            try:
                content = decode(memoryview(frame)[FRAME_SIZE:])
            except RecordError as error:
                self._refuse(f"a record of shard {name} {error}")
            else:
                self._offer(name, frame, content, is_base=False)
        if refusal:
            self._refuse(f"shard {name} is read no further: {refusal}")
        return (reader.offset, reader.needed) != before and not reader.damage

    def _offer(self, name: ShardName, frame: bytes, content: BaseContent, *, is_base: bool) -> None:
        try:
            self._learn(name, frame, content, is_base)
        except RecordError as error:
            self._refuse(f"a record of {'base' if is_base else 'shard'} {name} {error}")

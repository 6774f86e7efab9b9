"""A shard: the records that one member has published, in order, as bytes that only grow; their framing and reading.

It is a magic number, a version, and then records. Each record follows its length, its checksum, and a checksum of both:
so a damaged length is recognised as damage, and is not taken for a record that is still being written.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ordeal._base.limits import MEBIBYTE
from ordeal.store.backend import Backend, ShardState, Span, Unreadable
from ordeal.store.records import RECORD_SIZE_MAX, Content, RecordError, decode

MAGIC = b"ordeal-shard\n"
VERSION = 1
#: How much is read or written at a time, in bytes; more only if a record needs it.
CHUNK_SIZE = 4 * MEBIBYTE
#: How often damage in a shard that does not grow is read again.
LOOKS_MAX = 3

_VERSION = struct.Struct("<H")
_FRAME = struct.Struct("<I8s")
_FRAME_CHECK = struct.Struct("<I")
_WHOLE_FRAME = struct.Struct("<I8sI")
FRAME_SIZE = _WHOLE_FRAME.size
HEADER = MAGIC + _VERSION.pack(VERSION)


def framed(record: bytes) -> bytes:
    """Return ``record`` with its frame."""
    frame = _FRAME.pack(len(record), hashlib.blake2b(record, digest_size=8).digest())
    return b"".join((frame, _FRAME_CHECK.pack(zlib.crc32(frame)), record))


class _DamageError(Exception):
    """What follows is not a record."""


@dataclass(slots=True)
class ShardReader:
    """Reads the shard of another member as it grows. It stops at damage, and never reads beyond it.

    Damage is read again a few times, and whenever the shard has grown, because a network file system may show a write
    in pieces. While it remains, nothing behind it is read.

    Attributes:
        offset: of the first unread byte.
        damage: why reading has stopped, else empty.
        needed: how many bytes from there are needed to continue.
    """

    offset: int = 0
    damage: str = ""
    needed: int = len(HEADER)
    _size: int = field(default=0, init=False)
    _looks: int = field(default=0, init=False)
    _told_at: int = field(default=-1, init=False)

    def wanted(self, size: int) -> int:
        """Return how many bytes to read from ``offset``, of a shard of this ``size``."""
        left = size - self.offset
        self._looks = self._looks + 1 if self.damage and size == self._size else 0
        self._size = size
        # Nothing but a header is not worth a look: all of a thousand members have one before they find anything.
        if left < self.needed or size == len(HEADER) or self._looks > LOOKS_MAX:
            return 0
        return min(left, max(CHUNK_SIZE, self.needed))

    def feed(self, data: bytes) -> tuple[list[bytes], str]:
        """Take the bytes from ``offset``. Return the framed records in them, and what is wrong behind these, once."""
        self.damage = ""
        parts: list[tuple[int, int]] = []
        at = 0
        try:
            if self.offset == 0:
                if not MAGIC.startswith(data[: len(MAGIC)]):
                    raise _DamageError("it is not a shard of ordeal")
                if len(data) >= len(HEADER):  # otherwise it is incomplete
                    (version,) = _VERSION.unpack_from(data, len(MAGIC))
                    if version != VERSION:
                        raise _DamageError(f"it has version {version}; this ordeal reads version {VERSION}")
                    at = len(HEADER)
            if self.offset + at:
                at = self._parts(data, at, parts)
        except _DamageError as error:
            at = parts[-1][1] if parts else at
            self.damage = str(error)
        self.offset += at
        return [data[begin:end] for begin, end in parts], self._said_once()

    def stop(self, why: str) -> str:
        """Note that reading failed, because of ``why``. Return that the first time."""
        self.damage = why
        return self._said_once()

    def _said_once(self) -> str:
        if not self.damage or self._told_at == self.offset:
            return ""
        self._told_at = self.offset
        return self.damage

    def _parts(self, data: bytes, at: int, parts: list[tuple[int, int]]) -> int:
        """Add where each whole record from ``at`` begins, with its frame, and ends. Return where the last one ends.

        A loop over all that a fleet has published, so its work is inlined.
        """
        unpack, size_all, checked = _WHOLE_FRAME.unpack_from, len(data), _FRAME.size
        while True:
            begin = at + FRAME_SIZE
            if begin > size_all:
                self.needed = FRAME_SIZE
                return at
            size, checksum, check = unpack(data, at)
            if zlib.crc32(data[at : at + checked]) != check:
                raise _DamageError(f"what begins at byte {self.offset + at} is not a record")
            if size > RECORD_SIZE_MAX:
                place = f"the record at byte {self.offset + at}"
                raise _DamageError(f"{place} has {size} bytes; at most {RECORD_SIZE_MAX} are read")
            end = begin + size
            if end > size_all:
                self.needed = FRAME_SIZE + size
                return at
            if hashlib.blake2b(data[begin:end], digest_size=8).digest() != checksum:
                raise _DamageError(f"the record at byte {self.offset + at} does not fit its checksum")
            parts.append((at, end))
            at = end


class NamespaceReader:
    """Reads all shards of a namespace in turns, each from where it stopped. Owned by one thread.

    Attributes:
        shards: how far each shard was read.
    """

    def __init__(
        self,
        backend: Backend,
        learn: Callable[[str, Content], None],
        refuse: Callable[[str], None],
    ) -> None:
        """``learn`` takes the token of a shard with a content of it, and may raise ``RecordError``.

        ``refuse`` takes what is wrong with a shard or a record.
        """
        self._backend = backend
        self._learn = learn
        self._refuse = refuse
        self.shards: dict[str, ShardReader] = {}

    def read(self, states: Mapping[str, ShardState], size_max: float) -> bool:
        """Read at most this many bytes of these shards. Return whether there may be more."""
        left = size_max
        for token in sorted(states.keys() - self.shards.keys()):
            self.shards[token] = ShardReader()
        # In turns, so that no shard delays the others: the one read last comes last.
        turn = deque(
            token for token, reader in self.shards.items() if token in states and states[token].size > reader.offset
        )
        while left > 0 and (spans := self._next_spans(turn, states, min(left, CHUNK_SIZE))):
            for span, answer in zip(spans, self._backend.read(spans), strict=True):
                left -= len(answer) if isinstance(answer, bytes) else 0
                if self._goes_on(span.token, answer):
                    turn.append(span.token)
        return left <= 0

    def _next_spans(self, turn: deque[str], states: Mapping[str, ShardState], size_max: float) -> list[Span]:
        """Return what to read of the first shards, which are removed from ``turn``: at most one record too much."""
        spans: list[Span] = []
        while turn and size_max > 0:
            token = turn.popleft()
            reader = self.shards[token]
            size = reader.wanted(states[token].size)
            if size:
                spans.append(Span(token, reader.offset, size))
                size_max -= size
        return spans

    def _goes_on(self, token: str, answer: bytes | Unreadable) -> bool:
        """Learn what was read of a shard. Return whether to continue reading it."""
        reader = self.shards[token] = self.shards.pop(token)
        before = reader.offset, reader.needed
        frames: list[bytes] = []
        if isinstance(answer, Unreadable):
            refusal = reader.stop(answer.why)
        else:
            frames, refusal = reader.feed(answer)
        for frame in frames:
            try:
                self._learn(token, decode(memoryview(frame)[FRAME_SIZE:]))
            except RecordError as error:
                self._refuse(f"a record of shard {token} {error}")
        if refusal:
            self._refuse(f"shard {token} is read no further: {refusal}")
        return (reader.offset, reader.needed) != before and not reader.damage

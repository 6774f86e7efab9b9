"""What members of a store exchange, and the content of a shard: checked MessagePack, which runs no code when read."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

import msgspec
import msgspec.structs

#: Edges are unsigned keys with this many bits.
EDGE_BITS = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One tape of a corpus, and the edges that it was the first to reach, if any.

    ``tape`` is opaque to the store: the importer checks it.
    """

    tape: bytes
    edges: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """32 hex digits that are the same for the same tape, wherever it was found."""
        return hashlib.blake2b(self.tape, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a member has found since its last exchange. Repeating something changes nothing.

    ``edges`` are all that were reached here, also through the entries of others: they are not offered again.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the others have published since the last exchange.

    Attributes:
        entries: worth a run here, as they reached edges that were not reached here; the rarest first, then the newest.
        edges: reached by others, and not reported before.
        failures: buckets about which something new is known, as all members know them.
        refused: how many records or inputs were malformed or too large, and therefore ignored.
        refusal: why, for the first of them; else empty.
        members: how many were active in the store within the last minute, including this one. 0 while it is away.
        paused: why the store could not be reached, else empty. What was to be published waits for it.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()
    refused: int = 0
    refusal: str = ""
    members: int = 0
    paused: str = ""


#: Larger records are neither written nor read, in bytes.
RECORD_SIZE_MAX = 16 * 2**20
BUCKET_CHARS_MAX = 4_000
#: The largest count.
COUNT_MAX = 2**62

_Count = Annotated[int, msgspec.Meta(ge=0, le=COUNT_MAX)]
_Bucket = Annotated[str, msgspec.Meta(max_length=BUCKET_CHARS_MAX)]


class RecordError(Exception):
    """Bytes that are not a record, or an object that cannot become one; the message is the end of a sentence."""


class _EntryRecord(msgspec.Struct, tag="entry", array_like=True, frozen=True, forbid_unknown_fields=True):
    tape: bytes
    edges: bytes


class _EdgesRecord(msgspec.Struct, tag="edges", array_like=True, frozen=True, forbid_unknown_fields=True):
    edges: bytes


class FailureReport(msgspec.Struct, tag="failure", array_like=True, frozen=True, forbid_unknown_fields=True):
    """What is known about a failure bucket: its shortest trace, the number of its steps, and how often it was met.

    ``trace`` is JSON, opaque to the store; it is empty if only the count is known. If it is ``shrunk``, no member need
    make it shorter. A member publishes its own total count so far; a report from the store counts what all have met.
    """

    bucket: _Bucket
    trace: bytes
    steps: _Count
    count: _Count
    shrunk: bool = True


Content = Entry | frozenset[int] | FailureReport

_decoder: msgspec.msgpack.Decoder[_EntryRecord | _EdgesRecord | FailureReport] = msgspec.msgpack.Decoder(
    _EntryRecord | _EdgesRecord | FailureReport
)
_encoder = msgspec.msgpack.Encoder()


def bucket_text(bucket: str) -> str:
    """Return ``bucket`` in the shared form: with limited length, in characters that every encoding has."""
    return bucket[:BUCKET_CHARS_MAX].encode("utf-8", "replace").decode("utf-8")


def encode(content: Content) -> bytes:
    """Encode ``content`` as a record.

    Raises:
        RecordError: it is too large, or a number in it is out of range.
    """
    record: msgspec.Struct
    if isinstance(content, Entry):
        record = _EntryRecord(content.tape, _packed(content.edges))
    elif isinstance(content, FailureReport):
        for name in ("steps", "count"):
            if not 0 <= getattr(content, name) <= COUNT_MAX:
                raise RecordError(f"has {getattr(content, name)} as {name}; it must be from 0 to {COUNT_MAX}")
        record = msgspec.structs.replace(content, bucket=bucket_text(content.bucket))
    else:
        # Sorted, so that equal sets of edges give equal bytes.
        record = _EdgesRecord(_packed(sorted(content)))
    data = _encoder.encode(record)
    if len(data) > RECORD_SIZE_MAX:
        raise RecordError(f"has {len(data)} bytes; at most {RECORD_SIZE_MAX} are shared")
    return data


def decode(data: bytes | memoryview) -> Content:
    """Decode what ``encode`` returned.

    Raises:
        RecordError: these are no such bytes.
    """
    try:
        record = _decoder.decode(data)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"is malformed: {error}") from error
    if isinstance(record, _EntryRecord):
        return Entry(record.tape, _unpacked(record.edges))
    if isinstance(record, _EdgesRecord):
        return frozenset(_unpacked(record.edges))
    return record


def _packed(edges: Collection[int]) -> bytes:
    try:
        return struct.pack(f"<{len(edges)}Q", *edges)
    except struct.error as error:
        raise RecordError(f"has an edge that is not an unsigned key of {EDGE_BITS} bits") from error


def _unpacked(data: bytes) -> tuple[int, ...]:
    count, rest = divmod(len(data), 8)
    if rest:
        raise RecordError(f"is malformed: {len(data)} bytes are not a whole number of edges")
    return struct.unpack(f"<{count}Q", data)

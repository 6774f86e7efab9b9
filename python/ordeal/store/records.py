"""The content of a shard: entries, edges and failures as checked MessagePack, which runs no code when it is read."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

import msgspec

from ordeal.store.messages import EDGE_BITS, Entry, FailureReport

#: Larger records are neither written nor read, in bytes.
RECORD_SIZE_MAX = 16 * 2**20
BUCKET_CHARS_MAX = 4_000
#: The largest count.
COUNT_MAX = 2**62
_EDGE_SIZE = EDGE_BITS // 8

#: The length of the name of a shard or base, as text.
_NAME_CHARS_MAX = 32

_Count = Annotated[int, msgspec.Meta(ge=0, le=COUNT_MAX)]
_Bucket = Annotated[str, msgspec.Meta(max_length=BUCKET_CHARS_MAX)]
_Name = Annotated[str, msgspec.Meta(max_length=_NAME_CHARS_MAX)]


class RecordError(Exception):
    """Bytes that are no record, or an object that cannot become one; the message is the end of a sentence."""


class _EntryRecord(msgspec.Struct, tag="entry", array_like=True, frozen=True, forbid_unknown_fields=True):
    tape: bytes
    edges: bytes


class _EdgesRecord(msgspec.Struct, tag="edges", array_like=True, frozen=True, forbid_unknown_fields=True):
    edges: bytes


class _FailureRecord(msgspec.Struct, tag="failure", array_like=True, frozen=True, forbid_unknown_fields=True):
    bucket: _Bucket
    trace: bytes
    steps: _Count
    count: _Count
    shrunk: bool = True


class _CoversRecord(msgspec.Struct, tag="covers", array_like=True, frozen=True, forbid_unknown_fields=True):
    shards: dict[_Name, _Count]
    bases: list[_Name]


class _BucketRecord(msgspec.Struct, tag="bucket", array_like=True, frozen=True, forbid_unknown_fields=True):
    bucket: _Bucket
    trace: bytes
    steps: _Count
    counts: dict[_Name, _Count]
    shrunk: bool = True


@dataclass(frozen=True, slots=True)
class Covers:
    """What a base stands for: shards up to an offset, and the bases before it, all by name."""

    shards: dict[str, int]
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """A failure bucket in a base, with the count of each member by its token."""

    bucket: str
    trace: bytes
    steps: int
    counts: dict[str, int]
    shrunk: bool = True


#: What members write: an entry, separate edges, or a failure.
Content = Entry | frozenset[int] | FailureReport
#: What a base contains beside entries and edges.
BaseContent = Content | Covers | Bucket

_decoder = msgspec.msgpack.Decoder(_EntryRecord | _EdgesRecord | _FailureRecord | _CoversRecord | _BucketRecord)
_encoder = msgspec.msgpack.Encoder()


def bucket_text(bucket: str) -> str:
    """Return ``bucket`` in the shared form: with limited length, in characters that every encoding has."""
    return bucket[:BUCKET_CHARS_MAX].encode("utf-8", "replace").decode("utf-8")


def encode(content: BaseContent) -> bytes:
    """Encode ``content`` as a record.

    Raises:
        RecordError: it is too large, or a number in it is out of range.
    """
    if isinstance(content, Entry):
        record: msgspec.Struct = _EntryRecord(content.tape, _packed(content.edges))
    elif isinstance(content, FailureReport):
        record = _failure_record(content)
    elif isinstance(content, Covers):
        record = _CoversRecord(content.shards, list(content.bases))
    elif isinstance(content, Bucket):
        record = _BucketRecord(content.bucket, content.trace, content.steps, content.counts, content.shrunk)
    else:
        # Sorted, so that equal sets of edges give equal bytes.
        record = _EdgesRecord(_packed(sorted(content)))
    data = _encoder.encode(record)
    if len(data) > RECORD_SIZE_MAX:
        raise RecordError(f"has {len(data)} bytes; at most {RECORD_SIZE_MAX} are shared")
    return data


def decode(data: bytes | memoryview) -> Content:
    """Decode a record of a member.

    Raises:
        RecordError: these are no such bytes.
    """
    content = decode_of_base(data)
    if isinstance(content, (Covers, Bucket)):
        raise RecordError("belongs in a base, and no member writes it")
    return content


def decode_of_base(data: bytes | memoryview) -> BaseContent:
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
    if isinstance(record, _FailureRecord):
        return FailureReport(record.bucket, record.trace, record.steps, record.count, record.shrunk)
    if isinstance(record, _CoversRecord):
        return Covers(record.shards, tuple(record.bases))
    if isinstance(record, _BucketRecord):
        return Bucket(record.bucket, record.trace, record.steps, record.counts, record.shrunk)
    return frozenset(_unpacked(record.edges))


def _failure_record(report: FailureReport) -> _FailureRecord:
    for name in ("steps", "count"):
        if not 0 <= getattr(report, name) <= COUNT_MAX:
            raise RecordError(f"has {getattr(report, name)} as {name}; it must be from 0 to {COUNT_MAX}")
    return _FailureRecord(bucket_text(report.bucket), report.trace, report.steps, report.count, report.shrunk)


def _packed(edges: Collection[int]) -> bytes:
    try:
        return struct.pack(f"<{len(edges)}Q", *edges)
    except struct.error as error:
        raise RecordError(f"has an edge that is no unsigned key of {EDGE_BITS} bits") from error


def _unpacked(data: bytes) -> tuple[int, ...]:
    count, rest = divmod(len(data), _EDGE_SIZE)
    if rest:
        raise RecordError(f"is malformed: {len(data)} bytes are no whole number of edges")
    return struct.unpack(f"<{count}Q", data)

"""Records and shards come back as they were written, and of what nobody wrote there are only refusals."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.store import Entry, FailureReport, records
from ordeal.store.records import BUCKET_CHARS_MAX, COUNT_MAX, Content, RecordError, decode, encode
from ordeal.store.shard import HEADER, LOOKS_MAX, ShardReader, framed

from ..mutations import mutated

EDGES = st.integers(0, 2**64 - 1)
COUNTS = st.integers(0, COUNT_MAX)
CONTENTS: st.SearchStrategy[Content] = st.one_of(
    st.builds(Entry, st.binary(), st.lists(EDGES).map(tuple)),
    st.frozensets(EDGES),
    st.builds(FailureReport, st.text(max_size=50), st.binary(), COUNTS, COUNTS),
)
SAMPLES: list[Content] = [
    Entry(b"tape of a run" * 9, (1, 2**64 - 1, 77)),
    Entry(b""),
    frozenset(range(2**40, 2**40 + 30)),
    FailureReport("KeyError in shop.till:pay", b'{"format": "ordeal-trace", "steps": [[[[]]]]}', 12, 345),
]
SHARD = HEADER + b"".join(framed(encode(content)) for content in SAMPLES)


def read(data: bytes, step: int) -> tuple[list[bytes], list[str]]:
    """All that a reader gets of a shard which grows by ``step`` bytes at a time, and all that it complains of."""
    reader, got, said = ShardReader(), [], []
    for end in [*range(step, len(data), step), len(data)]:
        size = reader.wanted(end)
        if size:
            found, refusal = reader.feed(data[reader.offset : reader.offset + size])
            got += found
            said += [refusal] if refusal else []
    return got, said


# -- records --


@given(CONTENTS)
def test_contents_come_back(content: Content) -> None:
    assert decode(encode(content)) == content


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        content = decode(data)
    except RecordError:
        return
    assert decode(encode(content)) == content


def test_thousands_of_mutated_records_are_read_or_refused() -> None:
    rng = random.Random(0)
    originals = [encode(content) for content in SAMPLES]
    refused = 0
    for _ in range(4_000):
        data = mutated(rng, rng.choice(originals), rng.choice(originals))
        try:
            decode(data)
        except RecordError as error:
            assert len(str(error)) < 500  # noqa: PT017 - either is right
            refused += 1
    assert refused > 1_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc0",
        b"\x91" * 1_000_000,
        b"\x81\xa1a" * 200_000,
        b"\x93\xa5entry\xc6\xff\xff\xff\xff",
        b"\x93\xa5entry\xdd\xff\xff\xff\xff\xc4\x00",
        b"\x93\xa5entry\xc4\x00\xc4\x07abcdefg",
        b"\x94\xa5entry\xc4\x00\xc4\x00\xc4\x00",
        b"\x92\xa4tape\xc4\x00",
        b"\x95\xa7failure\xa1x\xc4\x00\xff\x00",
        b"\x95\xa7failure\xa1\xff\xc4\x00\x00\x00",
        b"\x95\xa7failure\xda\xff\xff" + b"x" * 65_535 + b"\xc4\x00\x00\x00",
        b"\x95\xa7failure\xa1x\xc4\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x00",
    ],
)
def test_hostile_records_are_refused(data: bytes) -> None:
    with pytest.raises(RecordError, match="is malformed"):
        decode(data)


@pytest.mark.parametrize(
    "content",
    [
        Entry(bytes(records.RECORD_SIZE_MAX)),
        Entry(b"", (2**64,)),
        Entry(b"", (-1,)),
        frozenset({-1}),
        FailureReport("x", b"", -1, 0),
        FailureReport("x", b"", 0, COUNT_MAX + 1),
    ],
)
def test_what_cannot_be_read_is_not_written(content: Content) -> None:
    with pytest.raises(RecordError, match="has "):
        encode(content)


def test_a_bucket_is_shared_as_text_of_bounded_length() -> None:
    back = decode(encode(FailureReport("\udcff" + "x" * 2 * BUCKET_CHARS_MAX, b"", 0, 0)))
    assert isinstance(back, FailureReport)
    assert back.bucket == "?" + "x" * (BUCKET_CHARS_MAX - 1)


def test_the_same_edges_make_the_same_record() -> None:
    assert encode(frozenset([3, 2**50, 1])) == encode(frozenset([2**50, 1, 3]))


def test_an_entry_is_known_by_its_tape() -> None:
    assert Entry(b"x", (1,)).id == Entry(b"x").id != Entry(b"y").id


# -- shards --


@given(st.lists(st.binary(max_size=50)), st.integers(1, 100))
def test_a_shard_that_grows_is_read_whole(contents: list[bytes], step: int) -> None:
    data = HEADER + b"".join(map(framed, contents))
    assert read(data, step) == (contents, [])


def test_records_are_read_beyond_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.store.shard.CHUNK_SIZE", 10)
    contents = [b"x" * 100, b"", b"y" * 5]
    data = HEADER + b"".join(map(framed, contents))
    reader, got = ShardReader(), []
    while size := reader.wanted(len(data)):
        got += reader.feed(data[reader.offset : reader.offset + size])[0]
    assert got == contents


def test_thousands_of_mutated_shards_give_what_was_written_or_refusals() -> None:
    rng = random.Random(1)
    written = {encode(content) for content in SAMPLES}
    damaged = 0
    for _ in range(4_000):
        data = mutated(rng, SHARD, SHARD)
        got, said = read(data, rng.choice([7, 100, 10_000]))
        # What passes its checksum was written, perhaps elsewhere in the shard.
        assert written.issuperset(got)
        assert len(said) <= 1
        damaged += bool(said)
    assert damaged > 1_000


@pytest.mark.parametrize("at", range(len(HEADER), len(HEADER) + 16))
def test_damage_in_the_frame_of_a_record_is_seen_at_once(at: int) -> None:
    data = bytearray(SHARD)
    data[at] ^= 0x80
    got, said = read(bytes(data), len(data))
    assert got == []
    assert len(said) == 1


def test_a_length_beyond_the_limit_is_not_waited_for() -> None:
    frame = struct.pack("<I8s", 2**32 - 1, bytes(8))
    data = HEADER + frame + struct.pack("<I", zlib.crc32(frame))
    assert "4294967295 bytes" in read(data, len(data))[1][0]


def test_an_unharmed_length_is_waited_for() -> None:
    for end in range(len(SHARD)):
        _, said = read(SHARD[:end], 10_000)
        assert said == []


def test_damage_is_looked_at_again_a_few_times_and_when_the_shard_grows() -> None:
    reader = ShardReader()
    data = HEADER + bytes(40)
    looks = 0
    for _ in range(10):
        if size := reader.wanted(len(data)):
            looks += 1
            reader.feed(data[reader.offset : reader.offset + size])
    assert looks == 1 + LOOKS_MAX
    assert reader.wanted(len(data) + 1) > 0


def test_what_could_not_be_read_is_said_once_and_tried_again() -> None:
    reader = ShardReader()
    assert reader.wanted(len(SHARD))
    assert [reader.stop("denied") for _ in range(3)] == ["denied", "", ""]
    assert reader.wanted(len(SHARD))
    got, said = reader.feed(SHARD)
    assert (len(got), said) == (len(SAMPLES), "")

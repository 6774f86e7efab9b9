"""Shards are read as they were written, bit by bit, and of damage there are only refusals."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.store.records import encode
from ordeal.store.shard import FRAME_SIZE, HEADER, LOOKS_MAX, ShardReader, framed

from ..samples.mutations import mutated
from .samples import SAMPLES

SHARD = HEADER + b"".join(framed(encode(content)) for content in SAMPLES)


def read(data: bytes, step: int) -> tuple[list[bytes], list[str]]:
    """All that a reader gets of a shard which grows by ``step`` bytes at a time, and all that it complains of."""
    reader, got, said = ShardReader(), [], []
    for end in [*range(step, len(data), step), len(data)]:
        size = reader.wanted(end)
        if size:
            found, refusal = reader.feed(data[reader.offset : reader.offset + size])
            got += [frame[FRAME_SIZE:] for frame in found]
            said += [refusal] if refusal else []
    return got, said


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
    assert got == list(map(framed, contents))


def test_a_shard_without_records_is_not_read() -> None:
    assert not ShardReader().wanted(len(HEADER))


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

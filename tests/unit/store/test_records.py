"""Records and shards come back as they were written, and of what nobody wrote there are only refusals."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.store import Entry, FailureReport, records
from ordeal.store.records import BUCKET_CHARS_MAX, COUNT_MAX, Content, RecordError, decode, encode

from ..samples.mutations import mutated
from .samples import SAMPLES

EDGES = st.integers(0, 2**64 - 1)
COUNTS = st.integers(0, COUNT_MAX)
CONTENTS: st.SearchStrategy[Content] = st.one_of(
    st.builds(Entry, st.binary(), st.lists(EDGES).map(tuple)),
    st.frozensets(EDGES),
    st.builds(FailureReport, st.text(max_size=50), st.binary(), COUNTS, COUNTS),
)


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


def test_a_name_is_the_same_on_every_machine_and_says_nothing_of_edges() -> None:
    assert Entry(b"tape").id == "228fda6bb499394060d117891bb63caa"
    assert len({Entry(bytes([number])).id for number in range(256)}) == 256

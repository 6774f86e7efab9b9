"""A base moves its reader to where it ends, and what is no base moves nothing."""

from __future__ import annotations

import pytest

from ordeal.store.backend import ShardName, Unreadable
from ordeal.store.bases import TRIES_MAX, BaseReader
from ordeal.store.messages import Entry
from ordeal.store.records import BaseContent, Covers, encode
from ordeal.store.shard import HEADER, ShardReader, framed

BASE = ShardName(3, "0123456789abcdef")
OLDER = ShardName(2, "0123456789abcdef")
SHARD = ShardName(0, "fedcba9876543210")
ENTRY = Entry(b"x", (1,))


def base_of(*contents: BaseContent) -> bytes:
    return HEADER + b"".join(framed(encode(content)) for content in contents)


def read(reader: BaseReader, data: bytes, name: ShardName = BASE) -> list[BaseContent]:
    """What is learnt of a base in one exchange."""
    learnt: list[BaseContent] = []
    goes_on = True
    while goes_on and (span := reader.span(name, len(data))) is not None:
        contents, goes_on = reader.feed(name, len(data), data[span.offset : span.offset + span.size])
        learnt += [content for _, content in contents]
    return learnt


def test_who_has_read_a_base_continues_where_it_ends() -> None:
    shards: dict[ShardName, ShardReader] = {}
    reader = BaseReader(shards)
    assert read(reader, base_of(Covers({str(SHARD): 500}, (str(OLDER),)), ENTRY)) == [ENTRY]
    assert shards[SHARD].offset == 500
    assert list(reader.unread({BASE: 9, OLDER: 9})) == []


def test_what_was_read_further_stays_so() -> None:
    shards = {SHARD: ShardReader(offset=700)}
    reader = BaseReader(shards)
    assert read(reader, base_of(Covers({str(SHARD): 500}), ENTRY)) == []
    assert shards[SHARD].offset == 700
    assert not reader.read


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (base_of(ENTRY), "begin"),
        (base_of(Covers({}), ENTRY)[:-3], ""),
        (base_of(Covers({str(SHARD): 5}), ENTRY)[:-3] + b"xyz", "checksum"),
        (b"something else " * 5, "no shard"),
        (HEADER + framed(b"rubbish"), "malformed"),
    ],
)
def test_what_is_no_base_is_refused_and_moves_nothing(data: bytes, refusal: str) -> None:
    shards: dict[ShardName, ShardReader] = {}
    reader = BaseReader(shards)
    for _ in range(TRIES_MAX):
        read(reader, data)
    assert shards == {}
    assert all(refusal in each for each in reader.refusals)
    assert bool(reader.refusals) == bool(refusal)


def test_a_base_that_is_gone_is_tried_a_few_times() -> None:
    reader = BaseReader({})
    for _ in range(TRIES_MAX):
        assert list(reader.unread({BASE: 100})) == [BASE]
        assert reader.span(BASE, 100) is not None
        assert reader.feed(BASE, 100, Unreadable("gone")) == ([], False)
    assert list(reader.unread({BASE: 100})) == []

"""Messages between processes arrive as they were sent, and what is none is refused."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal._engine.isolation import channel
from ordeal._engine.isolation.channel import Channel, ChannelError, Value, decode, encode

VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary())


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    one, other = Channel.pair()
    yield one, other
    one.close()
    other.close()


def same(a: Value, b: Value) -> bool:
    return type(a) is type(b) and (a == b or (a != a and b != b))


@given(st.lists(VALUES))
def test_values_come_back(values: list[Value]) -> None:
    back = decode(encode(tuple(values)))
    assert len(back) == len(values)
    assert all(map(same, back, values))


def test_values_at_the_edges_come_back() -> None:
    values = (-(2**63), 2**200, -1, 0, 127, 128, -128, -129, math.inf, -0.0, "\ud800", "", b"\0", True, 1)
    back = decode(encode(values))
    assert list(map(repr, back)) == list(map(repr, values))


@given(st.binary())
def test_any_bytes_are_read_or_refused(message: bytes) -> None:
    try:
        values = decode(message)
    except ChannelError:
        return
    assert len(decode(encode(tuple(values)))) == len(values)


@given(st.lists(VALUES, min_size=1), st.data())
def test_what_is_cut_off_is_refused_or_ends_between_values(values: list[Value], data: st.DataObject) -> None:
    message = encode(tuple(values))
    cut = message[: data.draw(st.integers(0, len(message) - 1))]
    try:
        assert len(decode(cut)) < len(values)
    except ChannelError as error:
        assert str(error)  # noqa: PT017 - either is right


def test_other_values_are_not_sent() -> None:
    with pytest.raises(TypeError, match="a list cannot be sent"):
        encode(([],))  # type: ignore[arg-type]


def test_messages_keep_their_order_and_long_ones_arrive_whole(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    child = os.fork()
    if child == 0:
        here.send("short", 1)
        here.send("long", b"x" * 1_000_000)
        here.send("last")
        os._exit(0)
    assert there.receive() == ["short", 1]
    assert there.receive() == ["long", b"x" * 1_000_000]
    assert there.receive() == ["last"]
    os.waitpid(child, 0)


def test_a_message_alone_takes_the_place_of_a_torn_one(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    here._end.send(b"\x00torn")
    here.send("gone", 3, alone=True)
    assert there.receive() == ["gone", 3]


def test_nobody_there_is_an_error(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    here.close()
    with pytest.raises(ChannelError, match="the other process is gone"):
        there.receive()
    with pytest.raises(ChannelError, match="the other process is gone"):
        there.send("anybody")


def test_what_begins_no_message_is_refused(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    here._end.send(b"hello")
    with pytest.raises(ChannelError, match="begins no message"):
        there.receive()


def test_an_endless_message_is_refused(pair: tuple[Channel, Channel], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "INPUT_BYTES_MAX", 10)
    here, there = pair
    here.send("more than ten bytes")
    with pytest.raises(ChannelError, match="more than 10 bytes"):
        there.receive()

"""Faults on generators of both kinds act on their items and leave all else that callers can do with them as it is."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from ordeal.faults import MultiPatchFault, PatchFault, concurrency, io, network, numerical, timing

from ..samples.shop import add_module, shop_app

SOURCE = """
log = []

def chunks(*items):
    try:
        for item in items:
            try:
                answer = yield item
                log.append(answer)
            except KeyError as error:
                log.append(type(error))
        return "end"
    finally:
        log.append("closed")

async def stream(*items):
    try:
        for item in items:
            try:
                answer = yield item
                log.append(answer)
            except KeyError as error:
                log.append(type(error))
    finally:
        log.append("closed")

class Feed:
    def chunks(self, *items):
        yield from items

    @classmethod
    async def stream(cls, *items):
        for item in items:
            yield item

def made(*items):
    return (item for item in items)
"""

CHUNKS, STREAM = "shop_app.feed.chunks", "shop_app.feed.stream"


@pytest.fixture
def feed() -> Iterator[ModuleType]:
    with shop_app():
        yield add_module("feed", SOURCE)


async def items_of(stream: Any) -> list[Any]:
    return [item async for item in stream]


def read(name: str, feed: ModuleType, *items: Any) -> Any:
    """All items, whichever kind of generator it is, or the kind of the error."""
    try:
        function = eval(f"feed.{name}", {"feed": feed})
        result = function(*items)
        return asyncio.run(items_of(result)) if inspect.isasyncgen(result) else list(result)
    except (TimeoutError, RuntimeError, network.HTTPFaultError) as error:
        return type(error)


def same(original: Any) -> Any:
    def call(*args: Any) -> Any:
        return original(*args)

    return call


NAMES = ["chunks", "stream", "Feed().chunks", "Feed.stream"]
FAULTS: dict[str, tuple[Callable[[str], MultiPatchFault], Any]] = {
    "timeout": (timing.timeout, TimeoutError),
    "http_error": (network.http_error, network.HTTPFaultError),
    "slow": (lambda target: timing.slow(target, 0.0, "real"), [b"abcd", b"ef"]),
    "return_empty": (io.return_empty, []),
    "truncate_output": (io.truncate_output, [b"ab", b"e"]),
    "contended_call": (concurrency.contended_call, [b"abcd", b"ef"]),
    "delayed_release": (concurrency.delayed_release, [b"abcd", b"ef"]),
    "thread_boundary": (concurrency.thread_boundary, [b"abcd", b"ef"]),
    "let through": (lambda target: timing.timeout(target).limited(probability=0), [b"abcd", b"ef"]),
    "PatchFault": (lambda target: PatchFault(target, same), [b"abcd", b"ef"]),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", FAULTS)
def test_a_fault_acts_on_generators(feed: ModuleType, way: str, name: str) -> None:
    make, expected = FAULTS[way]
    with make(f"shop_app.feed.{name.replace('()', '')}") as fault:
        assert read(name, feed, b"abcd", b"ef") == expected
    assert fault.observation_hits == 1
    assert read(name, feed, b"abcd", b"ef") == [b"abcd", b"ef"]


def test_every_item_is_changed(feed: ModuleType) -> None:
    for name in ("chunks", "stream", "made"):
        with numerical.nan_injection(f"shop_app.feed.{name}"):
            assert str(read(name, feed, 1.0, [2, "x"])) == "[nan, [nan, 'x']]"


def test_generator_functions_stay_so(feed: ModuleType) -> None:
    with timing.slow(CHUNKS), PatchFault(CHUNKS, same), timing.slow(STREAM), PatchFault(STREAM, same):
        assert inspect.isgeneratorfunction(feed.chunks)
        assert inspect.isasyncgenfunction(feed.stream)


def test_a_generator_meets_the_faults_that_are_on_when_it_starts(feed: ModuleType) -> None:
    with timing.timeout(CHUNKS):
        pending, under_way = feed.chunks(1, 2), feed.chunks(1, 2)
        with pytest.raises(TimeoutError):
            next(under_way)
    assert list(pending) == [1, 2]


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_callers_send_and_throw_arrives(feed: ModuleType, is_changed: bool) -> None:
    fault = io.truncate_output(CHUNKS) if is_changed else timing.slow(CHUNKS)
    whole = [b"ab", b"cd", b"ef", b"gh"]
    expected = [item[:1] for item in whole] if is_changed else whole
    with fault:
        chunks = feed.chunks(*whole)
        found = [next(chunks), chunks.send("answer"), chunks.throw(KeyError("x")), next(chunks)]
        with pytest.raises(StopIteration) as end:
            next(chunks)
        unread = feed.chunks(*whole)
        next(unread)
        unread.close()
    assert found == expected
    assert end.value.value == "end"
    assert feed.log == ["answer", KeyError, None, None, "closed", "closed"]


@pytest.mark.parametrize("is_changed", [False, True])
def test_the_same_with_an_asynchronous_generator(feed: ModuleType, is_changed: bool) -> None:
    fault = io.truncate_output(STREAM) if is_changed else timing.slow(STREAM)
    whole = [b"ab", b"cd", b"ef", b"gh"]
    expected = [item[:1] for item in whole] if is_changed else whole

    async def use() -> list[bytes]:
        stream = feed.stream(*whole)
        found = [
            await anext(stream),
            await stream.asend("answer"),
            await stream.athrow(KeyError("x")),
            await anext(stream),
        ]
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        unread = feed.stream(*whole)
        await anext(unread)
        await unread.aclose()
        return found

    with fault:
        assert asyncio.run(use()) == expected
    assert feed.log == ["answer", KeyError, None, None, "closed", "closed"]


def test_an_error_that_the_generator_does_not_catch_comes_back(feed: ModuleType) -> None:
    with io.truncate_output(CHUNKS), io.truncate_output(STREAM):
        chunks = feed.chunks(b"ab")
        next(chunks)
        with pytest.raises(OSError, match="gone"):
            chunks.throw(OSError("gone"))

        async def use() -> None:
            stream = feed.stream(b"ab")
            await anext(stream)
            await stream.athrow(OSError("gone"))

        with pytest.raises(OSError, match="gone"):
            asyncio.run(use())

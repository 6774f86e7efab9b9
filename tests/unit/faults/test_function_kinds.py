"""Faults on generator functions of both kinds strike when they are called, and leave the items alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from ordeal.faults import PatchFault, concurrency, io, numerical, timing

from ..samples.shop import add_module, shop_app

SOURCE = """
def chunks(*items):
    answer = None
    for item in items:
        answer = yield answer or item
    return "end"

async def stream(*items):
    for item in items:
        yield item

class Feed:
    def chunks(self, *items):
        yield from items
"""

CHUNKS, STREAM = "shop_app.feed.chunks", "shop_app.feed.stream"


@pytest.fixture
def feed() -> Iterator[ModuleType]:
    with shop_app():
        yield add_module("feed", SOURCE)


def test_a_generator_meets_the_faults_that_are_on_when_it_is_called(feed: ModuleType) -> None:
    with timing.timeout(CHUNKS) as fault, timing.timeout(STREAM), timing.timeout("shop_app.feed.Feed.chunks"):
        for call in (feed.chunks, feed.stream, feed.Feed().chunks):
            with pytest.raises(TimeoutError):
                call(1, 2)
    assert fault.observation_hits == 1
    assert list(feed.chunks(1, 2)) == [1, 2]


@pytest.mark.parametrize(
    "make",
    [
        timing.slow,
        numerical.nan_injection,
        io.truncate_output,
        concurrency.contended_call,
        concurrency.thread_boundary,
        lambda target: timing.timeout(target).limited(probability=0),
        lambda target: PatchFault(target, lambda original: original),
    ],
)
def test_its_items_are_left_alone(feed: ModuleType, make: Any) -> None:
    async def read() -> list[float]:
        return [item async for item in feed.stream(1.0, 2.0)]

    with make(CHUNKS), make(STREAM):
        chunks = feed.chunks(1.0, 2.0, 3.0)
        assert [next(chunks), chunks.send("answer"), next(chunks)] == [1.0, "answer", 3.0]
        with pytest.raises(StopIteration, match="end"):
            next(chunks)
        assert asyncio.run(read()) == [1.0, 2.0]

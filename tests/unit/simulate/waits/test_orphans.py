"""A wait that nobody can end is told from one that somebody may still end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from unittest.mock import Mock

import pytest

from ordeal import simulate

type Main = Callable[[], Coroutine[Any, Any, Any]]

kept: list[Any] = []


async def beat(*_held: object) -> None:
    while True:
        await asyncio.sleep(600)


async def forgotten_event() -> None:
    beating = asyncio.create_task(beat())
    await asyncio.Event().wait()
    beating.cancel()


async def dropped_waiter() -> None:
    waiters: list[asyncio.Future[None]] = []
    beating = asyncio.create_task(beat())

    async def use() -> None:
        turn = asyncio.get_running_loop().create_future()
        waiters.append(turn)
        await turn

    uses = [asyncio.create_task(use()) for _ in range(3)]
    await asyncio.sleep(1)
    waiters.pop().set_result(None)
    waiters.clear()
    await asyncio.gather(*uses)
    beating.cancel()


async def empty_queue() -> None:
    queue = asyncio.Queue[int]()
    beating = asyncio.create_task(beat())
    producer = asyncio.create_task(queue.put(1))
    await queue.get()
    await producer
    await queue.get()
    beating.cancel()


async def each_holds_what_the_other_wants() -> None:
    beating = asyncio.create_task(beat())
    left, right = asyncio.Lock(), asyncio.Lock()

    async def take(first: asyncio.Lock, second: asyncio.Lock) -> None:
        async with first:
            await asyncio.sleep(1)
            async with second:
                pass

    await asyncio.gather(take(left, right), take(right, left))
    beating.cancel()


@pytest.mark.parametrize(
    "main",
    [forgotten_event, dropped_waiter, empty_queue, each_holds_what_the_other_wants],
    ids=lambda main: main.__name__,
)
def test_what_nobody_can_bring_about(main: Main) -> None:
    with pytest.raises(simulate.OrphanedWait, match=r"^at 3\d\d\d\.000 s nobody can wake ") as caught:
        simulate.run(main)
    assert f"{main.__name__}#0" in str(caught.value)
    assert caught.value.site


async def known_to_the_module() -> None:
    kept.append(asyncio.Event())
    asyncio.create_task(beat())  # noqa: RUF006
    await kept[-1].wait()


async def known_to_a_task() -> None:
    event = asyncio.Event()
    asyncio.create_task(beat(event))  # noqa: RUF006
    await event.wait()


async def ended_by_a_timeout() -> None:
    asyncio.create_task(beat())  # noqa: RUF006
    async with asyncio.timeout(100_000):
        await asyncio.Event().wait()


async def cancelled_by_a_task() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())

    async def end() -> None:
        await asyncio.sleep(100_000)
        waiting.cancel()

    asyncio.create_task(end())  # noqa: RUF006
    await waiting


async def set_by_a_timer() -> None:
    event = asyncio.Event()
    asyncio.create_task(beat())  # noqa: RUF006
    asyncio.get_running_loop().call_later(100_000, event.set)
    await event.wait()


async def known_to_what_says_yes_to_everything() -> None:
    kept.append(Mock(event=asyncio.Event()))
    asyncio.create_task(beat())  # noqa: RUF006
    await kept[-1].event.wait()


@pytest.mark.parametrize(
    "main",
    [
        known_to_the_module,
        known_to_what_says_yes_to_everything,
        known_to_a_task,
        ended_by_a_timeout,
        cancelled_by_a_task,
        set_by_a_timer,
    ],
    ids=lambda main: main.__name__,
)
def test_what_somebody_may_still_bring_about(main: Main) -> None:
    with pytest.raises(simulate.Livelock, match="not over at 7200 s"):
        simulate.run(main, time_limit=7_200)


async def waits_for_data(world: simulate.World) -> None:
    async def serve() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            await asyncio.sleep(20_000)
            writer.write(b"late")
            writer.close()

        server = await asyncio.start_server(answer, port=80)
        await server.serve_forever()

    world.node("db", serve)
    await world.until(lambda: True)
    reader, writer = await asyncio.open_connection("db", 80)
    writer.write(b"?")
    assert await reader.readexactly(4) == b"late"
    writer.close()


async def waits_behind_a_partition(world: simulate.World) -> None:
    async def serve() -> None:
        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"late")
            writer.close()

        server = await asyncio.start_server(answer, port=80)
        await server.serve_forever()

    world.node("db", serve)
    await world.until(lambda: True)
    reader, writer = await asyncio.open_connection("db", 80)
    world.partition("db")
    asyncio.get_running_loop().call_later(20_000, world.heal)
    assert await reader.readexactly(4) == b"late"
    writer.close()


@pytest.mark.parametrize("main", [waits_for_data, waits_behind_a_partition], ids=lambda main: main.__name__)
def test_what_a_network_brings_late_is_waited_for(main: Callable[..., Any]) -> None:
    simulate.run(main)

"""What servers keep in sets has the same order in each run: writers, transports, and queues of subscribers."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from ordeal import simulate

_CLIENTS = 12


async def order_of_clients() -> list[list[str]]:
    """In which order a server tells its clients, by each kind of object that it may keep of them."""
    sets: list[set[Any]] = [set(), set(), set(), set()]
    names: dict[Any, str] = {}
    done = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readline()).decode().strip()
        for known, kept in zip(sets, (writer, reader, writer.transport, asyncio.Queue()), strict=True):
            names[kept] = name
            known.add(kept)
        await done.wait()
        writer.close()

    async def client(name: str) -> None:
        _, writer = await asyncio.open_connection("localhost", 80)
        writer.write(f"{name}\n".encode())
        await done.wait()
        writer.close()

    server = await asyncio.start_server(answer, "localhost", 80)
    clients = [asyncio.create_task(client(str(number))) for number in range(_CLIENTS)]
    await asyncio.sleep(1)
    orders = [[names[each] for each in known] for known in sets]
    done.set()
    await asyncio.gather(*clients)
    server.close()
    return orders


def test_sets_have_the_same_order_in_each_run() -> None:
    first = simulate.run(order_of_clients)
    assert all(sorted(order) == sorted(map(str, range(_CLIENTS))) for order in first)
    ballast = []
    for _ in range(5):
        ballast.append([object() for _ in range(1000)])
        assert simulate.run(order_of_clients) == first


def test_endpoints_of_datagrams_have_numbers() -> None:
    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        made = [await loop.create_datagram_endpoint(asyncio.DatagramProtocol, ("localhost", 0)) for _ in range(3)]
        found = [hash(transport) for transport, _ in made]
        for transport, _ in made:
            transport.close()
        return found

    assert simulate.run(main) == [1, 2, 3]


def test_a_hash_stays_what_it_is() -> None:
    outside: asyncio.Queue[int] = asyncio.Queue()
    kept = {outside}
    inside: list[asyncio.Queue[int]] = []

    async def main() -> bool:
        inside.append(asyncio.Queue())
        kept.add(inside[0])
        return outside in kept

    assert simulate.run(main)
    assert inside[0] in kept
    assert hash(outside) == object.__hash__(outside)
    assert asyncio.run(main())


def test_a_server_that_tells_a_set_of_clients_is_no_warning() -> None:
    async def main() -> None:
        orders = await order_of_clients()
        with contextlib.suppress(ZeroDivisionError):
            # A set of other objects would be noticed: what is awaited depends on its order.
            await asyncio.sleep(int(orders[0][0]) / 100)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordeal.simulate.runtime.exploring.CHECK_EVERY", 2)
        assert not simulate.explore(main, runs=20).nondeterministic

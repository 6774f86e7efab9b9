"""Packets and empty ticks per second of the simulated network.

usage: python benchmarks/network.py [--rounds N]

`stream` sends pieces of 64 bytes over a connection and reads them, `nodes` does so between two nodes of a world,
`datagrams` sends them back and forth, and `ticks` is a task that sleeps for a simulated second, again and again.
Processor time counts, and the ways take turns. `simulated_time.py` says how many simulated seconds go by in one of the
processor.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Coroutine
from typing import Any

from harness.report import command, host, table

from ordeal import simulate

PACKETS = 10_000
TICKS = 10_000
_PIECE = b"x" * 64


async def _send() -> None:
    _, writer = await asyncio.open_connection("server", 80)
    for _ in range(PACKETS):
        writer.write(_PIECE)
        await asyncio.sleep(0)
    writer.close()


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1024):
        pass
    writer.close()


async def stream() -> None:
    done = asyncio.Event()

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _read(reader, writer)
        done.set()

    await asyncio.start_server(read, "server", 80)
    await _send()
    await done.wait()


async def nodes(world: simulate.World) -> None:
    done = asyncio.Event()

    async def serve() -> None:
        async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _read(reader, writer)
            done.set()

        await asyncio.start_server(read, port=80)

    world.node("server", serve)
    world.node("client", _send)
    await done.wait()


class _Echo(asyncio.DatagramProtocol):
    def __init__(self, left: int, ended: asyncio.Event) -> None:
        self.left = left
        self.ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.left -= 1
        if self.left:
            self.transport.sendto(data, addr)
        else:
            self.ended.set()


async def datagrams() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: _Echo(PACKETS, ended), ("server", 53))
    transport, _ = await loop.create_datagram_endpoint(lambda: _Echo(PACKETS, ended), remote_addr=("server", 53))
    transport.sendto(_PIECE)
    await ended.wait()


async def ticks() -> None:
    for _ in range(TICKS):
        await asyncio.sleep(1)


WAYS: tuple[tuple[Callable[..., Coroutine[Any, Any, None]], int], ...] = (
    (stream, PACKETS),
    (nodes, PACKETS),
    (datagrams, 2 * PACKETS),
    (ticks, TICKS),
)


def per_second(way: Callable[..., Coroutine[Any, Any, None]], number: int) -> float:
    begin = time.process_time()
    simulate.run(way)
    return number / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    measured = [[per_second(way, number) for way, number in WAYS] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*measured, strict=True)]
    rows = [(way.__name__, f"{median:,.0f}") for (way, _), median in zip(WAYS, medians, strict=True)]
    print(host(), command(), table(("what", "per second"), rows), sep="\n\n")


if __name__ == "__main__":
    main()

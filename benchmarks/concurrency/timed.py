"""Programs that mostly wait, for any event loop: how many simulated seconds go by in one of the processor.

Each takes ``start(name, function, *arguments)``, which starts an ``async def`` function on a node of that name.
"""

import asyncio
import importlib
import random
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "raft"))
raft: Any = importlib.import_module("raft")

type Start = Callable[..., object]

CLOCKS, TICKS = 100, 360
HEARTBEAT_S, BEATS = 1.0, 500
NAMES = ["a", "b", "c"]


async def fleet(_start: Start) -> float:
    """A hundred tasks that wake up every second, or every other: leases that are renewed, and what is tried again."""

    async def wake_up(seconds: float) -> None:
        for _ in range(TICKS):
            await asyncio.sleep(seconds)

    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(wake_up(1 + number / CLOCKS) for number in range(CLOCKS)))
    return loop.time() - began


class _Beats(asyncio.DatagramProtocol):
    seen = 0

    def datagram_received(self, data: bytes, addr: Any) -> None:
        del data, addr
        self.seen += 1


async def beat(name: str) -> None:
    """Tell the two other nodes each second that this one lives."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(_Beats, ("0.0.0.0", 53))
    while True:
        for other in NAMES:
            if other != name:
                transport.sendto(b"I live", (other, 53))
        await asyncio.sleep(HEARTBEAT_S)


async def heartbeats(start: Start) -> float:
    """Three nodes that tell each other each second that they live."""
    for name in NAMES:
        start(name, beat, name)
    await asyncio.sleep(BEATS * HEARTBEAT_S)
    return BEATS * HEARTBEAT_S


class InMemory(raft.Raft):  # type: ignore[misc]
    """The Raft of `examples/raft` without its disk, which not every simulation has."""

    def load(self) -> None:
        """Begin with nothing."""

    def save(self) -> None:
        """Keep what there is."""


async def _replica(name: str, nodes: dict[str, Any]) -> None:
    nodes[name] = InMemory(name, [other for other in NAMES if other != name])
    await nodes[name].run()


async def agreement(start: Start) -> float:
    """Three nodes that agree on what two clients put, for eight seconds; a leader is heard of ten times a second."""
    random.seed(1)
    nodes: dict[str, Any] = {}
    for name in NAMES:
        start(name, _replica, name, nodes)

    async def put_all(name: str) -> None:
        client = raft.Client(NAMES)
        await client.connect()
        for number in range(5):
            await client.put(f"{name}{number}")
            await asyncio.sleep(0.3)

    loop = asyncio.get_running_loop()
    began = loop.time()
    clients = [asyncio.create_task(put_all(name)) for name in ("x", "y")]
    await asyncio.sleep(8)
    for client in clients:  # some wait for good, where too many datagrams are lost
        client.cancel()
    return loop.time() - began


#: Each with how many runs of it are one measurement.
PROGRAMS: dict[str, tuple[Callable[[Start], Coroutine[Any, Any, float]], int]] = {
    "fleet": (fleet, 1),
    "heartbeats": (heartbeats, 2),
    "agreement": (agreement, 20),
}

"""Datagrams between endpoints of one run: lost, doubled, late, and never more than that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordeal import simulate


class Inbox(asyncio.DatagramProtocol):
    """Keeps what arrives, and answers it if it is told to."""

    def __init__(self, is_answering: bool = False) -> None:
        self.got: list[bytes] = []
        self.senders: list[Any] = []
        self.is_answering = is_answering
        self.is_lost = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.got.append(data)
        self.senders.append(addr)
        if self.is_answering:
            self.transport.sendto(data.upper(), addr)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True


async def endpoint(port: int = 0, *, is_answering: bool = False, remote: tuple[str, int] | None = None) -> Inbox:
    loop = asyncio.get_running_loop()
    local = ("0.0.0.0", port) if port else None
    _, protocol = await loop.create_datagram_endpoint(lambda: Inbox(is_answering), local_addr=local, remote_addr=remote)
    return protocol


def test_an_answer_arrives_in_the_turn_of_a_time_out() -> None:
    class Client(Inbox):
        answer: asyncio.Future[bytes]

        def datagram_received(self, data: bytes, addr: Any) -> None:
            if not self.answer.done():
                self.answer.set_result(data)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        await endpoint(53, is_answering=True)
        transport, client = await loop.create_datagram_endpoint(Client, remote_addr=("localhost", 53))
        for _ in range(5):
            client.answer = loop.create_future()
            transport.sendto(b"x")
            try:
                async with asyncio.timeout(0.3):
                    await client.answer
            except TimeoutError:
                assert client.answer.cancelled()

    report = simulate.explore(main, runs=500, faults=[simulate.latency()], check=False)
    assert "takes until the next time-out is due" in str(report.failure)


def test_a_datagram_arrives_and_is_answered() -> None:
    async def main() -> None:
        server = await endpoint(53, is_answering=True)
        client = await endpoint(remote=("localhost", 53))
        client.transport.sendto(b"x")
        await asyncio.sleep(1)
        assert (server.got, client.got) == ([b"x"], [b"X"])
        assert client.transport.get_extra_info("peername") == ("localhost", 53)
        client.transport.close()
        server.transport.sendto(b"y", server.senders[0])
        await asyncio.sleep(1)
        assert (client.got, client.is_lost) == ([b"X"], True)
        with pytest.raises(OSError, match="bind"):
            await endpoint(53)
        with pytest.raises(ValueError, match="no remote address"):
            server.transport.sendto(b"x")

    simulate.run(main)


def test_datagrams_are_lost_doubled_and_overtake() -> None:
    orders = set[bytes]()

    async def main() -> None:
        server = await endpoint(53)
        client = await endpoint(remote=("localhost", 53))
        for number in range(3):
            client.transport.sendto(b"%d" % number)
        await asyncio.sleep(10)
        orders.add(b"".join(server.got))

    report = simulate.explore(main, runs=300, policy="random")
    assert orders >= {b"012", b"12", b"0012", b"102"} or orders >= {b"012", b"12", b"120", b"0122"}
    assert max(map(len, orders)) <= 6
    assert report.disturbed["datagram"] > 0


def test_a_protocol_that_believes_in_delivery_is_found() -> None:
    async def main() -> None:
        server = await endpoint(53)
        client = await endpoint(remote=("localhost", 53))
        client.transport.sendto(b"x")
        await asyncio.sleep(1)
        assert server.got == [b"x"]

    with pytest.raises(AssertionError) as caught:
        simulate.explore(main)
    assert "Needed: 1 datagram lost, doubled or late" in caught.value.__notes__[0]
    assert "datagram 1 is lost" in caught.value.__notes__[0]


def test_datagrams_between_nodes() -> None:
    async def main(world: simulate.World) -> None:
        got = list[bytes]()

        async def serve() -> None:
            inbox = await endpoint(53, is_answering=True)
            inbox.got = got

        world.node("dns", serve)
        client = await endpoint()
        client.transport.sendto(b"x", ("dns", 53))
        await asyncio.sleep(1)
        assert (got, client.got) == ([b"x"], [b"X"])
        world.partition("dns")
        client.transport.sendto(b"y", ("dns", 53))
        await asyncio.sleep(1)
        world.heal()
        await asyncio.sleep(1)
        assert got == [b"x"]
        world["dns"].crash()
        client.transport.sendto(b"z", ("dns", 53))
        await asyncio.sleep(1)
        assert got == [b"x"]

    simulate.run(main)


async def sent_to_two(world: simulate.World, got: dict[str, list[bytes]], **conduct: Any) -> None:
    """Send ten datagrams to a node behind a link of this conduct, and to one behind a sound link."""

    async def serve(name: str) -> None:
        (await endpoint(53)).got = got.setdefault(name, [])

    for name in ("bad", "good"):
        world.node(name, serve, name)
    world.link("bad", **conduct)
    world.link("good", loss=0)
    await asyncio.sleep(5)
    client = await endpoint()
    for number in range(10):
        for name in ("bad", "good"):
            client.transport.sendto(b"%d" % number, (name, 53))
        await asyncio.sleep(0.005)
    await asyncio.sleep(1)


SENT = [b"%d" % number for number in range(10)]


@pytest.mark.parametrize("manner", ["loss", "duplicates", "reordered"])
def test_one_link_is_lossy_and_the_others_are_sound(manner: str) -> None:
    arrived = list[list[bytes]]()

    async def main(world: simulate.World) -> None:
        got: dict[str, list[bytes]] = {}
        await sent_to_two(world, got, **{manner: 0.5})
        assert got["good"] == SENT
        arrived.append(got["bad"])

    simulate.explore(main, runs=60)
    odd = [got for got in arrived if got != SENT]
    assert odd
    assert arrived[0] == SENT
    if manner == "loss":
        assert all(len(got) < 10 and got == sorted(got) for got in odd)
        lost = sum(10 - len(got) for got in arrived) / (10 * len(arrived))
        assert 0.05 < lost < 0.5
    elif manner == "duplicates":
        assert all(len(got) > 10 and set(got) == set(SENT) for got in odd)
    else:
        assert all(sorted(got) == SENT for got in odd)


def test_what_a_lossy_link_does_is_on_the_tape() -> None:
    async def main(world: simulate.World) -> None:
        got: dict[str, list[bytes]] = {}
        await sent_to_two(world, got, loss=0.2)
        assert len(got["bad"]) == 10

    with pytest.raises(AssertionError) as caught:
        simulate.explore(main, runs=100)
    assert "is lost, as the link may do it" in caught.value.__notes__[0]
    assert "of " in caught.value.__notes__[0]


def test_what_a_stream_loses_is_sent_again() -> None:
    times = set[float]()

    async def main(world: simulate.World) -> None:
        async def serve() -> None:
            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(await reader.readline())
                writer.close()

            await asyncio.start_server(answer, port=80)

        world.node("db", serve)
        world.link("db", loss=0.3)
        await asyncio.sleep(5)
        began = world.time
        reader, writer = await asyncio.open_connection("db", 80)
        writer.write(b"x\n")
        assert await reader.readline() == b"x\n"
        writer.close()
        times.add(round(world.time - began, 1))

    simulate.explore(main, runs=60)
    assert {0.0, 0.2} <= times

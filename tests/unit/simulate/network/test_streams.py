"""Streams between the tasks of one run: in order, cut and joined anywhere, with back pressure, refusals and resets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordeal import simulate


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
    await writer.wait_closed()


async def ask(port: int, *lines: str) -> list[str]:
    reader, writer = await asyncio.open_connection("localhost", port)
    answers = []
    for line in lines:
        writer.write(f"{line}\n".encode())
        await writer.drain()
        answers.append((await reader.readline()).decode().strip())
    writer.close()
    await writer.wait_closed()
    return answers


def test_a_server_answers_whatever_happens_to_the_packets() -> None:
    async def main() -> None:
        async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            one, other = await asyncio.gather(ask(port, "one", "two"), ask(port, "three"))
            assert (one, other) == (["ONE", "TWO"], ["THREE"])
        await server.wait_closed()

    report = simulate.explore(main, runs=100, faults=[simulate.latency(), simulate.stall()])
    assert report.disturbed["packet"] > 0
    assert report.disturbed["cut"] > 0


def test_a_parser_that_believes_in_packets_is_found() -> None:
    async def careless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.read(100)
        writer.write(b"ok\n" if request == b"ping\n" else b"what?\n")
        writer.close()

    async def main() -> None:
        await asyncio.start_server(careless, port=80)
        assert await ask(80, "ping") == ["ok"]

    with pytest.raises(AssertionError) as caught:
        simulate.explore(main)
    assert "Needed: 1 cut" in caught.value.__notes__[0]
    assert "connection 1 to localhost:80, server: what arrives is cut" in caught.value.__notes__[0]


def test_a_late_answer_meets_a_time_out() -> None:
    async def main() -> None:
        await asyncio.start_server(echo, port=80)
        async with asyncio.timeout(1):
            await ask(80, "hello")

    simulate.explore(main, runs=50)
    with pytest.raises(TimeoutError) as caught:
        simulate.explore(main, faults=[simulate.latency()])
    assert "Needed: 1 late packet" in caught.value.__notes__[0]


def test_no_packet_overtakes_another() -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(10):
            writer.write(bytes([number]))
        writer.close()

    async def main() -> None:
        await asyncio.start_server(count, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        assert await reader.read() == bytes(range(10))
        writer.close()

    assert simulate.explore(main, runs=200, faults=[simulate.latency()]).disturbed["order"] > 0


def test_nobody_listens() -> None:
    async def main() -> None:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("localhost", 80)
        server = await asyncio.start_server(echo, port=80)
        with pytest.raises(OSError, match="bind"):
            await asyncio.start_server(echo, port=80)
        server.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("localhost", 80)

    simulate.run(main)


def test_a_slow_reader_holds_up_the_writer() -> None:
    sent = list[int]()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(10)
        while await reader.read(2**16):
            pass
        writer.close()

    async def main() -> None:
        await asyncio.start_server(slow, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        for number in range(20):
            writer.write(bytes(2**16))
            await writer.drain()
            sent.append(number)
            if asyncio.get_running_loop().time() < 10:
                assert number < 5
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
        assert asyncio.get_running_loop().time() > 10

    simulate.run(main)
    assert len(sent) == 20


def test_a_connection_that_is_aborted_with_unread_bytes_is_reset_at_the_other_end() -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport: Any = writer.transport
        transport.pause_reading()
        await asyncio.sleep(1)
        transport.abort()

    async def main() -> None:
        await asyncio.start_server(rude, port=80)
        with pytest.raises(ConnectionResetError):
            await ask(80, "hello")

    simulate.run(main)


def test_a_connection_that_is_aborted_with_nothing_unread_ends() -> None:
    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def main() -> None:
        await asyncio.start_server(hasty, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        assert await reader.read() == b""
        writer.close()

    simulate.run(main)


def test_what_is_written_after_closing_is_dropped() -> None:
    async def main() -> None:
        async with await asyncio.start_server(echo, port=80):
            reader, writer = await asyncio.open_connection("localhost", 80)
            writer.close()
            writer.write(b"late\n")
            await asyncio.sleep(1)
            assert await reader.read() == b""
            _, writer = await asyncio.open_connection("localhost", 80)
            writer.write_eof()
            with pytest.raises(RuntimeError, match="write_eof"):
                writer.write(b"late\n")
            writer.close()

    simulate.run(main)


def test_writing_to_an_end_that_is_closed_is_a_reset() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def main() -> None:
        await asyncio.start_server(leave, port=80)
        _, writer = await asyncio.open_connection("localhost", 80)
        writer.transport.set_write_buffer_limits(0)

        async def insist() -> None:
            for _ in range(10):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(1)

        with pytest.raises(ConnectionError):
            await insist()

    simulate.run(main)


def test_paths_of_unix_sockets() -> None:
    async def main() -> list[bytes]:
        server = await asyncio.start_unix_server(echo, "/run/echo")
        reader, writer = await asyncio.open_unix_connection("/run/echo")
        writer.write(b"x\n")
        answer = await reader.readline()
        writer.close()
        server.close()
        await server.wait_closed()
        return [answer]

    assert simulate.run(main) == [b"X\n"]


def test_a_server_that_is_left_ends_with_the_run() -> None:
    async def main() -> list[str]:
        server = await asyncio.start_server(echo, port=80)
        task = asyncio.create_task(server.serve_forever())
        answers = await ask(80, "a")
        assert not task.done()
        _, writer = await asyncio.open_connection("localhost", 80)
        writer.close()
        return answers

    assert simulate.run(main) == ["A"]

"""Streams between the tasks of one run: in order, cut and joined anywhere, with back pressure, refusals and resets."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("comes_first", ["answer", "time-out"])
def test_an_answer_and_a_time_out_fall_into_one_turn(seed: int, comes_first: str) -> None:
    async def main() -> None:
        await asyncio.start_server(echo, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        waiting: list[asyncio.Future[bytes]] = []

        async def read() -> None:
            while line := await reader.readline():
                for answer in waiting:
                    assert comes_first != "time-out" or not answer.cancelled()
                    if not answer.done():
                        answer.set_result(line)
                waiting.clear()

        reading = asyncio.create_task(read())
        for _ in range(5):
            answer = asyncio.get_running_loop().create_future()
            waiting.append(answer)
            writer.write(b"x\n")
            try:
                async with asyncio.timeout(0.3):
                    await answer
            except TimeoutError:
                assert comes_first != "answer" or answer.cancelled()
                waiting.clear()
        writer.close()
        await reading

    report = simulate.explore(main, runs=200, faults=[simulate.latency()], seed=seed, check=False)
    assert report.failure is not None
    assert "until the next time-out is due" in str(report.failure)


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


async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    transport: Any = writer.transport
    transport.pause_reading()
    await asyncio.sleep(1)
    transport.abort()


def test_a_connection_that_is_aborted_with_unread_bytes_is_reset_at_the_other_end() -> None:
    async def main() -> None:
        await asyncio.start_server(rude, port=80)
        with pytest.raises(ConnectionResetError):
            await ask(80, "hello")

    simulate.run(main)


def test_a_reset_that_a_program_has_read_is_no_failure_while_it_keeps_the_connection() -> None:
    kept = []

    async def main() -> None:
        await asyncio.start_server(rude, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        kept.append(writer)
        writer.write(b"hello")
        with pytest.raises(ConnectionResetError):
            await reader.readline()

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


async def upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data.upper())
    writer.close()


def test_a_socket_is_connected_and_given_to_a_protocol() -> None:
    async def main() -> bytes:
        await asyncio.start_server(upper, port=80)
        loop = asyncio.get_running_loop()
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setblocking(False)
        await loop.sock_connect(sock, ("localhost", 80))
        assert sock.getpeername() == ("localhost", 80)
        reader, writer = await asyncio.open_connection(sock=sock)
        with contextlib.closing(writer):
            writer.write(b"ada")
            writer.write_eof()
            return await reader.read()

    assert simulate.run(main) == b"ADA"


def test_a_socket_listens_and_both_ends_are_read_by_the_loop() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        async def answer() -> None:
            accepted, address = await loop.sock_accept(listening)
            assert address[0] == "127.0.0.1"
            received = await loop.sock_recv(accepted, 4)
            await loop.sock_sendall(accepted, received.upper())
            accepted.close()

        answering = asyncio.create_task(answer())
        with socket.socket() as sock:
            await loop.sock_connect(sock, listening.getsockname())
            await loop.sock_sendall(sock, b"a")
            assert await loop.sock_recv(sock, 10) == b"A"
        await answering

    simulate.explore(main, runs=20, faults=[simulate.latency()])


def test_a_server_takes_over_a_bound_socket() -> None:
    async def main() -> bytes:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", 0))
        server = await asyncio.start_server(upper, sock=sock)
        assert server.sockets[0].getsockname() == sock.getsockname()
        reader, writer = await asyncio.open_connection(*sock.getsockname())
        with contextlib.closing(writer):
            writer.write(b"b")
            return await reader.read(1)

    assert simulate.run(main) == b"B"


def test_what_arrived_before_a_socket_is_taken_over_is_not_lost() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async def main() -> bytes:
        await asyncio.start_server(greet, port=80)
        sock = socket.socket()
        await asyncio.get_running_loop().sock_connect(sock, ("localhost", 80))
        await asyncio.sleep(1)
        reader, writer = await asyncio.open_connection(sock=sock)
        with contextlib.closing(writer):
            return await reader.read()

    assert simulate.run(main) == b"hello"


def test_the_socket_of_a_transport_says_whether_there_is_something_to_read() -> None:
    """As a pool of connections asks before it uses one again."""

    def is_readable(sock: Any) -> bool:
        poll = select.poll()
        poll.register(sock.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def main() -> list[bool]:
        ends: list[Any] = []

        class Keep(asyncio.Protocol):
            def connection_made(self, transport: Any) -> None:
                ends.append(transport)

        loop = asyncio.get_running_loop()
        await loop.create_server(Keep, port=80)
        transport, _ = await loop.create_connection(Keep, "localhost", 80)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.pause_reading()
        await asyncio.sleep(0.1)
        seen = [is_readable(sock)]
        ends[-1].write(b"x")
        await asyncio.sleep(1)
        seen.append(is_readable(sock))
        transport.close()
        await asyncio.sleep(1)
        assert sock.fileno() == -1
        return seen

    assert simulate.run(main) == [False, True]


def test_a_buffered_protocol_gets_what_arrives() -> None:
    class Buffered(asyncio.BufferedProtocol):
        def __init__(self) -> None:
            self.buffer = bytearray(2)
            self.got = b""

        def get_buffer(self, sizehint: int) -> bytearray:
            return self.buffer

        def buffer_updated(self, nbytes: int) -> None:
            self.got += self.buffer[:nbytes]

    async def main() -> bytes:
        await asyncio.start_server(upper, port=80)
        transport, protocol = await asyncio.get_running_loop().create_connection(Buffered, "localhost", 80)
        transport.write(b"hello")
        await asyncio.sleep(1)
        return protocol.got

    assert simulate.run(main) == b"HELLO"


def test_methods_that_wait_for_the_system_are_fenced() -> None:
    async def main() -> None:
        socket.socket().recv(1)

    with pytest.raises(simulate.EscapedSimulation, match=r"socket\.recv"):
        simulate.run(main)


def test_a_socket_of_the_system_is_refused() -> None:
    real = socket.socket()

    async def main() -> None:
        await asyncio.get_running_loop().sock_connect(real, ("localhost", 80))

    with real, pytest.raises(simulate.EscapedSimulation, match="socket of the system"):
        simulate.run(main)

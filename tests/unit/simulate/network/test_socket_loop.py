"""Sockets that a program makes and gives to the loop: connected, listened on, read, taken over by protocols."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate


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
            buffer = bytearray(4)
            size = await loop.sock_recv_into(accepted, buffer)
            await loop.sock_sendall(accepted, bytes(buffer[:size]).upper())
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


def test_a_file_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with path.open("rb") as file:
            await asyncio.get_running_loop().sendfile(writer.transport, file, 2, 5)
        writer.close()

    async def main() -> bytes:
        await asyncio.start_server(send, port=80)
        reader, writer = await asyncio.open_connection("localhost", 80)
        with contextlib.closing(writer):
            return await reader.read()

    assert simulate.run(main) == b"23456"


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

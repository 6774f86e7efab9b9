"""TLS inside of a run: from the first byte, begun later, over a library's own layer; no certificate is needed."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import anyio
import pytest
from anyio.streams.tls import TLSListener

from ordeal import simulate

SERVER, CLIENT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()


async def upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert writer.get_extra_info("sslcontext") is SERVER
    while line := await reader.readline():
        writer.write(line.upper())
    writer.close()


def test_streams_are_secured_whatever_happens_to_the_packets() -> None:
    async def serve() -> None:
        await asyncio.start_server(upper, port=443, ssl=SERVER)

    async def main(world: simulate.World) -> None:
        world.node("server", serve)
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection("server", 443, ssl=CLIENT)
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.3"
        assert not writer.can_write_eof()
        writer.write(b"ada\n")
        assert await reader.readline() == b"ADA\n"
        writer.close()
        await writer.wait_closed()

    report = simulate.explore(main, runs=15, faults=[simulate.latency()])
    assert report.disturbed["packet"] > 0


def test_a_connection_goes_on_with_tls() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.readline() == b"STARTTLS\n"
        writer.write(b"go\n")
        await writer.start_tls(SERVER)
        await upper(reader, writer)

    async def main() -> bytes:
        await asyncio.start_server(serve, port=25)
        reader, writer = await asyncio.open_connection("localhost", 25)
        writer.write(b"STARTTLS\n")
        assert await reader.readline() == b"go\n"
        await writer.start_tls(CLIENT, server_hostname="server")
        with contextlib.closing(writer):
            writer.write(b"ada\n")
            return await reader.readline()

    assert simulate.run(main) == b"ADA\n"


def test_a_library_that_speaks_tls_over_any_stream() -> None:
    async def answer(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            await stream.send((await stream.receive()).upper())

    async def main() -> bytes:
        listener = TLSListener(await anyio.create_tcp_listener(local_port=443), SERVER)
        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, answer)
            async with await anyio.connect_tcp("localhost", 443, ssl_context=CLIENT) as stream:
                await stream.send(b"ada")
                received = await stream.receive()
            group.cancel_scope.cancel()
        return received

    assert simulate.run(main) == b"ADA"


def test_what_is_no_context_is_refused() -> None:
    async def main() -> None:
        await asyncio.start_server(upper, port=443, ssl="yes")

    with pytest.raises(TypeError, match="SSLContext"):
        simulate.run(main)

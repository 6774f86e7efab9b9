"""TLS over simulated connections: from the first byte, begun later, and with a certificate that is refused."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from ordeal import simulate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a server called "server" and of a client that trusts it."""
    folder: Path = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=server"]
    made += ["-addext", "subjectAltName=DNS:server", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=certificate)


async def upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line.upper())
    writer.close()


def test_streams_are_secured_whatever_happens_to_the_packets(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts

    async def serve() -> None:
        await asyncio.start_server(upper, port=443, ssl=server)

    async def main(world: simulate.World) -> None:
        world.node("server", serve)
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection("server", 443, ssl=client)
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.3"
        writer.write(b"ada\n")
        assert await reader.readline() == b"ADA\n"
        writer.close()
        await writer.wait_closed()

    report = simulate.explore(main, runs=15, faults=[simulate.latency()])
    assert report.disturbed["packet"] > 0


def test_a_connection_goes_on_with_tls(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.readline() == b"STARTTLS\n"
        writer.write(b"go\n")
        await writer.start_tls(server)
        await upper(reader, writer)

    async def main() -> bytes:
        await asyncio.start_server(serve, port=25)
        reader, writer = await asyncio.open_connection("localhost", 25)
        writer.write(b"STARTTLS\n")
        assert await reader.readline() == b"go\n"
        await writer.start_tls(client, server_hostname="server")
        with contextlib.closing(writer):
            writer.write(b"ada\n")
            return await reader.readline()

    assert simulate.run(main) == b"ADA\n"


def test_a_certificate_of_another_name_is_refused(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts

    async def main() -> None:
        await asyncio.start_server(upper, "localhost", 443, ssl=server)
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("localhost", 443, ssl=client)

    simulate.run(main)


def test_what_is_no_context_is_refused() -> None:
    async def main() -> None:
        await asyncio.start_server(upper, port=443, ssl="yes")
        await asyncio.open_connection("localhost", 443)
        await asyncio.sleep(1)

    with pytest.raises((TypeError, simulate.UnhandledTaskError), match="SSLContext"):
        simulate.run(main)

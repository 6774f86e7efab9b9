"""Web services outside of the run: nodes that speak HTTP/1.1 and give the answers that the test has declared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from ordeal.simulate.errors import EscapedSimulation, SimulationError, checked_seconds
from ordeal.simulate.network.network_loop import SimulatedServer
from ordeal.simulate.outside.declared import WEB_PORTS, Declared, http_stub, is_missing, said, stub_hint


@dataclass(frozen=True, slots=True)
class Request:
    """What a web service is asked: ``method``, ``path``, ``query``, ``headers`` and ``body``, as in HTTP."""

    method: str
    path: str
    query: str
    """What follows the question mark, as it was sent."""
    headers: Mapping[str, str]
    """The headers, by their names in lower case."""
    body: bytes

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Response:
    """What a web service answers: a ``status``, ``headers`` and a body.

    One that is neither bytes nor text is sent as JSON.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    """How long it takes, in simulated seconds."""

    def encoded(self) -> bytes:
        """Return the response as it is sent."""
        body, kind = _body(self.body)
        headers = {"content-type": kind, **{name.lower(): value for name, value in self.headers.items()}}
        headers["content-length"] = str(len(body))
        phrase = HTTPStatus(self.status).phrase if self.status in HTTPStatus._value2member_map_ else ""
        lines = [f"HTTP/1.1 {self.status} {phrase}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode("latin-1") + body


def _body(body: Any) -> tuple[bytes, str]:
    if isinstance(body, bytes | bytearray):
        return bytes(body), "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    return json.dumps(body).encode(), "application/json"


def host_and_ports(name: Any) -> tuple[str, tuple[int, ...]]:
    """Return the host that a name such as ``"api.example:8080"`` means, and its ports.

    Raises:
        SimulationError: it is not a name of a host.
    """
    host, colon, port = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not host or "/" in host or (colon and not (port.isdecimal() and 0 < int(port) <= 65_535)):
        raise SimulationError(
            f"{name!r:.100} is not a name of a host",
            hint='write the name alone, such as "api.example" or "api.example:8080"',
        )
    return host, (int(port),) if colon else WEB_PORTS


class WebService:
    """What runs on the node of a web service."""

    def __init__(self, loop: Any, host: str, ports: tuple[int, ...]) -> None:
        self._loop = loop
        self._host = host
        self._ports = ports
        self.declared = Declared(f"world.http({host!r})")

    def serve(self) -> Coroutine[Any, Any, None]:
        """Answer on the ports of the service from now on: what lies outside was there before."""
        loop = self._loop
        made = lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), self._talk, loop=loop)  # noqa: E731
        loop.servers += [SimulatedServer(loop, made, [("", port)]) for port in self._ports]
        return _nothing()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asking = self._loop.world.host_of(writer.get_extra_info("peername")[0]) or "the test"
        try:
            while (request := await self._read(reader, asking)) is not None:
                response = await self._answer(request, asking)
                if response.seconds:
                    await asyncio.sleep(checked_seconds("seconds", response.seconds))
                encoded = response.encoded()
                writer.write(encoded.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if request.method == "HEAD" else encoded)
                await writer.drain()
                if request.headers.get("connection", "").lower() == "close":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader, asking: str) -> Request | None:
        line = await reader.readline()
        if not line:
            return None
        method, _, rest = line.decode("latin-1").strip().partition(" ")
        target, _, version = rest.rpartition(" ")
        if not version.startswith("HTTP/1."):
            self._escape(f"{asking} does not speak HTTP/1.1 to {self._host}, which is declared as HTTP", "use HTTP/1.1")
        headers = {}
        while field_line := (await reader.readline()).decode("latin-1").strip():
            name, _, value = field_line.partition(":")
            headers[name.lower()] = value.strip()
        path, _, query = target.partition("?")
        return Request(method, path, query, headers, await _read_body(reader, headers))

    async def _answer(self, request: Request, asking: str) -> Response:
        asked = f"{request.method} {request.path}"
        answer = self.declared.find(*([f"{asked}?{request.query}"] if request.query else []), asked)
        if is_missing(answer):
            self._escape(
                f"{asking} asks {self._host} for {asked}, which is not declared",
                stub_hint(http_stub(self._host, asked), has_world=True),
            )
        answer = await said(answer, request)
        return answer if isinstance(answer, Response) else Response(answer)

    def _escape(self, what: str, hint: str) -> None:
        error = EscapedSimulation(what, hint=hint)
        self._loop.escaped = self._loop.escaped or error
        raise error


async def _nothing() -> None:
    """Do nothing: what a node runs."""


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = bytearray()
    while size := int((await reader.readline()).partition(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    while (await reader.readline()).strip():
        pass
    return bytes(body)

"""The network of a simulated run: servers and connections inside of the process, by host and port, or by path."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

from ordeal.simulate.runtime.decisions import PACKET, name_key
from ordeal.simulate.runtime.loop_settings import LoopSettings
from ordeal.simulate.runtime.transport import StreamTransport

type ProtocolFactory = Callable[[], asyncio.BaseProtocol]
#: A host and a port, or the path of a Unix socket.
type Address = tuple[str, int] | str

_ANYWHERE = frozenset({"", "0.0.0.0", "::"})
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
#: The first port that is given to a server that asks for any.
_FIRST_FREE_PORT = 49_152
_CONNECT_SITE = name_key("connect")
_TLS_HINT = "leave `ssl` out in the test: the simulated network carries plain bytes only"


class ListeningSocket:
    """Stands for the socket of a server: it has an address, and nothing else."""

    family = socket.AF_INET
    type = socket.SOCK_STREAM

    def __init__(self, address: Address) -> None:
        self._address = address

    def getsockname(self) -> Address:
        """Return the address that the server listens on."""
        return self._address


class SimulatedServer(asyncio.AbstractServer):
    """A server of the simulated network."""

    def __init__(self, loop: NetworkLoop, factory: ProtocolFactory, addresses: Sequence[Address]) -> None:
        self._loop = loop
        self.factory = factory
        self.addresses = list(addresses)
        self.connections: list[StreamTransport] = []
        self._is_closed = False
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[ListeningSocket, ...]:
        """What stands for the sockets of the server; none once it is closed."""
        return () if self._is_closed else tuple(map(ListeningSocket, self.addresses))

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of the run."""
        return self._loop

    def is_serving(self) -> bool:
        """Return whether the server accepts connections."""
        return not self._is_closed and self in self._loop.servers

    async def start_serving(self) -> None:
        """Accept connections."""
        if self not in self._loop.servers:
            self._loop.servers.append(self)
        await asyncio.sleep(0)

    async def serve_forever(self) -> None:
        """Accept connections until the task is cancelled or the server is closed."""
        if self._forever is not None or self._is_closed:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever() or closed")
        await self.start_serving()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()
            await self.wait_closed()

    def close(self) -> None:
        """Accept no more connections; those that are open stay so."""
        self._is_closed = True
        if self in self._loop.servers:
            self._loop.servers.remove(self)
        if self._forever is not None and not self._forever.done():
            self._forever.cancel()
        self._wake()

    def close_clients(self) -> None:
        """Close all connections."""
        for connection in list(self.connections):
            connection.close()

    def abort_clients(self) -> None:
        """Reset all connections."""
        for connection in list(self.connections):
            connection.abort()

    async def wait_closed(self) -> None:
        """Wait until the server is closed and its connections are gone."""
        # At the end of a run nobody closes the connections that are left.
        if self._loop.is_ending or (self._is_closed and not self.connections):
            return
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def lost(self, connection: StreamTransport) -> None:
        """Note that a connection is gone."""
        self.connections.remove(connection)
        self._wake()

    def _wake(self) -> None:
        if self._is_closed and not self.connections:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
            self._waiters.clear()

    def accepts(self, address: Address) -> bool:
        """Return whether a connection to this address reaches the server."""
        return any(_leads_to(address, own) for own in self.addresses)


class NetworkLoop(LoopSettings):
    """The methods of a loop that serve and connect."""

    packet_latencies: tuple[float, ...]

    def __init__(self) -> None:
        super().__init__()
        self.servers: list[SimulatedServer] = []
        self._ends: list[StreamTransport] = []
        self._ports_given = 0
        self._connections: dict[Address, int] = {}

    def decide(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Return the value of a decision."""
        raise NotImplementedError

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: ProtocolFactory,
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        sock: Any = None,
        ssl: Any = None,
        start_serving: bool = True,
        **options: Any,
    ) -> SimulatedServer:
        """Listen on a host and a port of the simulated network; other options have no effect."""
        del options
        self._refuse(sock, ssl, "create_server")
        number = port or self._free_port()
        hosts = [host or ""] if host is None or isinstance(host, str) else list(host)
        return await self._serve(protocol_factory, [(each, number) for each in hosts], start_serving)

    async def create_unix_server(  # type: ignore[override]
        self,
        protocol_factory: ProtocolFactory,
        path: Any = None,
        *,
        sock: Any = None,
        ssl: Any = None,
        start_serving: bool = True,
        **options: Any,
    ) -> SimulatedServer:
        """Listen on a path of the simulated network. No file appears."""
        del options
        self._refuse(sock, ssl, "create_unix_server")
        return await self._serve(protocol_factory, [os.fspath(path)], start_serving)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: ProtocolFactory,
        host: str | None = None,
        port: int | None = None,
        *,
        sock: Any = None,
        ssl: Any = None,
        **options: Any,
    ) -> tuple[StreamTransport, asyncio.BaseProtocol]:
        """Connect to a server of the same run; other options have no effect.

        Raises:
            ConnectionRefusedError: no server of the run listens there.
        """
        del options
        self._refuse(sock, ssl, "create_connection")
        return await self._connect(protocol_factory, (host or "localhost", port or 0))

    async def create_unix_connection(  # type: ignore[override]
        self, protocol_factory: ProtocolFactory, path: Any = None, *, sock: Any = None, ssl: Any = None, **options: Any
    ) -> tuple[StreamTransport, asyncio.BaseProtocol]:
        """Connect to a server of the same run by its path.

        Raises:
            ConnectionRefusedError: no server of the run listens there.
        """
        del options
        self._refuse(sock, ssl, "create_unix_connection")
        return await self._connect(protocol_factory, os.fspath(path))

    def drop_connections(self) -> None:
        """Forget the connections of a run that has ended: nobody is to be told that they were not closed."""
        for end in self._ends:
            end.drop()
        self._ends.clear()

    def _refuse(self, sock: Any, ssl: Any, method: str) -> None:
        if sock is not None:
            self.escape(f"loop.{method}(sock=...)", "give a host and a port instead of a socket")
        if ssl:
            self.escape(f"loop.{method}(ssl=...)", _TLS_HINT)

    def _free_port(self) -> int:
        self._ports_given += 1
        return _FIRST_FREE_PORT + self._ports_given - 1

    async def _serve(self, factory: ProtocolFactory, addresses: list[Address], start: bool) -> SimulatedServer:
        for address in addresses:
            if any(server.accepts(address) for server in self.servers):
                raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {address!r}")
        server = SimulatedServer(self, factory, addresses)
        if start:
            await server.start_serving()
        return server

    async def _connect(
        self, factory: ProtocolFactory, address: Address
    ) -> tuple[StreamTransport, asyncio.BaseProtocol]:
        number = self._connections[address] = self._connections.get(address, 0) + 1
        place = address if isinstance(address, str) else f"{address[0]}:{address[1]}"
        name = f"connection {number} to {place}"
        taken = self.decide(PACKET, name_key(name), _CONNECT_SITE, len(self.packet_latencies))
        await asyncio.sleep(self.packet_latencies[taken])
        server = next((server for server in self.servers if server.accepts(address)), None)
        if server is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"no server of this simulation listens on {place}")
        own: Address = "" if isinstance(address, str) else ("127.0.0.1", self._free_port())
        protocol, accepted = factory(), server.factory()
        client = StreamTransport(self, f"{name}, client", protocol, _extra(own, address), self._ends.remove)

        def lost(end: StreamTransport) -> None:
            self._ends.remove(end)
            server.lost(end)

        end = StreamTransport(self, f"{name}, server", accepted, _extra(address, own), lost)
        client.peer, end.peer = end, client
        server.connections.append(end)
        self._ends += [client, end]
        self.call_soon(accepted.connection_made, end)
        protocol.connection_made(client)
        return client, protocol

    async def getaddrinfo(  # type: ignore[override]
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - asyncio has named it
        proto: int = 0,
        flags: int = 0,
    ) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        """Return the name itself as its address: that is what servers of the run listen on."""
        del family, proto, flags
        name = host.decode() if isinstance(host, bytes) else host or "localhost"
        return [(socket.AF_INET, type or socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (name, int(port or 0)))]

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        """Return an address as its own name."""
        del flags
        return str(sockaddr[0]), str(sockaddr[1])


def _extra(own: Address, other: Address) -> dict[str, Any]:
    return {"sockname": own, "peername": other}


def _leads_to(address: Address, own: Address) -> bool:
    if isinstance(address, str) or isinstance(own, str):
        return address == own
    (host, port), (own_host, own_port) = address, own
    if port != own_port:
        return False
    return host == own_host or own_host in _ANYWHERE or host in _ANYWHERE or {host, own_host} <= _HERE

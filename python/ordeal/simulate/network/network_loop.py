"""The network of a simulated run: servers and connections inside of the process, by host and port, or by path.

The hosts are the nodes of a world, by their names, and the test itself, "", that has every name besides.
"""

from __future__ import annotations

import asyncio
import contextvars
import errno
import socket
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from ordeal.simulate.network.datagrams import DatagramEndpoint, host_name
from ordeal.simulate.network.links import Links
from ordeal.simulate.network.sockets import Address, Inbox, SimulatedSocket, is_ip
from ordeal.simulate.network.tls import checked_name, security_of
from ordeal.simulate.network.transport import LATENCY_S, StreamTransport
from ordeal.simulate.nodes.life import LIFE, Life
from ordeal.simulate.outside.declared import host_hint
from ordeal.simulate.runtime.decisions import PACKET, name_key
from ordeal.simulate.runtime.system_loop import SystemLoop

type ProtocolFactory = Callable[[], asyncio.BaseProtocol]

_ANYWHERE = frozenset({"", "0.0.0.0", "::"})
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
#: The address of a node is this and its number.
FIRST_ADDRESS = "10.0.0."
#: The address of the test itself, where there are nodes.
TEST_ADDRESS = "10.0.1.1"
#: After how long a connection to a host that does not answer is tried again, as Linux does, in seconds.
_RETRIES_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_CONNECT_SITE = name_key("connect")


class SimulatedServer(asyncio.AbstractServer):
    """A server of the simulated network."""

    def __init__(
        self, loop: NetworkLoop, factory: ProtocolFactory, addresses: Sequence[Address], context: Any = None
    ) -> None:
        """``context`` is that of TLS, if the server speaks it."""
        self._loop = loop
        self.factory = factory
        self.addresses = list(addresses)
        self.tls = context
        self.life = LIFE.get()
        """The life of the node that it runs on; None for the test itself."""
        self.context = contextvars.copy_context()
        self.connections: list[StreamTransport] = []
        self._is_closed = False
        self._waiters: list[asyncio.Future[None]] = []
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[SimulatedSocket, ...]:
        """The stand-ins for the sockets of the server; none once it is closed."""
        return () if self._is_closed else tuple(SimulatedSocket(self._loop, own=each) for each in self.addresses)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of the run."""
        return self._loop

    def is_serving(self) -> bool:
        """Return True if the server accepts connections."""
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
        # At the end of a run the connections that are left stay open.
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

    def accepts(self, host: str, address: Address) -> bool:
        """Return True if a connection to this address of a host reaches the server."""
        name, port = address
        names = [own_name for own_name, own_port in self.addresses if own_port == port]
        return host == host_name(self.life) and any(
            name == own or own in _ANYWHERE or name in _ANYWHERE or {name, own} <= _HERE for own in names
        )


class NetworkLoop(SystemLoop):
    """The part of a simulated loop that is its network."""

    at: Callable[..., asyncio.TimerHandle]

    def __init__(self) -> None:
        super().__init__()
        self.hashes = count(1)
        """The hashes of transports, locks and the like in this run."""
        self.links = Links()
        """The links between the nodes of a world."""
        self.endpoints: list[DatagramEndpoint] = []
        self._ports_given = 0
        self.servers: list[SimulatedServer] = []
        self._ends: list[StreamTransport] = []
        self._connections: dict[str, int] = {}

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: ProtocolFactory,
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        sock: Any = None,
        **options: Any,
    ) -> SimulatedServer:
        """Listen on a host and a port of the simulated network; options of sockets have no effect."""
        if sock is None:
            number = port or self.free_port()
            hosts = [host or ""] if host is None or isinstance(host, str) else list(host)
            return await self._serve(protocol_factory, [(each, number) for each in hosts], **options)
        _demand_no_address(host, port)
        own = self._own(sock, "create_server")
        if own.acceptor is not None:
            own.acceptor.close()
            own.acceptor = None
        own.own = own.own or ("", self.free_port())
        return await self._serve(protocol_factory, [own.own], **options)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: ProtocolFactory,
        host: str | None = None,
        port: int | None = None,
        *,
        sock: Any = None,
        ssl: Any = None,
        server_hostname: str | None = None,
        **_options: Any,
    ) -> tuple[Any, asyncio.BaseProtocol]:
        """Connect to a server of the same run; other options of sockets and TLS have no effect.

        Raises:
            ConnectionRefusedError: no server of the run listens there.
        """
        security = security_of(ssl, checked_name(ssl, server_hostname, host), server_side=False)
        if sock is None:
            return await self.reach(protocol_factory, (host or "localhost", port or 0), security)
        _demand_no_address(host, port)
        return self._adopted(protocol_factory, sock, security)

    async def start_tls(
        self,
        transport: Any,
        protocol: asyncio.BaseProtocol,
        sslcontext: Any,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
        **_options: Any,
    ) -> Any:
        """Switch a connection to TLS, and return the transport that the protocol uses from now on."""
        transport.secure(security_of(sslcontext, server_hostname, server_side=server_side))
        transport.set_protocol(protocol)
        await asyncio.sleep(0)
        return transport

    def _adopted(
        self, factory: ProtocolFactory, sock: Any, security: dict[str, Any]
    ) -> tuple[Any, asyncio.BaseProtocol]:
        """Give a protocol the connection of a socket; return its transport, and the protocol."""
        stream: Any = self._own(sock, "create_connection").given_away()
        stream.secure(security)
        protocol = factory()
        stream.adopted_by(protocol)
        return stream, protocol

    def drop_connections(self) -> None:
        """Forget the connections of a run that has ended, without a warning that they were not closed."""
        for end in self._ends:
            end.drop()
        self._ends.clear()

    async def _serve(
        self,
        factory: ProtocolFactory,
        addresses: list[Address],
        *,
        ssl: Any = None,
        start_serving: bool = True,
        **_options: Any,
    ) -> SimulatedServer:
        if ssl is True:
            raise TypeError("ssl argument must be an SSLContext or None")
        own, at_home = host_name(LIFE.get()), list[Address]()
        for host, port in addresses:
            # A node listens on all of its names at once.
            is_local = not own or host in _HERE
            if not is_local and host not in _ANYWHERE and self.world.host_of(host) != own:
                raise OSError(errno.EADDRNOTAVAIL, f"{host} is not an address of the node {own}")
            at_home.append((host if is_local else "", port))
        for address in at_home:
            if any(server.accepts(own, address) for server in self.servers):
                raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {address!r}")
        security_of(ssl, None, server_side=True)  # what is not a context is refused at once
        server = SimulatedServer(self, factory, at_home, ssl)
        if start_serving:
            await server.start_serving()
        return server

    def route(self, address: Address) -> tuple[str, Address]:
        """Return the host that an address leads to from where the running code is, and the address there."""
        own = host_name(LIFE.get())
        if self.world is None or address[0] in _HERE or address[0] in _ANYWHERE:
            return own, address
        host = self.world.host_of(address[0])
        if host is None:
            return "", address
        return host, ("127.0.0.1" if host == own else "", address[1])

    def is_cut(self, source: str, target: str) -> bool:
        """Return True if nothing gets from one host to another now."""
        return source != target and self.links.is_cut(source, target)

    async def reach(
        self, factory: ProtocolFactory, address: Address, security: dict[str, Any] | None = None
    ) -> tuple[StreamTransport, asyncio.BaseProtocol]:
        """Connect a protocol to the server at an address; ``security`` is what its transport says of its TLS."""
        # The name of a node in place of its address, which depends on how many nodes there are.
        shown = address[0] if self.world is None else self.world.host_of(address[0]) or address[0]
        place = f"{shown}:{address[1]}"
        source = host_name(LIFE.get())
        name = f"from {source} to {place}" if source else f"to {place}"
        number = self._connections[name] = self._connections.get(name, 0) + 1
        name = f"connection {number} {name}"
        target, there = self.route(address)
        taken = self.decide(PACKET, name_key(name), _CONNECT_SITE, len(self.packet_latencies))
        await asyncio.sleep(self.packet_latencies[taken] + self.links.delay_s(source, target))
        for wait_s in (*_RETRIES_S, None) if self.world is not None else ():
            is_silent = target != "" and self.world.is_silent(target)
            if not is_silent and not self.is_cut(source, target) and not self.is_cut(target, source):
                break
            if wait_s is None:
                raise TimeoutError(errno.ETIMEDOUT, f"{target or 'the test'} does not answer")
            await asyncio.sleep(wait_s)
        server = next((server for server in self.servers if server.accepts(target, there)), None)
        if server is None:
            # A name with a dot that no node has is that of a host outside of the run.
            is_outside = "." in address[0] and not is_ip(address[0])
            if is_outside and (self.world is None or self.world.host_of(address[0]) is None):
                hint = host_hint(*address, has_world=self.world is not None)
                self.escape(f"the program connects to {address[0]}:{address[1]}, which is not in the run", hint)
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"no server of this simulation listens on {place}")
        life = LIFE.get()
        from_address = "127.0.0.1" if self.world is None else self.world.address_of(host_name(life))
        own: Address = from_address, self.free_port()
        context = server.context.copy()
        protocol, accepted = factory(), context.run(server.factory)  # on the server's node

        def lost(end: StreamTransport) -> None:
            self._ends.remove(end)
            server.lost(end)

        client = StreamTransport(
            self,
            f"{name}, client",
            protocol,
            {"sockname": own, "peername": address, **(security or {})},
            self._ends.remove,
            contextvars.copy_context(),
        )
        extra = {"sockname": address, "peername": own, **security_of(server.tls, None, server_side=True)}
        end = StreamTransport(self, f"{name}, server", accepted, extra, lost, context)
        client.peer, end.peer = end, client
        server.connections.append(end)
        self._ends += [client, end]
        self.call_soon(accepted.connection_made, end, context=context)
        protocol.connection_made(client)
        return client, protocol

    # What nodes do to the network

    def drop_life(self, life: Life) -> None:
        """End the servers and connections of a node that is gone; unless it is silent, its peers are notified."""
        self.servers = [server for server in self.servers if server.life is not life]
        self.endpoints = [endpoint for endpoint in self.endpoints if endpoint.life is not life]
        for end in self._ends:
            if end.life is life and not life.is_silent:
                end.send_reset()

    def answer_for(self, life: Life) -> None:
        """Reset the connections on which something was sent to a node while it was down."""
        for end in self._ends:
            if end.life is life and end.is_unanswered:
                end.send_reset()

    def ends_of(self, host: str) -> list[StreamTransport]:
        """Return the ends of connections that a node has, the oldest first."""
        return [end for end in self._ends if end.host == host and not (end.life is not None and end.life.is_dead)]

    def send_overdue(self) -> None:
        """Let what a cut held up arrive, where the link is whole again."""
        for end in self._ends:
            if end.overdue and not self.is_cut(end.peer.host, end.host):
                overdue, end.overdue = end.overdue, 0
                for _ in range(overdue):
                    self.at(self.now + LATENCY_S, end.take_next)

    async def getaddrinfo(  # type: ignore[override]
        self,
        host: Any,
        port: Any,
        *,
        type: int = 0,  # noqa: A002 - asyncio has named it
        **_options: Any,
    ) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        """Return the address of a node, and any other name as its own: that is what servers of the run listen on."""
        return self.addresses(host, port, type)

    def addresses(self, host: Any, port: Any, kind: int = 0) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        """Return what a name stands for in the simulated network."""
        name = host.decode() if isinstance(host, bytes) else host or "localhost"
        node = None if self.world is None else self.world.host_of(name)
        name = name if node is None else self.world.address_of(node)
        return [(socket.AF_INET, kind or socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (name, int(port or 0)))]

    # Datagrams

    async def create_datagram_endpoint(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        local_addr: Address | None = None,
        remote_addr: Address | None = None,
        *,
        sock: Any = None,
        **_options: Any,
    ) -> tuple[DatagramEndpoint, asyncio.BaseProtocol]:
        """Send and take datagrams on the simulated network; other options have no effect."""
        if sock is not None:
            self.escape("loop.create_datagram_endpoint(sock=...)", "give addresses instead of a socket")
        life = LIFE.get()
        host, port = local_addr or ("", 0)
        if port and self._endpoint_at(host_name(life), port) is not None:
            raise OSError(errno.EADDRINUSE, f"error while attempting to bind on address {local_addr!r}")
        address = host or "127.0.0.1" if self.world is None else self.world.address_of(host_name(life))
        protocol = protocol_factory()
        own = address, port or self.free_port()
        endpoint = DatagramEndpoint(self, protocol, own, remote_addr, is_bound=port != 0)
        self.endpoints.append(endpoint)
        protocol.connection_made(endpoint)
        return endpoint, protocol

    def free_port(self) -> int:
        """Return an unused port."""
        self._ports_given += 1
        return 49_151 + self._ports_given  # the first of those that no service has for itself is 49152

    def _endpoint_at(self, host: str, port: int) -> DatagramEndpoint | None:
        for each in self.endpoints:
            if each.port == port and each.host == host:
                return each
        return None

    def take_datagram(self, packet: bytes, sender: Address, source: str, host: str, port: int) -> None:
        """Let a datagram arrive, if the network lets it through and an endpoint takes it."""
        if self.links.has_cuts and self.is_cut(source, host):
            return
        endpoint = self._endpoint_at(host, port)
        if endpoint is not None:
            endpoint.take(packet, sender, source)

    # Sockets

    def listen(self, sock: SimulatedSocket) -> SimulatedServer:
        """Take connections for a socket, until the program accepts them."""
        assert sock.own is not None
        server = SimulatedServer(self, lambda: Inbox(self, sock), [network_address(sock.own)])
        self.servers.append(server)
        return server

    async def sock_connect(self, sock: Any, address: Any) -> None:
        """Connect a socket to a server of the run."""
        own = self._own(sock, "sock_connect")
        stream, _ = await self.reach(lambda: Inbox(self), network_address(address))
        own.stream, own.own = stream, stream.get_extra_info("sockname")
        own.remote = stream.get_extra_info("peername")

    async def sock_accept(self, sock: Any) -> tuple[SimulatedSocket, Any]:  # type: ignore[override]
        """Wait for a connection, and return its socket and where it comes from."""
        own = self._own(sock, "sock_accept")
        while not own.arrived:
            waiter = self.create_future()
            own.waiting.append(waiter)
            await waiter
        accepted = own.arrived.popleft()
        return accepted, accepted.getpeername()

    async def sock_recv(self, sock: Any, nbytes: int) -> bytes:
        """Return up to ``nbytes`` that have arrived; none at the end of the stream."""
        return await self._inbox(sock, "sock_recv").reader.read(nbytes)

    async def sock_sendall(self, sock: Any, data: Any) -> None:
        """Send all of these bytes."""
        inbox: Any = self._inbox(sock, "sock_sendall")
        sock.stream.write(bytes(data))
        await inbox._drain_helper()

    async def connect_accepted_socket(  # type: ignore[override]
        self, protocol_factory: Callable[[], Any], sock: Any, *, ssl: Any = None, **_options: Any
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Give an accepted connection to a protocol."""
        return self._adopted(protocol_factory, sock, security_of(ssl, None, server_side=True))

    def _own(self, sock: Any, method: str) -> SimulatedSocket:
        if not isinstance(sock, SimulatedSocket):
            self.escape(
                f"loop.{method}() with a socket of the system", "make the socket inside of the run, or give an address"
            )
        return sock

    def _inbox(self, sock: Any, method: str) -> Inbox:
        stream: Any = self._own(sock, method).given_away()
        protocol = stream.get_protocol()
        assert isinstance(protocol, Inbox)
        return protocol


def _demand_no_address(host: object, port: object) -> None:
    if host is not None or port is not None:
        raise ValueError("host/port and sock can not be specified at the same time")


def network_address(address: Any) -> Address:
    """Return an address as the network has it; sockets of IPv6 have longer ones."""
    return str(address[0]), int(address[1])

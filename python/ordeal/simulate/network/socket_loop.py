"""The methods of a loop that act on sockets: they move the bytes of a simulated socket over the simulated network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from ordeal.simulate.network.sockets import Inbox, SimulatedSocket
from ordeal.simulate.network.streams import NetworkLoop, SimulatedServer, network_address

_PIECE_BYTES = 64 * 1024


class SocketLoop(NetworkLoop):
    """The methods of a loop that act on sockets, and those that take a connection over."""

    def listen(self, sock: SimulatedSocket) -> SimulatedServer:
        """Take connections for a socket, until somebody accepts them."""
        assert sock.own is not None
        server = SimulatedServer(self, lambda: _Accepted(self, sock), [network_address(sock.own)])
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
        return await self._inbox(sock, "sock_recv").read(nbytes)

    async def sock_recv_into(self, sock: Any, buf: Any) -> int:
        """Put what has arrived into a buffer, and return how many bytes these are."""
        view = memoryview(buf).cast("B")
        data = await self._inbox(sock, "sock_recv_into").read(len(view))
        view[: len(data)] = data
        return len(data)

    async def sock_sendall(self, sock: Any, data: Any) -> None:
        """Send all of these bytes."""
        await self._inbox(sock, "sock_sendall").write(bytes(data))

    async def connect_accepted_socket(  # type: ignore[override]
        self, protocol_factory: Callable[[], Any], sock: Any, *, ssl: Any = None, **options: Any
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Give an accepted connection to a protocol."""
        return await self.taken_over(protocol_factory, sock, ssl, is_server=True, **options)

    async def sendfile(
        self, transport: Any, file: Any, offset: int = 0, count: int | None = None, *, fallback: bool = True
    ) -> int:
        """Send a part of a file, and return how many bytes were sent."""
        del fallback
        file.seek(offset)
        sent = 0
        while piece := file.read(_PIECE_BYTES if count is None else min(_PIECE_BYTES, count - sent)):
            transport.write(piece)
            sent += len(piece)
            while transport.get_write_buffer_size() > _PIECE_BYTES and not transport.is_closing():
                await asyncio.sleep(0.001)
        return sent

    def _own(self, sock: Any, method: str) -> SimulatedSocket:
        if not isinstance(sock, SimulatedSocket):
            self.escape(f"loop.{method}() with a socket of the system", "make the socket inside of the run")
        return sock

    def _inbox(self, sock: Any, method: str) -> Inbox:
        stream: Any = self._own(sock, method).given_away()
        protocol = stream.get_protocol()
        assert isinstance(protocol, Inbox)
        return protocol


class _Accepted(Inbox):
    """The accepting end of a connection to a socket that listens."""

    def __init__(self, loop: SocketLoop, listening: SimulatedSocket) -> None:
        super().__init__(loop)
        self._listening = listening

    def connection_made(self, transport: Any) -> None:
        """Queue the connection, and wake who waits for one."""
        super().connection_made(transport)
        sock = SimulatedSocket(self._loop, self._listening.family, socket.SOCK_STREAM)
        sock.stream = transport
        sock.own, sock.remote = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        self._listening.arrived.append(sock)
        while self._listening.waiting:
            waiter = self._listening.waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

"""Sockets of a simulated run: libraries make and configure them, and leave sending and receiving to the loop.

A socket that a run makes has no descriptor of the system. It can be bound and set up, and given to the loop, whose
methods connect it, listen on it and move its bytes over the simulated network. Methods that would block in the system
are fenced.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

#: A host and a port.
type Address = tuple[str, int]

SOCKET_HINT = "use asyncio.start_server and asyncio.open_connection, or give the program a stand-in in the test"
#: Methods that wait for the system, or that need a descriptor of it.
_FENCED = (
    *("accept", "connect", "connect_ex", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "recvmsg_into"),
    *("send", "sendall", "sendto", "sendmsg", "sendfile", "makefile", "dup", "detach"),
)


def is_ip(host: str) -> bool:
    """Return True if a host is given by its address, and not by its name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def refusing_method(what: str, hint: str) -> Callable[..., Any]:
    """Return a method that refuses, as no simulation controls what it would do; its object has ``escape``."""

    def refuse(self: Any, *_args: Any, **_named: Any) -> None:
        __tracebackhide__ = True
        self.escape(what, hint)

    return refuse


class SimulatedSocket:
    """A socket without a descriptor. Not thread-safe."""

    def __init__(
        self,
        loop: Any,
        family: int = -1,
        type: int = -1,  # noqa: A002 - as the real one
        proto: int = -1,
        *,
        own: Address | None = None,
    ) -> None:
        self.family = socket.AddressFamily(socket.AF_INET if family == -1 else family)
        self.type = socket.SocketKind(socket.SOCK_STREAM if type == -1 else type & 0xF)
        self.proto = 0 if proto == -1 else proto
        self.own = own
        """Where it is bound."""
        self.remote: Address | None = None
        self.stream: Any = None
        """The end of a connection that it stands for."""
        self.acceptor: Any = None
        """The server that takes connections for it while it listens."""
        self.arrived: deque[SimulatedSocket] = deque()
        """Connections that were not accepted yet."""
        self.waiting: deque[asyncio.Future[None]] = deque()
        """Who waits for a connection."""
        self._loop = loop
        self._options: dict[tuple[int, int], Any] = {}
        self._timeout: float | None = socket.getdefaulttimeout()
        self._is_closed = False

    # The address

    def bind(self, address: Any) -> None:
        """Take an address, and a free port if it asks for port 0."""
        if self.own is not None:
            raise OSError(errno.EINVAL, "Invalid argument")
        if not isinstance(address, tuple):
            self.escape("the program binds a socket to a path", SOCKET_HINT)
        self.own = str(address[0]), int(address[1]) or self._loop.free_port()

    def listen(self, _backlog: int = 0) -> None:
        """Take connections, which ``loop.sock_accept`` returns."""
        if self.own is None:
            self.own = "", self._loop.free_port()
        if self.acceptor is None:
            self.acceptor = self._loop.listen(self)

    def getsockname(self) -> Any:
        """Return the address of this end."""
        return self._shown(self.own)

    def getpeername(self) -> Any:
        """Return the address of the other end."""
        if self.remote is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return self._shown(self.remote)

    def _shown(self, address: Address | None) -> Any:
        if address is None:
            return "0.0.0.0", 0
        return (address[0] or "0.0.0.0", address[1])

    # Settings, which have no effect

    def setsockopt(self, level: int, option: int, value: Any, _length: int | None = None) -> None:
        """Keep the value of an option."""
        self._options[level, option] = value

    def getsockopt(self, level: int, option: int, length: int = 0) -> Any:
        """Return the value that was set, or what says that nothing is special."""
        kinds = {socket.SO_TYPE: int(self.type), socket.SO_ERROR: 0, socket.SO_REUSEADDR: 0}
        value = self._options.get((level, option), kinds.get(option, 0))
        return bytes(length) if length and isinstance(value, int) else value

    def setblocking(self, flag: bool) -> None:
        """Keep whether it blocks."""
        self._timeout = None if flag else 0.0

    def getblocking(self) -> bool:
        """Return True if it blocks."""
        return self._timeout != 0.0

    def settimeout(self, value: float | None) -> None:
        """Keep a time-out."""
        self._timeout = value

    def gettimeout(self) -> float | None:
        """Return the time-out."""
        return self._timeout

    @property
    def timeout(self) -> float | None:
        """The time-out."""
        return self._timeout

    def set_inheritable(self, inheritable: bool) -> None:
        """Do nothing: no child process could inherit it."""

    def get_inheritable(self) -> bool:
        """Return False."""
        return False

    # The end

    def fileno(self) -> int:
        """Return a descriptor that is ready to be read if this socket is, and -1 once it is closed.

        It serves ``select`` and ``poll`` alone: a pool of connections asks them whether one was closed meanwhile.
        """
        if self._is_closed or (self.stream is not None and not self.stream.is_open):
            return -1
        return _descriptor(is_readable=bool(self.arrived) or (self.stream is not None and self.stream.is_readable))

    def shutdown(self, how: int) -> None:
        """Say that nothing more will be written."""
        if self.stream is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        if how != socket.SHUT_RD:
            self.stream.write_eof()

    def close(self) -> None:
        """Close the socket, and its connection unless that was taken over."""
        self._is_closed = True
        if self.acceptor is not None:
            self.acceptor.close()
        if self.stream is not None and self.stream.is_open:
            self.stream.abort()

    def given_away(self) -> Any:
        """Return the connection, which the caller closes from now on.

        Raises:
            OSError: it is not connected.
        """
        if self.stream is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        return self.stream

    def __enter__(self) -> SimulatedSocket:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<simulated socket {self._shown(self.own)}>"

    def escape(self, what: str, hint: str) -> None:
        """Refuse to leave the simulation."""
        __tracebackhide__ = True
        self._loop.escape(what, hint)


for _name in _FENCED:
    _what = f"the program uses a socket of the system (socket.{_name})"
    setattr(SimulatedSocket, _name, refusing_method(_what, SOCKET_HINT))


@cache
def _descriptor(*, is_readable: bool) -> int:
    """Return a real descriptor that stays as it is: there are two for each process."""
    reading, writing = os.pipe()
    if is_readable:
        os.write(writing, b"!")
    return reading


class Inbox(asyncio.StreamReaderProtocol):
    """Keeps what arrives at a socket until the program asks the loop for it."""

    def __init__(self, loop: Any, listening: SimulatedSocket | None = None) -> None:
        """Its connection is queued at the socket ``listening``, if given."""
        # Its peer has to wait at twice this limit.
        self.reader = asyncio.StreamReader(32 * 1024, loop)
        super().__init__(self.reader, loop=loop)
        self._simulation = loop
        self._listening = listening

    def connection_made(self, transport: Any) -> None:
        """Remember the connection; where a socket listens, queue it, and wake one waiter."""
        super().connection_made(transport)
        if self._listening is None:
            return
        sock = SimulatedSocket(self._simulation, self._listening.family, socket.SOCK_STREAM)
        sock.stream = transport
        sock.own, sock.remote = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        self._listening.arrived.append(sock)
        while self._listening.waiting:
            waiter = self._listening.waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

"""The datagrams of a simulated run: each may be lost, doubled or late, and so overtake others."""

from __future__ import annotations

import asyncio
import contextvars
import errno
from collections.abc import Callable
from typing import Any

from ordeal.simulate.network.links import Conduct, Links
from ordeal.simulate.network.transport import NumberLoop, number_of
from ordeal.simulate.nodes.life import LIFE, NOWHERE, Life
from ordeal.simulate.runtime.decisions import DATAGRAM, name_key
from ordeal.simulate.runtime.loop_settings import LoopSettings

type SocketAddress = tuple[str, int]

#: The values of the decision about a datagram, before those that make it late.
LOST, DOUBLED = 1, 2
_COPIES = {LOST: 0, DOUBLED: 2}
#: The first port that is given to whoever asks for any.
_FIRST_FREE_PORT = 49_152
_SENT_SITE = name_key("datagram")
#: What fits into a datagram, as over IPv4.
_BYTES_MAX = 65_507


def host_name(life: Life | None) -> str:
    """Return the name of the host of a life: that of its node, or "" for the test itself."""
    return "" if life is None else life.name


class DatagramEndpoint(asyncio.DatagramTransport):
    """One end of what datagrams are sent between."""

    __hash__ = number_of

    def __init__(
        self, loop: DatagramLoop, protocol: Any, own: SocketAddress, remote: SocketAddress | None, is_bound: bool
    ) -> None:
        super().__init__({"sockname": own, "peername": remote})
        self._loop = loop
        self._protocol = protocol
        self._own = own
        self._remote = remote
        self._is_closing = False
        self.life = LIFE.get()
        self._context = contextvars.copy_context()
        self.host = host_name(self.life)
        self.port = own[1]
        """The port on its host."""
        # The number of a port that was given differs with what else the run does.
        host = self.host or "the test"
        self._ways: dict[SocketAddress, tuple[int, str | None]] = {}
        """What stands for the datagrams to an address in decisions, and its host, if code anywhere reaches that."""
        self._name = f"{host}:{own[1]}" if is_bound else host
        self._remote_host = "" if remote is None else loop.route(remote)[0]

    def sendto(self, data: Any, addr: Any = None) -> None:
        """Send a datagram; it may be lost, doubled or late."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._remote is not None and addr not in (None, self._remote):
            raise ValueError(f"Invalid address: must be None or {self._remote}")
        to = addr or self._remote
        if to is None:
            raise ValueError("the endpoint has no remote address: give one")
        if self._is_closing:
            return
        packet = bytes(data)
        if len(packet) > _BYTES_MAX:
            self._protocol.error_received(OSError(errno.EMSGSIZE, "Message too long"))
            return
        loop = self._loop
        there = to[0], to[1]
        way = self._ways.get(there)
        if way is None:
            way = self._ways[there] = name_key(f"{self._name} to {to[0]}:{to[1]}"), loop.fixed_host(to[0])
        name, host = way
        if host is None:
            host = loop.route(there)[0]
        source = self.host
        latencies = loop.packet_latencies
        is_usual = loop.links is None or loop.links.is_usual
        if is_usual or (conduct := loop.conduct(source, host)) is None:
            fate = loop.decide(DATAGRAM, name, _SENT_SITE, len(latencies) + DOUBLED)
            late_s = latencies[fate - DOUBLED] if fate > DOUBLED else latencies[0]
            copies = _COPIES.get(fate, 1)
        else:
            copies, is_overtaken = conduct.fate(loop.decide_evenly, name)
            late_s = latencies[-1] if is_overtaken else latencies[0]
        for copy in range(copies):
            delay_s = 0.0 if is_usual else loop.delay_s(source, host, len(packet))
            due = loop.now + late_s + delay_s + copy * latencies[-1]
            loop.at(due, loop.take_datagram, packet, self._own, source, host, to[1])

    def take(self, packet: bytes, sender: SocketAddress, source: str) -> None:
        """Give a datagram to the protocol, in the node of this end; ``source`` is the host that sent it."""
        if self._remote is None or (self._remote_host, self._remote[1]) == (source, sender[1]):
            self._loop.call_soon(self._give, packet, sender, context=self._context)

    def _give(self, packet: bytes, sender: SocketAddress) -> None:
        if not self._is_closing:
            self._protocol.datagram_received(packet, sender)

    def close(self) -> None:
        """Take no more datagrams."""
        if not self._is_closing:
            self._is_closing = True
            if self in self._loop.endpoints:
                self._loop.endpoints.remove(self)
            self._loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        """Close at once."""
        self.close()

    def is_closing(self) -> bool:
        """Return whether this end is closed."""
        return self._is_closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return who gets what arrives."""
        return self._protocol  # type: ignore[no-any-return]

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give what arrives to another protocol."""
        self._protocol = protocol

    def get_write_buffer_size(self) -> int:
        """Return 0: what is sent is on its way."""
        return 0


class DatagramLoop(NumberLoop, LoopSettings):
    """The methods of a loop that send datagrams."""

    packet_latencies: tuple[float, ...]
    links: Links | None = None
    """The links between the nodes of a world; None without one."""

    def __init__(self) -> None:
        super().__init__()
        self.endpoints: list[DatagramEndpoint] = []
        self._ports_given = 0

    @property
    def now(self) -> float:
        """The time of the world."""
        raise NotImplementedError

    def at(
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context = NOWHERE
    ) -> object:
        """Call something at a time of the world."""
        raise NotImplementedError

    def decide(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Return the value of a decision."""
        raise NotImplementedError

    def route(self, address: SocketAddress) -> tuple[str, Any]:
        """Return the host that an address leads to, and the address there."""
        raise NotImplementedError

    def fixed_host(self, name: str) -> str | None:
        """Return the host that code anywhere means by a name; None where that differs, or may come to differ."""
        raise NotImplementedError

    def is_cut(self, source: str, target: str) -> bool:
        """Return whether nothing gets from one host to another now."""
        raise NotImplementedError

    def decide_evenly(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Return the value of a decision about what a run meets seldom."""
        raise NotImplementedError

    def conduct(self, source: str, target: str) -> Conduct | None:
        """Return what a link does to datagrams, None where the test has not said it."""
        raise NotImplementedError

    def delay_s(self, source: str, target: str, size: int = 0) -> float:
        """Return how much longer than usual a packet takes from one host to another."""
        raise NotImplementedError

    async def create_datagram_endpoint(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        local_addr: SocketAddress | None = None,
        remote_addr: SocketAddress | None = None,
        *,
        sock: Any = None,
        **options: Any,
    ) -> tuple[DatagramEndpoint, asyncio.BaseProtocol]:
        """Send and take datagrams on the simulated network; other options have no effect."""
        del options
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
        """Return a port that was given to nobody."""
        self._ports_given += 1
        return _FIRST_FREE_PORT + self._ports_given - 1

    def _endpoint_at(self, host: str, port: int) -> DatagramEndpoint | None:
        for each in self.endpoints:
            if each.port == port and each.host == host:
                return each
        return None

    def take_datagram(self, packet: bytes, sender: SocketAddress, source: str, host: str, port: int) -> None:
        """Let a datagram arrive, if the network lets it through and somebody takes it."""
        if self.links is not None and self.links.has_cuts and self.is_cut(source, host):
            return
        endpoint = self._endpoint_at(host, port)
        if endpoint is not None:
            endpoint.take(packet, sender, source)

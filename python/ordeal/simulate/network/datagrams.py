"""The datagrams of a simulated run: each may be lost, doubled or late, and so overtake others."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import functools
from typing import Any

from ordeal.simulate.network.sockets import Address
from ordeal.simulate.network.transport import NetworkEnd
from ordeal.simulate.nodes.life import LIFE, Life
from ordeal.simulate.runtime.decisions import DATAGRAM, name_key

#: The values of the decision about a datagram, before those that make it late.
LOST, DOUBLED = 1, 2
_COPIES = {LOST: 0, DOUBLED: 2}
_SENT_SITE = name_key("datagram")


def host_name(life: Life | None) -> str:
    """Return the name of the host of a life: that of its node, or "" for the test itself."""
    return "" if life is None else life.name


class DatagramEndpoint(NetworkEnd, asyncio.DatagramTransport):
    """One endpoint of datagrams."""

    def __init__(self, loop: Any, protocol: Any, own: Address, remote: Address | None, is_bound: bool) -> None:
        super().__init__({"sockname": own, "peername": remote})
        self._loop = loop
        self._protocol = protocol
        self._own = own
        self._remote = remote
        self.life = LIFE.get()
        self._context = contextvars.copy_context()
        self.host = host_name(self.life)
        self.port = own[1]
        """The port on its host."""
        # The number of a port that was given differs with what else the run does.
        host = self.host or "the test"
        self._ways: dict[Address, int] = {}
        """What stands for the datagrams to an address in decisions."""
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
        if len(packet) > 65_507:  # what fits into one over IPv4
            self._protocol.error_received(OSError(errno.EMSGSIZE, "Message too long"))
            return
        loop = self._loop
        there = to[0], to[1]
        name = self._ways.get(there)
        if name is None:
            name = self._ways[there] = name_key(f"{self._name} to {to[0]}:{to[1]}")
        host = loop.route(there)[0]
        source = self.host
        latencies = loop.packet_latencies
        conduct = loop.links.conducts.get((source, host))
        if conduct is None:
            fate = loop.decide(DATAGRAM, name, _SENT_SITE, len(latencies) + DOUBLED + 1)
            taken = max(fate - DOUBLED, 0)
            # The last value of this decision stands for the last value of that of a packet.
            taken += taken == len(latencies)
            copies = _COPIES.get(fate, 1)
        else:
            copies, is_overtaken = conduct.fate(loop.decide_evenly, name)
            taken = len(latencies) - 1 if is_overtaken else 0
        take = functools.partial(loop.take_datagram, packet, self._own, source, host, to[1])
        due, arrive = loop.packet(taken, take)
        for copy in range(copies):
            loop.at(due + loop.links.delay_s(source, host) + copy * latencies[-1], arrive)

    def take(self, packet: bytes, sender: Address, source: str) -> None:
        """Give a datagram to the protocol, in the node of this end; ``source`` is the host that sent it."""
        if self._remote is None or (self._remote_host, self._remote[1]) == (source, sender[1]):
            self._loop.call_soon(self._give, packet, sender, context=self._context)

    def _give(self, packet: bytes, sender: Address) -> None:
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

    def get_write_buffer_size(self) -> int:
        """Return 0: what is sent is on its way."""
        return 0

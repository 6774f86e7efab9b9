"""One end of a simulated connection: bytes arrive in order, cut and joined anywhere, late, and under back pressure."""

from __future__ import annotations

import asyncio
import contextvars
from asyncio import mixins, transports
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ordeal.simulate.network.sockets import SimulatedSocket
from ordeal.simulate.nodes.life import LIFE, NOWHERE
from ordeal.simulate.runtime.decisions import CUT, PACKET, name_key, name_of

_NUMBER = "_ordeal_number"


def number_of(hashed: Any) -> int:
    """Return the hash of an object: its number if it is first asked for inside of a run, else that of its address.

    It stays what it is, also when the run is over.
    """
    known: dict[str, Any] = vars(hashed)
    if _NUMBER not in known:
        numbers = getattr(asyncio._get_running_loop(), "hashes", None)
        known[_NUMBER] = object.__hash__(hashed) if numbers is None else next(numbers)
    return int(known[_NUMBER])


for _kind in (asyncio.StreamWriter, asyncio.StreamReader, mixins._LoopBoundMixin):
    _kind.__hash__ = number_of  # type: ignore[method-assign, assignment]


#: How long a packet takes when nothing special happens.
LATENCY_S = 0.001
_PACKET_SITE, _CUT_SITE = name_key("packet"), name_key("arrival")
#: How the bytes that have arrived are cut: not at all, in the middle, after the first byte, before the last.
_CUTS: tuple[Callable[[int], int], ...] = (
    lambda size: size,
    lambda size: max(size // 2, 1),
    lambda size: min(size, 1),
    lambda size: max(size - 1, 1),
)


class NetworkEnd:
    """What ends of connections and of datagrams have in common."""

    _protocol: Any
    _is_closing = False
    __hash__ = number_of

    def is_closing(self) -> bool:
        """Return True if this end is closed or about to be."""
        return self._is_closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol that gets what arrives."""
        return self._protocol  # type: ignore[no-any-return]

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give what arrives to another protocol."""
        self._protocol = protocol


class StreamTransport(NetworkEnd, transports._FlowControlMixin):
    """One end of a connection. What it writes arrives at its ``peer``; what arrives goes to its protocol."""

    peer: StreamTransport
    _loop: Any
    _maybe_pause_protocol: Callable[[], None]
    _maybe_resume_protocol: Callable[[], None]

    def __init__(
        self,
        loop: Any,
        name: str,
        protocol: asyncio.BaseProtocol,
        extra: dict[str, Any],
        on_lost: Callable[[StreamTransport], object],
        context: contextvars.Context,
    ) -> None:
        """``name`` is that of the decisions; calls ``on_lost`` when the connection is gone at this end.

        What arrives is given to the protocol in ``context``, which says which node this end is on.
        """
        super().__init__(extra, loop)
        self._shown = extra
        self._name = name_key(name)
        self._protocol = protocol
        self._on_lost = on_lost
        self._context = context
        self.life = context.get(LIFE)
        """The life of the node that this end belongs to; None for the test itself."""
        self.host = "" if self.life is None else self.life.name
        self.overdue = 0
        """How many packets a cut keeps from arriving at this end."""
        self.is_unanswered = False
        """Whether something arrived at this end after its node went down, and nothing answered."""
        self._arriving: deque[bytes] = deque()
        """What was sent to this end, and has not been given to the protocol yet: bytes that have arrived."""
        self._unread_bytes = 0
        """How many bytes were sent to this end and not read: what the writer has to wait for."""
        self._arrival_at = 0.0
        """When the last packet that was sent to this end arrives."""
        self._in_flight: deque[Callable[[], None]] = deque()
        """What happens at this end, in the order in which it was sent: no packet overtakes another."""
        self._is_reading_paused = False
        self._is_lost = False
        self._has_sent_eof = False
        self._has_eof_arrived = False

    # Writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes to the peer."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data argument must be a bytes-like object, not {type(data).__name__!r}")
        if self._is_lost or self._is_closing or not data:
            return
        if self._has_sent_eof:
            raise RuntimeError("Cannot call write() after write_eof()")
        packet = bytes(data)
        self.peer._unread_bytes += len(packet)
        self._send(lambda: self.peer._arrive(packet))
        self._maybe_pause_protocol()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send several pieces at once."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """Say that nothing more will be written."""
        if not self._has_sent_eof and not self._is_closing:
            self._has_sent_eof = True
            self._send(lambda: self.peer._arrive(b""))

    def can_write_eof(self) -> bool:
        """Return True if each direction can be closed alone, as TLS does not allow it."""
        return "sslcontext" not in self._shown

    def _send(self, arrive: Callable[[], None]) -> None:
        """Have something happen at the peer, after all that was sent before."""
        loop, peer = self._loop, self.peer
        taken = loop.decide(PACKET, self._name, _PACKET_SITE, len(loop.packet_latencies) + 2)
        due, arrive = loop.packet(taken, arrive)
        if not loop.links.is_usual:
            due += loop.links.delay_s(self.host, peer.host)
            if (conduct := loop.links.conducts.get((self.host, peer.host))) is not None:
                due += conduct.resent_s(loop.decide_evenly, self._name)
        peer._arrival_at = max(peer._arrival_at, due)
        peer._in_flight.append(arrive)
        timer = loop.at(peer._arrival_at, peer.take_next, context=peer._context if peer.life is None else NOWHERE)
        if loop.log is not None:
            loop.name_timer(timer, f"what {name_of(self._name)} has sent", "arrives")

    def _relieve_peer(self) -> None:
        if self.peer.life is self.life:
            self.peer._maybe_resume_protocol()
        else:
            self._loop.call_soon(self.peer._maybe_resume_protocol, context=self.peer._context)

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait for the peer to read."""
        # The systems of both ends hold this many unread bytes, so that no writer has to wait for the reader.
        return max(self.peer._unread_bytes - 16 * 1024, 0)

    # Reading

    def take_next(self) -> None:
        """Let the next packet arrive, if the network lets it through and there is a node to take it."""
        # Timers with one deadline fire in any order; each stands for the packet whose turn it is.
        life = self.life
        if self._loop.links.has_cuts and self._loop.is_cut(self.peer.host, self.host):
            self.overdue += 1
            return
        arrive = self._in_flight.popleft()
        if life is None:
            arrive()
        elif not life.is_dead:
            self._loop.call_soon(arrive, context=self._context)
        elif life.is_silent:
            self.is_unanswered = True
        else:
            self.send_reset()

    def send_reset(self) -> None:
        """Have the connection reset at the other end, as the operating system of a node that is gone does."""
        self._send(self.peer._reset)

    def reset_both(self) -> None:
        """Reset the connection at both ends, as something on the way may do."""
        self.send_reset()
        self.peer.send_reset()

    def _arrive(self, packet: bytes) -> None:
        """Take a packet from the network; an empty one is the end of the stream."""
        if self._is_lost or self._is_closing:
            if packet:
                self.peer._reset()  # nothing listens here any more
            return
        self._arriving.append(packet)
        self._deliver()

    def _deliver(self) -> None:
        """Give the protocol what has arrived, up to where it is cut."""
        if self._is_reading_paused or self._is_lost or self._is_closing or not self._arriving:
            return
        data = b"".join(self._arriving)
        at_end = not self._arriving[-1]
        self._arriving.clear()
        if data:
            taken = _CUTS[self._loop.decide(CUT, self._name, _CUT_SITE, len(_CUTS))](len(data))
            if taken < len(data) or at_end:
                self._arriving.extend([data[taken:]] if taken < len(data) else [])
                self._arriving.extend([b""] if at_end else [])
                self._loop.call_later(LATENCY_S, self._deliver)
            self._unread_bytes -= taken
            self._give(data[:taken])
            self._relieve_peer()
        elif not self._has_eof_arrived:
            self._has_eof_arrived = True
            if not self._protocol.eof_received():
                self.close()

    def _give(self, data: bytes) -> None:
        protocol: Any = self._protocol
        if not isinstance(protocol, asyncio.BufferedProtocol):
            protocol.data_received(data)
            return
        while data:
            buffer = protocol.get_buffer(len(data))
            view = memoryview(buffer)
            size = min(len(view), len(data))
            if not size:
                raise RuntimeError("get_buffer() returned an empty buffer")
            view[:size] = data[:size]
            protocol.buffer_updated(size)
            data = data[size:]

    def adopted_by(self, protocol: Any) -> None:
        """Give the connection, and what has arrived for the socket that it was, to a protocol."""
        before: Any = self._protocol
        self._protocol = protocol
        protocol.connection_made(self)
        if before.reader._buffer:
            self._unread_bytes += len(before.reader._buffer)
            self._arriving.appendleft(bytes(before.reader._buffer))
        if before.reader._eof and self.is_open:
            self._has_eof_arrived = False
            self._arriving.append(b"")
        self._is_reading_paused = False
        if self._is_lost:
            self._loop.call_soon(protocol.connection_lost, None)
        elif self._arriving:
            self._loop.call_soon(self._deliver)

    @property
    def is_readable(self) -> bool:
        """Whether bytes, or the end of the stream, have arrived and were not read."""
        return bool(self._arriving) or self._has_eof_arrived

    @property
    def is_open(self) -> bool:
        """Whether the connection is there."""
        return not self._is_lost

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return an address, or what stands for the socket."""
        if name == "socket" and name not in self._shown:
            own, remote = self._shown["sockname"], self._shown["peername"]
            sock = SimulatedSocket(self._loop)
            sock.own, sock.remote, sock.stream = own, remote, self
            self._shown[name] = sock
        return super().get_extra_info(name, default)

    def secure(self, security: dict[str, Any]) -> None:
        """Say from now on that the connection has TLS, as ``security`` has it."""
        self._shown.update(security)

    def pause_reading(self) -> None:
        """Give nothing more to the protocol for now."""
        self._is_reading_paused = True

    def resume_reading(self) -> None:
        """Give the protocol again what arrives."""
        if self._is_reading_paused:
            self._is_reading_paused = False
            self._loop.call_soon(self._deliver)

    def is_reading(self) -> bool:
        """Return True if the protocol gets what arrives."""
        return not self._is_reading_paused and not self._is_closing

    # The end

    def close(self) -> None:
        """Close this end; what was written still arrives, and then the end of the stream."""
        if not self._is_closing and not self._is_lost:
            self.write_eof()
            self._is_closing = True
            self._loop.call_soon(self._lose, None)

    def abort(self) -> None:
        """Close this end at once; the peer's connection is reset if there are bytes that this end has not read."""
        if not self._is_lost and not self._is_closing:
            # As TCP has it: closing resets the connection only where bytes have arrived that were not read.
            if any(self._arriving):
                self._send(self.peer._reset)
            else:
                self.write_eof()
            self._is_closing = True
            self._loop.call_soon(self._lose, None)

    def _reset(self) -> None:
        if not self._is_lost:
            self._is_closing = True
            self._lose(ConnectionResetError(104, "Connection reset by peer"))

    def _lose(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        self._unread_bytes = 0
        self._arriving.clear()
        try:
            self._protocol.connection_lost(error)
            if error is not None and isinstance(self._protocol, asyncio.StreamReaderProtocol):
                # The protocol silences the future that holds the error as late as when it is freed. Without a GIL the
                # future may be freed first, and would report an error that the program has read.
                stream: Any = self._protocol
                stream._get_close_waiter(None)._log_traceback = False
        finally:
            self._on_lost(self)
            self._relieve_peer()

    def drop(self) -> None:
        """End the connection without notifying either side."""
        self._is_closing = self._is_lost = True

"""Carries short rows of plain values between a process and one that it has forked: no pickles, all of it checked."""

from __future__ import annotations

import select
import socket
import struct

import msgspec
from msgspec.msgpack import Ext

#: What can be sent.
Value = bool | int | float | str | bytes | None

#: Far above what a step can tell; a damaged length must not fill the memory.
MESSAGE_BYTES_MAX = 1 << 28
_PART_BYTES = 1 << 15
_MORE, _LAST, _ALONE = b"\x00", b"\x01", b"\x02"
#: What MessagePack has no form for: integers that are wider, and texts with halves of surrogate pairs.
_WIDE, _TEXT = 1, 2
_NATIVE_BITS = 64
_CREDENTIALS = struct.Struct("3i")  # process, user, group


class ChannelError(Exception):
    """The process at the other end is gone, or what it sent is no message."""


class Channel:
    """One end of a connection between two processes. Owned by one thread.

    What ``send(alone=True)`` sends is one message, whatever was sent before it: so that a process can speak up for
    another one that ended in the middle of a message.

    Attributes:
        sender: the process that the message received last is of; 0 before ``tell_senders``.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._tells_senders = False
        self.sender = 0

    def tell_senders(self) -> None:
        """From here on know whom each message is of, as Linux says. Nothing may have been sent before."""
        self._end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._tells_senders = True

    @staticmethod
    def pair() -> tuple[Channel, Channel]:
        """Both ends of a new connection.

        Raises:
            OSError: the system has no such connections, or no more of them.
        """
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Channel(one), Channel(other)

    def send(self, *values: Value, alone: bool = False) -> None:
        """Send a message.

        Raises:
            ChannelError: nobody is there to get it.
            TypeError: a value is none of the plain ones.
        """
        message = encode(values)
        last = _ALONE if alone else _LAST
        try:
            while len(message) > _PART_BYTES and not alone:
                self._end.send(_MORE + message[:_PART_BYTES])
                message = message[_PART_BYTES:]
            self._end.send(last + message)
        except OSError as error:
            raise ChannelError(f"the other process is gone: {error}") from error

    def receive(self) -> list[Value]:
        """Wait for a message.

        Raises:
            ChannelError: none will come, or what came is none.
        """
        parts: list[bytes] = []
        size = 0
        while True:
            try:
                packet = self._packet(is_first=not parts)
            except OSError as error:
                raise ChannelError(f"the other process is gone: {error}") from error
            mark, part = packet[:1], packet[1:]
            if mark not in (_MORE, _LAST, _ALONE) or not mark:
                raise ChannelError("the other process is gone" if not packet else f"{mark!r} begins no message")
            if mark == _ALONE:
                return decode(part)
            parts.append(part)
            size += len(part)
            if size > MESSAGE_BYTES_MAX:
                raise ChannelError(f"a message has more than {MESSAGE_BYTES_MAX} bytes")
            if mark == _LAST:
                return decode(b"".join(parts))

    def _packet(self, *, is_first: bool) -> bytes:
        """The next one, whose sender is noted. What one process began no other may end."""
        if not self._tells_senders:
            return self._end.recv(_PART_BYTES + 1)
        packet, notes, _, _ = self._end.recvmsg(_PART_BYTES + 1, socket.CMSG_SPACE(_CREDENTIALS.size))
        senders = [data for level, kind, data in notes if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)]
        sender = _CREDENTIALS.unpack(senders[0])[0] if senders and len(senders[0]) == _CREDENTIALS.size else 0
        if packet and not (is_first or packet[:1] == _ALONE or sender == self.sender):
            raise ChannelError(f"process {sender} went on with a message of process {self.sender}")
        self.sender = sender
        return packet

    def set_timeout(self, seconds: float | None) -> None:
        """How long to wait for the other process to take or to send a part of a message; None for ever.

        It is gone for who has waited longer, as ChannelError says.
        """
        self._end.settimeout(seconds)

    def has_message(self) -> bool:
        """Whether a message, or a part of one, can be received without waiting. So says also what is broken."""
        watched = select.poll()
        watched.register(self._end, select.POLLIN)
        return bool(watched.poll(0))

    def fileno(self) -> int:
        """The descriptor, for who waits for several."""
        return self._end.fileno()

    def close(self) -> None:
        """Give up this end; who waits at the other one hears so."""
        self._end.close()


def encode(values: tuple[Value, ...]) -> bytes:
    """``values`` as bytes. Raises TypeError for one that is none of the plain ones."""
    if _PLAIN.issuperset(map(type, values)):
        try:
            return msgspec.msgpack.encode(values)
        except (OverflowError, UnicodeEncodeError):
            pass  # a value that MessagePack has no form for
    return msgspec.msgpack.encode(list(map(_packable, values)))


def decode(message: bytes) -> list[Value]:
    """What ``encode`` made ``message`` of. Raises ChannelError when it made no such bytes."""
    try:
        values = _ROW.decode(message)
        return values if _PLAIN.issuperset(map(type, values)) else list(map(_unpacked, values))
    except (ValueError, TypeError, RecursionError) as error:
        raise ChannelError(f"a message is damaged: {error}") from error


_ROW = msgspec.msgpack.Decoder(list)
_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})


def _packable(value: Value) -> Value | Ext:
    match value:
        case None | bool():
            return value
        case int() if value.bit_length() >= _NATIVE_BITS:
            return Ext(_WIDE, value.to_bytes(value.bit_length() // 8 + 1, signed=True))
        case int():
            return int(value)
        case float():
            return float(value)
        case bytes():
            return bytes(value)
        case str():
            return Ext(_TEXT, value.encode("utf-8", "surrogatepass"))
    raise TypeError(f"a {type(value).__name__} cannot be sent to another process")


def _unpacked(value: object) -> Value:
    if type(value) in _PLAIN:
        return value  # type: ignore[return-value]
    if isinstance(value, Ext) and value.code == _WIDE:
        return int.from_bytes(value.data, signed=True)
    if isinstance(value, Ext) and value.code == _TEXT:
        return bytes(value.data).decode("utf-8", "surrogatepass")
    raise ValueError(f"a {type(value).__name__} is none of the values that are sent")

"""Carries short rows of plain values between a process and one that it has forked: no pickles, all of it checked."""

from __future__ import annotations

import select
import socket
import struct

#: What can be sent.
Value = bool | int | float | str | bytes | None

#: Far above what a step can tell; a damaged length must not fill the memory.
MESSAGE_BYTES_MAX = 1 << 28
_PART_BYTES = 1 << 15
_MORE, _LAST, _ALONE = b"\x00", b"\x01", b"\x02"
_SIZE = struct.Struct("<I")
_REAL = struct.Struct("<d")


class ChannelError(Exception):
    """The process at the other end is gone, or what it sent is no message."""


class Channel:
    """One end of a connection between two processes. Owned by one thread.

    What ``send(alone=True)`` sends is one message, whatever was sent before it: so that a process can speak up for
    another one that ended in the middle of a message.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end

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
                packet = self._end.recv(_PART_BYTES + 1)
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
    parts: list[bytes] = []
    for value in values:
        if value is None:
            parts.append(b"n")
        elif value is True or value is False:
            parts.append(b"t" if value else b"f")
        elif isinstance(value, int):
            _add(parts, b"i", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
        elif isinstance(value, float):
            parts += (b"d", _REAL.pack(value))
        elif isinstance(value, str):
            _add(parts, b"s", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, bytes):
            _add(parts, b"b", value)
        else:
            raise TypeError(f"a {type(value).__name__} cannot be sent to another process")
    return b"".join(parts)


def decode(message: bytes) -> list[Value]:
    """What ``encode`` made ``message`` of. Raises ChannelError when it made no such bytes."""
    values: list[Value] = []
    at = 0
    while at < len(message):
        kind, at = message[at : at + 1], at + 1
        if kind in _CONSTANTS:
            values.append(_CONSTANTS[kind])
            continue
        if kind == b"d":
            size = _REAL.size
        elif kind in b"isb" and at + _SIZE.size <= len(message):
            (size,) = _SIZE.unpack_from(message, at)
            at += _SIZE.size
        else:
            raise ChannelError(f"{kind!r} at byte {at - 1} begins no value")
        end = at + size
        if end > len(message):
            raise ChannelError(f"a value of {size} bytes begins {len(message) - at} bytes before the end")
        values.append(_value(kind, message[at:end]))
        at = end
    return values


_CONSTANTS: dict[bytes, Value] = {b"n": None, b"t": True, b"f": False}


def _add(parts: list[bytes], kind: bytes, content: bytes) -> None:
    parts += (kind, _SIZE.pack(len(content)), content)


def _value(kind: bytes, content: bytes) -> Value:
    if kind == b"d":
        return float(_REAL.unpack(content)[0])
    if kind == b"i":
        return int.from_bytes(content, "little", signed=True)
    if kind == b"b":
        return content
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ChannelError(f"a text is damaged: {error}") from error

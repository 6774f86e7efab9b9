"""Sends short rows of plain values between a process and its fork, without pickle, and checks all that arrives."""

from __future__ import annotations

import select
import socket
import struct

import msgspec
from msgspec.msgpack import Ext

from ordeal._base.limits import INPUT_BYTES_MAX, PART_BYTES

#: What can be sent.
Value = bool | int | float | str | bytes | None

_MORE, _LAST, _ALONE = b"\x00", b"\x01", b"\x02"
#: What MessagePack cannot represent: wider integers, and texts with lone surrogates.
_WIDE, _TEXT = 1, 2
_CREDENTIALS = struct.Struct("3i")  # process, user, group


class ChannelError(Exception):
    """The process at the other end has ended, or it sent something invalid."""


class Channel:
    """One end of a connection between two processes. Owned by one thread.

    ``send(alone=True)`` sends a complete message even when the message before it is unfinished, so that a process can
    report for another one that ended in the middle of a message.

    Attributes:
        sender: the process that sent the message received last; 0 before ``identify_senders``.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._identifies_senders = False
        self.sender = 0

    def identify_senders(self) -> None:
        """Let Linux name the sender of each message from now on. Nothing may have been sent before."""
        self._end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._identifies_senders = True

    @staticmethod
    def pair() -> tuple[Channel, Channel]:
        """Return both ends of a new connection.

        Raises:
            OSError: the system has no such connections, or no more of them.
        """
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Channel(one), Channel(other)

    def send(self, *values: Value, alone: bool = False) -> None:
        """Send a message.

        Raises:
            ChannelError: the other process has ended.
            TypeError: a value is not a plain one.
        """
        message = encode(values)
        last = _ALONE if alone else _LAST
        try:
            while len(message) > PART_BYTES and not alone:
                self._end.send(_MORE + message[:PART_BYTES])
                message = message[PART_BYTES:]
            self._end.send(last + message)
        except OSError as error:
            raise ChannelError(f"the other process is gone: {error}") from error

    def receive(self) -> list[Value]:
        """Wait for a message.

        Raises:
            ChannelError: the other process has ended, or what it sent is not a message.
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
            if size > INPUT_BYTES_MAX:
                raise ChannelError(f"a message has more than {INPUT_BYTES_MAX} bytes")
            if mark == _LAST:
                return decode(b"".join(parts))

    def _packet(self, *, is_first: bool) -> bytes:
        """Receive the next packet and note its sender. A message must be finished by the process that began it."""
        if not self._identifies_senders:
            return self._end.recv(PART_BYTES + 1)
        packet, notes, _, _ = self._end.recvmsg(PART_BYTES + 1, socket.CMSG_SPACE(_CREDENTIALS.size))
        senders = [data for level, kind, data in notes if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)]
        sender = _CREDENTIALS.unpack(senders[0])[0] if senders and len(senders[0]) == _CREDENTIALS.size else 0
        if packet and not (is_first or packet[:1] == _ALONE or sender == self.sender):
            raise ChannelError(f"process {sender} continued a message of process {self.sender}")
        self.sender = sender
        return packet

    def set_timeout(self, seconds: float | None) -> None:
        """Limit the wait for the other process to take or send a part of a message; None waits for ever.

        After that time, ChannelError says that the other process is gone.
        """
        self._end.settimeout(seconds)

    def has_message(self) -> bool:
        """Return True if receiving would not wait: a part of a message is there, or the connection is broken."""
        watched = select.poll()
        watched.register(self._end, select.POLLIN)
        return bool(watched.poll(0))

    def fileno(self) -> int:
        """Return the descriptor, for waiting on several channels."""
        return self._end.fileno()

    def close(self) -> None:
        """Close this end; a process waiting at the other end gets ChannelError."""
        self._end.close()


def encode(values: tuple[Value, ...]) -> bytes:
    """Encode ``values`` as bytes. Raises TypeError for a value that is not a plain one."""
    if _PLAIN.issuperset(map(type, values)):
        try:
            return msgspec.msgpack.encode(values)
        except (OverflowError, UnicodeEncodeError):
            pass  # a value that MessagePack cannot represent
    packed: list[Value | Ext] = []
    for value in values:
        match value:
            case None | bool():
                packed.append(value)
            case int() if value.bit_length() >= 64:
                packed.append(Ext(_WIDE, value.to_bytes(value.bit_length() // 8 + 1, signed=True)))
            case int():
                packed.append(int(value))
            case float():
                packed.append(float(value))
            case bytes():
                packed.append(bytes(value))
            case str():
                packed.append(Ext(_TEXT, value.encode("utf-8", "surrogatepass")))
            case _:
                raise TypeError(f"a {type(value).__name__} cannot be sent to another process")
    return msgspec.msgpack.encode(packed)


def decode(message: bytes) -> list[Value]:
    """Decode what ``encode`` returned. Raises ChannelError for any other bytes."""
    try:
        values = _ROW.decode(message)
        if _PLAIN.issuperset(map(type, values)):
            return values
        for place, value in enumerate(values):
            if isinstance(value, Ext) and value.code == _WIDE:
                values[place] = int.from_bytes(value.data, signed=True)
            elif isinstance(value, Ext) and value.code == _TEXT:
                values[place] = bytes(value.data).decode("utf-8", "surrogatepass")
            elif type(value) not in _PLAIN:
                raise ValueError(f"a {type(value).__name__} is none of the values that are sent")
        return values
    except (ValueError, TypeError, RecursionError) as error:
        raise ChannelError(f"a message is damaged: {error}") from error


_ROW = msgspec.msgpack.Decoder(list)
_PLAIN = frozenset({bool, int, float, str, bytes, type(None)})

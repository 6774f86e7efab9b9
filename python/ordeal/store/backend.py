"""Where shards lie: what a folder and a Redis server must be able to do for a store, and no more."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

#: Members of one namespace, from its first day on.
MEMBERS_MAX = 100_000
#: No lease is longer.
LEASE_SECONDS_MAX = 24 * 3600.0
#: Hex digits of a token.
TOKEN_CHARS = 16
_NAME = re.compile(rf"(\d{{6}})-([0-9a-f]{{{TOKEN_CHARS}}})", re.ASCII)


_births = itertools.count()


def new_name() -> str:
    """Sixteen hex digits that nothing else has: told by where and when it is made, as there is no chance here."""
    birth = f"{socket.gethostname()} {os.getpid()} {time.time_ns()} {next(_births)}"
    return hashlib.blake2b(birth.encode(), digest_size=8).hexdigest()


class UnreachableError(Exception):
    """The backend cannot be used now; the message says what happened."""


class UnwritableError(UnreachableError):
    """The backend can be read, and takes nothing: it is full, or not for this user to write."""


class ShardName(NamedTuple):
    """The number of the member that writes a shard, and a token that no other member has.

    The number alone would do, if no folder were ever emptied and no server ever lost its memory: then numbers begin
    again, while a member that has lived through it still writes.
    """

    number: int
    token: str

    def __str__(self) -> str:
        return f"{self.number:06}-{self.token}"

    @classmethod
    def parse(cls, text: str) -> ShardName | None:
        """The name that ``str`` made ``text`` of, None when it made no such text."""
        match = _NAME.fullmatch(text)
        return None if match is None else cls(int(match[1]), match[2])


class ShardState(NamedTuple):
    """How many bytes a shard has, and how many seconds ago its member was there."""

    size: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a shard."""

    name: ShardName
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for bytes that could not be read, though the backend is there."""

    why: str


class Backend(Protocol):
    """Holds shards. Every method may raise ``UnreachableError``. Owned by one thread."""

    def claim(self, token: str, preferred: int | None) -> int:
        """A number that no other token has: ``preferred`` if it is free or this token's own."""

    def survey(self) -> dict[ShardName, ShardState]:
        """All shards."""

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        """The bytes of each span, fewer where there are fewer."""

    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        """Write to a shard, and say that its member is there. Kept when it returns.

        Nobody else writes to this shard. Writing the same again changes nothing.
        """

    def lease(self, key: str, token: str, seconds: float) -> bool:
        """Whether ``token`` has the lease ``key`` for the next ``seconds``: taken, renewed, or refused."""

    def close(self) -> None:
        """Let go of what is held open. Does not raise."""

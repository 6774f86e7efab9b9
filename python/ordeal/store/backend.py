"""Where shards and records are kept: what a folder and a Redis server must do for a store, and no more."""

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

#: The name of a namespace, and that of a member.
DIGEST = re.compile(r"[0-9a-f]{32}", re.ASCII)
TOKEN = re.compile(r"[0-9a-f]{16}", re.ASCII)
#: The size limit of a record, in bytes, and how many are read of a group, and how many groups are listed.
RECORD_SIZE_MAX = 64 * 2**10
RECORDS_MAX = 100_001


_births = itertools.count()


def new_token() -> str:
    """Return sixteen unique hex digits, made from place and time, because nothing is random here."""
    birth = f"{socket.gethostname()} {os.getpid()} {time.time_ns()} {next(_births)}"
    return hashlib.blake2b(birth.encode(), digest_size=8).hexdigest()


class UnreachableError(Exception):
    """The backend cannot be used now; the message says why."""


class ShardState(NamedTuple):
    """The size of a shard in bytes, and how many seconds ago its member was active."""

    size: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the shard of the member with this token."""

    token: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for bytes that could not be read although the backend is available."""

    why: str


class Backend(Protocol):
    """Holds shards by the tokens of their members. Every method may raise ``UnreachableError``. Owned by one thread."""

    def survey(self) -> dict[str, ShardState]:
        """Return all shards."""

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        """Return the bytes of each span, fewer if there are fewer."""

    def write(self, token: str, offset: int, data: bytes) -> None:
        """Write to a shard, and mark its member as active. Durable when it returns.

        Only this member writes to this shard. Writing the same again changes nothing.
        """

    def close(self) -> None:
        """Release all resources. Does not raise."""


class Records(Protocol):
    """Holds small records in groups, for all of a store. Every method may raise ``UnreachableError``."""

    def begin(self, group: str) -> None:
        """Make a group of records: none can be written where the group is missing, as the store may be away."""

    def groups(self) -> list[str]:
        """Return the names of groups, on a server those that began last."""

    def put(self, group: str, key: str, data: bytes) -> None:
        """Write a record over what was there."""

    def get(self, group: str, key: str) -> bytes | None:
        """Return a record, None if there is none."""

    def all(self, group: str) -> dict[str, bytes]:
        """Return the records of a group by key."""

    def drop(self, group: str, key: str) -> None:
        """Delete a record, which a store without room can still do."""

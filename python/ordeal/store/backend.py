"""Where shards are kept: what a folder and a Redis server must do for a store, and no more."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import socket
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, override

#: The maximum number of members of a namespace, over its lifetime.
MEMBERS_MAX = 100_000
#: How many bases are looked at, the newest first. There are rarely more than three.
BASES_MAX = 64
#: The longest lease.
LEASE_SECONDS_MAX = 24 * 3600.0
#: The name of a namespace.
DIGEST = re.compile(r"[0-9a-f]{32}", re.ASCII)
#: The size limit of a record, in bytes, and how many are read of a group, and how many groups are listed.
RECORD_SIZE_MAX = 64 * 2**10
RECORDS_MAX = 100_001
GROUPS_MAX = 200
#: Hex digits of a token.
TOKEN_CHARS = 16
_NAME = re.compile(rf"(\d{{6}})-([0-9a-f]{{{TOKEN_CHARS}}})", re.ASCII)


_births = itertools.count()


def new_name() -> str:
    """Return sixteen unique hex digits, made from place and time, because nothing is random here."""
    birth = f"{socket.gethostname()} {os.getpid()} {time.time_ns()} {next(_births)}"
    return hashlib.blake2b(birth.encode(), digest_size=8).hexdigest()


class UnreachableError(Exception):
    """The backend cannot be used now; the message says why."""


class ReadOnlyStoreError(UnreachableError):
    """The backend can be read but not written: it is full, or this user may not write."""


class ShardName(NamedTuple):
    """The number of the member that writes a shard, and a unique token.

    The number alone would do if no folder were ever emptied and no server ever lost its memory: then numbers begin
    again, while an older member still writes.
    """

    number: int
    token: str

    def __str__(self) -> str:
        return f"{self.number:06}-{self.token}"

    @classmethod
    def parse(cls, text: str) -> ShardName | None:
        """Parse what ``str`` returned; None for any other text."""
        match = _NAME.fullmatch(text)
        return None if match is None else cls(int(match[1]), match[2])


class ShardState(NamedTuple):
    """The size of a shard in bytes, and how many seconds ago its member was active."""

    size: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a shard, or of a base."""

    name: ShardName
    offset: int
    size: int
    is_base: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for bytes that could not be read although the backend is available."""

    why: str


class Backend(Protocol):
    """Holds shards. Every method may raise ``UnreachableError``. Owned by one thread."""

    def claim(self, token: str, preferred: int | None) -> int:
        """Return a number that no other token has: ``preferred`` if it is free or this token's own."""

    def survey(self) -> dict[ShardName, ShardState]:
        """Return all shards."""

    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        """Return the bytes of each span, fewer if there are fewer."""

    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        """Write to a shard, and mark its member as active. Durable when it returns.

        Only this member writes to this shard. Writing the same again changes nothing.
        """

    def bases(self) -> Mapping[ShardName, int]:
        """Return the sizes of the newest bases, each of which is complete, as of the last survey or later."""

    def write_base(self, name: ShardName, parts: Iterable[bytes]) -> None:
        """Write a new base, which nobody sees before all of it is durable. ``parts`` are a few MiB each."""

    def remove(self, shards: Collection[ShardName], bases: Collection[ShardName]) -> None:
        """Delete shards and bases whose content newer bases have. Who reads one at the moment finds fewer bytes."""

    def lease(self, key: str, token: str, seconds: float) -> bool:
        """Take or renew the lease ``key`` for ``token`` and the next ``seconds``; return whether it has it.

        One that it has is over at once with 0 seconds.
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


class CountingBackend(Backend):
    """Gives each member the next number, unless another one was faster."""

    @override
    def claim(self, token: str, preferred: int | None) -> int:
        number = self.next_number() if preferred is None else preferred
        while 0 <= number < MEMBERS_MAX:
            if self.takes(number, token):
                return number
            # A listing may be outdated, so the next number need not be higher.
            number = max(number + 1, self.next_number())
        raise UnreachableError(f"{MEMBERS_MAX} members have joined it, which is the most; begin another one")

    @abstractmethod
    def next_number(self) -> int:
        """Return a number that is probably free, to be claimed."""

    @abstractmethod
    def takes(self, number: int, token: str) -> bool:
        """Give a number to ``token``, and return True if it has it now."""

"""A Redis server that members share: shards are strings, read and written by byte ranges, so never beyond a limit.

``heads`` is one string of fixed slots, by number: the token, the size of the shard and when its member was active. So
one short command tells a member what has grown. ``bases`` is a sorted set of what was compacted, by age. Every
Redis-compatible server knows the few commands used here.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar, override

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ordeal._base.formatting import one_line
from ordeal.errors import StoreError
from ordeal.store.backend import (
    BASES_MAX,
    DIGEST,
    GROUPS_MAX,
    MEMBERS_MAX,
    RECORDS_MAX,
    TOKEN_CHARS,
    CountingBackend,
    ReadOnlyStoreError,
    Records,
    ShardName,
    ShardState,
    Span,
    UnreachableError,
    Unreadable,
    new_name,
)

#: The time limit of a command, and of connecting.
TIMEOUT_SECONDS = 5.0
_SLOT = struct.Struct("<8sQQ")
_FREE = bytes(8)
#: How much of a base is written by one command, which others wait for, in bytes.
_PART_SIZE = 2**20
#: An unfinished base vanishes when nobody has written to it for this long.
_UNFINISHED_SECONDS = 600
#: The namespaces of a server, by when a member last joined them.
_NAMESPACES = "ordeal:namespaces"
#: The groups of records of a server, by when they began, and how long a server keeps a group that is not written.
_GROUPS = "ordeal:fleets"
_KEPT_SECONDS = 14 * 24 * 3600
#: A base whose size has more digits is none.
_SIZE_DIGITS_MAX = 12
#: Errors of a full server, or of a read-only copy.
_UNWRITABLE = (redis.ReadOnlyError, redis.OutOfMemoryError)

_T = TypeVar("_T")


class RedisBackend(CountingBackend, Records):
    """The keys of one namespace. Owned by one thread, in the process that made it."""

    def __init__(self, client: redis.Redis, prefix: str, *, place: str) -> None:
        """``place`` names the server in errors."""
        # The library types its commands for blocking and asynchronous clients alike.
        self._client: Any = client
        self._prefix = prefix
        self._place = place
        self._bases: dict[ShardName, int] = {}

    @classmethod
    def connect(
        cls, host: str, port: int, database: int, *, username: str | None, password: str | None, prefix: str
    ) -> RedisBackend:
        """Connect to a server.

        Raises:
            StoreError: it cannot be reached, or refuses this user.
        """
        place = f"redis://{host}:{port}/{database}"
        client = redis.Redis(
            host=host,
            port=port,
            db=database,
            username=username,
            password=password,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        backend = cls(client, prefix, place=place)
        try:
            with backend._reached():
                client.ping()
                # An idle connection that died when the server restarted fails at its next command. All commands but one
                # can be repeated, and that one then skips a number. A server that hangs at first is not asked twice.
                client.set_retry(Retry(NoBackoff(), 1))
        except UnreachableError as error:
            backend.close()
            if why := _refusal(error.__cause__, has_password=password is not None):
                hint = "write `redis://:PASSWORD@HOST:6379/0`, with a user before the colon if there is one; in the "
                hint += "environment variable ORDEAL_STORE nobody else sees it"
                raise StoreError(f"the store {place} {why}", hint=hint) from error
            raise StoreError(
                f"the store cannot be used: {error}",
                hint="start the server (`redis-server`), or name the host, port and database of another, as in "
                "`--store redis://HOST:6379/0`",
            ) from error
        return backend

    def identity(self) -> str:
        """Return a text that identifies this namespace of this store."""
        token = b""
        # A server that is away now has none.
        with contextlib.suppress(UnreachableError), self._reached():
            key = self._key("identity")
            self._client.set(key, new_name(), nx=True)
            token = self._expected(self._client.getrange(key, 0, TOKEN_CHARS - 1), bytes)
        return f"{self._place} {self._prefix} {token.decode('ascii', 'replace')}"

    def namespaces(self, number: int) -> list[str]:
        """Return the digests of at most ``number`` namespaces of the store, the one that was joined last first."""
        with self._reached():
            found = self._expected(self._client.zrevrange(_NAMESPACES, 0, number - 1), list)
        names = [each.decode("ascii", "replace") for each in found if isinstance(each, bytes)]
        return [name for name in names if DIGEST.fullmatch(name)]

    @override
    def next_number(self) -> int:
        with self._reached():
            return self._expected(self._client.incr(self._key("members")), int) - 1

    @override
    def takes(self, number: int, token: str) -> bool:
        key = self._key(f"member:{number}")
        with self._reached():
            is_new = self._client.set(key, token, nx=True)
            if not is_new and self._client.getrange(key, 0, TOKEN_CHARS) != token.encode():
                return False
            self._client.zadd(_NAMESPACES, {self._prefix.rpartition(":")[2]: time.time()})
            return True

    @override
    def survey(self) -> dict[ShardName, ShardState]:
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.getrange(self._key("heads"), 0, MEMBERS_MAX * _SLOT.size - 1)
            # In this order: a shard that is gone is in a base that is there.
            pipeline.zrevrange(self._key("bases"), 0, BASES_MAX - 1)
            answer, bases = pipeline.execute()
        self._bases = dict(filter(None, map(_base_of, self._expected(bases, list))))
        heads = self._expected(answer, bytes)
        whole = min(len(heads) // _SLOT.size, MEMBERS_MAX) * _SLOT.size
        now = time.time()
        return {
            ShardName(number, token.hex()): ShardState(size, now - seen_ms / 1000)
            for number, (token, size, seen_ms) in enumerate(_SLOT.iter_unpack(heads[:whole]))
            if token != _FREE
        }

    @override
    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        if not spans:
            return []
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            for span in spans:
                key = self._base(span.name) if span.is_base else self._shard(span.name)
                pipeline.getrange(key, span.offset, span.offset + span.size - 1)
            answers = pipeline.execute(raise_on_error=False)
        return [
            answer[: span.size] if isinstance(answer, bytes) else Unreadable(_said(answer))
            for span, answer in zip(spans, answers, strict=True)
        ]

    @override
    def write(self, name: ShardName, offset: int, data: bytes) -> None:
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            # In this order: if the server fails in between, the rest is written again and nobody has read beyond it.
            if data:
                pipeline.setrange(self._shard(name), offset, data)
            slot = _SLOT.pack(bytes.fromhex(name.token), offset + len(data), int(time.time() * 1000))
            pipeline.setrange(self._key("heads"), name.number * _SLOT.size, slot)
            *written, _ = pipeline.execute()
        if written and self._expected(written[0], int) < offset + len(data):
            raise UnreachableError(f"{self._place}: did not take what was written")

    @override
    def bases(self) -> dict[ShardName, int]:
        return self._bases

    @override
    def write_base(self, name: ShardName, parts: Iterable[bytes]) -> None:
        key, size = self._base(name), 0
        with self._reached():
            for part in parts:
                for begin in range(0, len(part), _PART_SIZE):
                    piece = part[begin : begin + _PART_SIZE]
                    pipeline = self._client.pipeline()
                    pipeline.setrange(key, size, piece)
                    # What a killed member leaves unfinished vanishes by itself.
                    pipeline.expire(key, _UNFINISHED_SECONDS)
                    written, _ = pipeline.execute()
                    size += len(piece)
                    if self._expected(written, int) != size:
                        raise UnreachableError(f"{self._place}: did not take what was written")
            pipeline = self._client.pipeline()
            pipeline.persist(key)
            pipeline.zadd(self._key("bases"), {f"{name} {size}": name.number})
            pipeline.execute()

    @override
    def remove(self, shards: Collection[ShardName], bases: Collection[ShardName]) -> None:
        with self._reached():
            sizes = self.bases()
            pipeline = self._client.pipeline(transaction=False)
            for shard in shards:
                # The slot comes first: while it is empty, a member that lives nevertheless publishes all of it again.
                pipeline.setrange(self._key("heads"), shard.number * _SLOT.size, bytes(_SLOT.size))
                pipeline.unlink(self._shard(shard))
            for base in bases:
                pipeline.zrem(self._key("bases"), f"{base} {sizes.get(base, 0)}")
                pipeline.unlink(self._base(base))
            pipeline.execute()

    @override
    def lease(self, key: str, token: str, seconds: float) -> bool:
        """See ``Backend``. By the clock of the server."""
        name = self._key(f"lease:{key}")
        milliseconds = max(1, int(seconds * 1000))  # the server knows no shorter ones
        with self._reached():
            if self._client.set(name, token, nx=True, px=milliseconds):
                return True
            with self._client.pipeline() as pipeline:
                pipeline.watch(name)
                if pipeline.getrange(name, 0, TOKEN_CHARS) != token.encode():
                    return False
                pipeline.multi()
                if seconds > 0:
                    pipeline.set(name, token, px=milliseconds)
                else:
                    pipeline.delete(name)
                try:
                    pipeline.execute()
                except redis.WatchError:
                    return False
            return True

    @override
    def begin(self, group: str) -> None:
        with self._reached():
            self._client.zadd(_GROUPS, {group: time.time()})

    @override
    def groups(self) -> list[str]:
        with self._reached():
            names = self._expected(self._client.zrevrange(_GROUPS, 0, GROUPS_MAX - 1), list)
        return [each.decode("ascii", "replace") for each in names]

    @override
    def put(self, group: str, key: str, data: bytes) -> None:
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.hset(_group(group), key, data)
            # A server that has lost its memory has lost this, too.
            pipeline.zadd(_GROUPS, {group: time.time()}, nx=True)
            pipeline.expire(_group(group), _KEPT_SECONDS)
            # Raised by the library itself, an error would repeat the whole command.
            for answer in pipeline.execute(raise_on_error=False):
                if isinstance(answer, Exception):
                    raise answer

    @override
    def get(self, group: str, key: str) -> bytes | None:
        with self._reached():
            data = self._client.hget(_group(group), key)
        return data if isinstance(data, bytes) else None

    @override
    def all(self, group: str) -> dict[str, bytes]:
        with self._reached():
            found = self._expected(self._client.hgetall(_group(group)), dict)
        return {key.decode("ascii", "replace"): data for key, data in list(found.items())[:RECORDS_MAX]}

    @override
    def drop(self, group: str, key: str) -> None:
        with self._reached():
            self._client.hdel(_group(group), key)

    @override
    def close(self) -> None:
        with contextlib.suppress(redis.RedisError, OSError):
            self._client.close()

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{name}"

    def _shard(self, name: ShardName) -> str:
        return self._key(f"shard:{name}")

    def _base(self, name: ShardName) -> str:
        return self._key(f"base:{name}")

    def _expected(self, answer: object, kind: type[_T]) -> _T:
        if not isinstance(answer, kind):
            raise UnreachableError(f"{self._place}: answers {type(answer).__name__} where {kind.__name__} is due")
        return answer

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Raise ``UnreachableError`` for what commands of the client raise in the block."""
        try:
            yield
        except _UNWRITABLE as error:
            raise ReadOnlyStoreError(f"{self._place}: {_said(error)}") from error
        except (redis.RedisError, OSError) as error:
            raise UnreachableError(f"{self._place}: {_said(error)}") from error
        except (ValueError, TypeError, RecursionError) as error:
            # The library says so when an answer violates the protocol. Then nothing more on that connection can be
            # trusted.
            self._client.connection_pool.disconnect()
            raise UnreachableError(f"{self._place}: answers as no Redis server does: {_said(error)}") from error


def _group(name: str) -> str:
    return f"ordeal:fleet:{name}"


def _refusal(error: BaseException | None, *, has_password: bool) -> str:
    """Return how a server refused this user, empty if it did not. One without a password is told so in many words."""
    if isinstance(error, redis.AuthenticationError):
        return "refuses the password" if has_password else "asks for a password"
    return "asks for a password" if str(error).startswith(("NOAUTH", "HELLO must be called")) else ""


def _base_of(member: object) -> tuple[ShardName, int] | None:
    """Return the name and the size of a base as the server lists it, None for any other text."""
    text, _, size = member.decode("ascii", "replace").partition(" ") if isinstance(member, bytes) else ("", "", "")
    name = ShardName.parse(text)
    return (name, int(size)) if name is not None and size.isdecimal() and len(size) <= _SIZE_DIGITS_MAX else None


def _said(answer: object) -> str:
    """Return what a server or the connection to it said, safe to print."""
    return one_line(str(answer) or type(answer).__name__, limit=200)

"""A Redis server that members share: shards are strings, read and written by byte ranges, so never beyond a limit.

``heads`` is a hash: for each member, by its token, the size of its shard and when it was active. So one short command
shows a member what has grown. Every Redis-compatible server knows the few commands used here.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, override

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from ordeal._base.formatting import one_line
from ordeal._base.limits import ANSWER_SECONDS, ROWS_MAX
from ordeal.errors import StoreError
from ordeal.store.backend import (
    DIGEST,
    RECORDS_MAX,
    TOKEN,
    Backend,
    Records,
    ShardState,
    Span,
    UnreachableError,
    Unreadable,
)

#: The value of a head: the size, and the time in milliseconds.
_HEAD = struct.Struct("<QQ")
#: The namespaces of a server, by when a member last joined them.
_NAMESPACES = "ordeal:namespaces"
#: The groups of records of a server, by when they began, and how long a server keeps a group that is not written.
_GROUPS = "ordeal:fleets"
_T = TypeVar("_T")


class RedisBackend(Backend, Records):
    """The keys of one namespace. Owned by one thread, in the process that made it."""

    def __init__(self, client: redis.Redis, prefix: str, *, place: str) -> None:
        """``place`` names the server in errors."""
        # The library types its commands for both blocking and asynchronous clients.
        self._client: Any = client
        self._prefix = prefix
        self._place = place

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
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
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
            cause, why = error.__cause__, ""
            if isinstance(cause, redis.AuthenticationError):
                why = "refuses the password" if password is not None else "asks for a password"
            elif str(cause).startswith(("NOAUTH", "HELLO must be called")):  # a missing password has several wordings
                why = "asks for a password"
            if why:
                hint = "write `redis://:PASSWORD@HOST:6379/0`, with a user before the colon if there is one; in the "
                hint += "environment variable ORDEAL_STORE nobody else sees it"
                raise StoreError(f"the store {place} {why}", hint=hint) from error
            raise StoreError(
                f"the store cannot be used: {error}",
                hint="start the server (`redis-server`), or name the host, port and database of another, as in "
                "`--store redis://HOST:6379/0`",
            ) from error
        return backend

    def namespaces(self, number: int) -> list[str]:
        """Return the digests of at most ``number`` namespaces of the store, the one that was joined last first."""
        with self._reached():
            found = self._expected(self._client.zrevrange(_NAMESPACES, 0, number - 1), list)
        names = [each.decode("ascii", "replace") for each in found if isinstance(each, bytes)]
        return [name for name in names if DIGEST.fullmatch(name)]

    @override
    def survey(self) -> dict[str, ShardState]:
        with self._reached():
            heads = self._fields(self._key("heads"))
        now, states = time.time(), {}
        for token, value in heads.items():
            if TOKEN.fullmatch(token) and len(value) == _HEAD.size:
                size, seen_ms = _HEAD.unpack(value)
                states[token] = ShardState(size, now - seen_ms / 1000)
        return states

    @override
    def read(self, spans: Sequence[Span]) -> list[bytes | Unreadable]:
        if not spans:
            return []
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            for span in spans:
                pipeline.getrange(self._shard(span.token), span.offset, span.offset + span.size - 1)
            answers = pipeline.execute(raise_on_error=False)
        return [
            answer[: span.size] if isinstance(answer, bytes) else Unreadable(_said(answer))
            for span, answer in zip(spans, answers, strict=True)
        ]

    @override
    def write(self, token: str, offset: int, data: bytes) -> None:
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            # In this order: if the server fails in between, the rest is written again and no member has read beyond it.
            if data:
                pipeline.setrange(self._shard(token), offset, data)
            pipeline.hset(self._key("heads"), token, _HEAD.pack(offset + len(data), int(time.time() * 1000)))
            if not offset:
                pipeline.zadd(_NAMESPACES, {self._prefix.rpartition(":")[2]: time.time()})
            written = _executed(pipeline)[0]
        if data and self._expected(written, int) < offset + len(data):
            raise UnreachableError(f"{self._place}: did not store what was written")

    @override
    def begin(self, group: str) -> None:
        with self._reached():
            self._client.zadd(_GROUPS, {group: time.time()})

    @override
    def groups(self) -> list[str]:
        with self._reached():
            names = self._expected(self._client.zrevrange(_GROUPS, 0, ROWS_MAX - 1), list)
        return [each.decode("ascii", "replace") for each in names]

    @override
    def put(self, group: str, key: str, data: bytes) -> None:
        with self._reached():
            pipeline = self._client.pipeline(transaction=False)
            pipeline.hset(_group(group), key, data)
            # A server that has lost its memory has lost this, too.
            pipeline.zadd(_GROUPS, {group: time.time()}, nx=True)
            pipeline.expire(_group(group), 14 * 24 * 3600)
            _executed(pipeline)

    @override
    def get(self, group: str, key: str) -> bytes | None:
        with self._reached():
            data = self._client.hget(_group(group), key)
        return data if isinstance(data, bytes) else None

    @override
    def all(self, group: str) -> dict[str, bytes]:
        with self._reached():
            return dict(list(self._fields(_group(group)).items())[:RECORDS_MAX])

    @override
    def drop(self, group: str, key: str) -> None:
        with self._reached():
            self._client.hdel(_group(group), key)

    @override
    def close(self) -> None:
        with contextlib.suppress(redis.RedisError, OSError):
            self._client.close()

    def _fields(self, key: str) -> dict[str, bytes]:
        """Return the fields of a hash."""
        found = self._expected(self._client.hgetall(key), dict).items()
        return {
            name.decode("ascii", "replace"): value
            for name, value in found
            if isinstance(name, bytes) and isinstance(value, bytes)
        }

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{name}"

    def _shard(self, token: str) -> str:
        return self._key(f"shard:{token}")

    def _expected(self, answer: object, kind: type[_T]) -> _T:
        if not isinstance(answer, kind):
            raise UnreachableError(f"{self._place}: answers {type(answer).__name__} where {kind.__name__} is due")
        return answer

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Raise ``UnreachableError`` for what commands of the client raise in the block."""
        try:
            yield
        except (redis.RedisError, OSError) as error:
            raise UnreachableError(f"{self._place}: {_said(error)}") from error
        except (ValueError, TypeError, RecursionError) as error:
            # The library says so when an answer violates the protocol. Then nothing more on that connection can be
            # trusted.
            self._client.connection_pool.disconnect()
            raise UnreachableError(f"{self._place}: does not answer like a Redis server: {_said(error)}") from error


def _executed(pipeline: Any) -> list[Any]:
    """Execute commands and return the answers. Raised by the library itself, an error would repeat a whole command."""
    answers: list[Any] = pipeline.execute(raise_on_error=False)
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def _group(name: str) -> str:
    return f"ordeal:fleet:{name}"


def _said(answer: object) -> str:
    """Return what a server or the connection to it said, safe to print."""
    return one_line(str(answer) or type(answer).__name__, limit=200)

"""Opens a store from its address: ``dir://PATH`` or ``redis://HOST[:PORT]/DB``."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from ordeal._base.formatting import one_line
from ordeal._base.limits import ITEMS_MAX
from ordeal.errors import StoreError
from ordeal.store.backend import Records, UnreachableError
from ordeal.store.directory_backend import DirectoryBackend
from ordeal.store.store import Store

if TYPE_CHECKING:
    from ordeal.store.redis_backend import RedisBackend

_ADDRESSES = "write `dir://PATH` for a folder, or `redis://HOST:PORT/DB` for a Redis server"
#: Words that may be meant as the scheme of a store. Any other word may be part of a password.
_SCHEMES = {"file", "ftp", "gs", "http", "https", "redis", "rediss", "s3", "unix", "valkey"}
_PLAIN_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?(/[0-9]{0,4})?", re.ASCII)


class Address(str):
    """An address whose text hides a password, in case it is logged."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(shown_address(self))


def open_store(url: str, namespace: str) -> Store:
    """Open the store at ``url``, for members of ``namespace``: any text, such as ``namespace_of`` returns.

    Example::

        store = open_store("dir://shared", "myapp 1.2")
        store.sync(Outgoing(failures=(FailureReport("KeyError in myapp:pay", trace, steps=12, count=3),)))
        (report,) = store.failures()

    Raises:
        StoreError: the address is wrong, or no store there can be written.
    """
    digest = hashlib.blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Store(_opened(url, digest))


def open_records(url: str) -> Records:
    """Open the store at ``url`` for its records alone. A folder is not made.

    Raises:
        StoreError: the address is wrong, or the store cannot be reached.
    """
    return _opened(url, "records", makes=False)


def _opened(url: str, digest: str, *, makes: bool = True) -> DirectoryBackend | RedisBackend:
    """Return the backend of a namespace, made if it is a missing folder and ``makes`` is true."""
    scheme, separator, rest = url.partition("://")
    if scheme == "dir" and separator:
        if not rest:
            hint = "write for example `dir:///mnt/shared/ordeal`"
            raise StoreError(f"the store {shown_address(url)} names no folder", hint=hint)
        if "\0" in rest:
            raise StoreError(f"the store {shown_address(url)} has a NUL character in its path", hint=_ADDRESSES)
        return DirectoryBackend(Path(rest).expanduser() / digest, makes=makes)
    if scheme == "redis" and separator:
        return _redis(url, digest)
    raise StoreError(f"the store {shown_address(url)} has an unknown kind of address", hint=_ADDRESSES)


def open_readers(url: str) -> Iterator[Store]:
    """Open each namespace of the store at ``url`` for reading, the one that was used last first. Nothing is written.

    Raises:
        StoreError: the address is wrong, or the store cannot be reached.
    """
    backend = _opened(url, "readers", makes=False)
    try:
        names = backend.namespaces(ITEMS_MAX)
    except UnreachableError as error:
        hint = "check that this computer can reach it, and that this user may read it"
        raise StoreError(f"the store cannot be read: {error}", hint=hint) from error
    finally:
        backend.close()
    for name in names:
        yield Store(_opened(url, name, makes=False))


def _redis(url: str, digest: str) -> RedisBackend:
    try:
        parts = urlsplit(url)
        # Read here, because it is only checked when read.
        port = parts.port
    except ValueError:
        raise StoreError(f"the store {shown_address(url)} has no valid host and port", hint=_ADDRESSES) from None
    if not parts.hostname or port == 0:
        raise StoreError(
            f"the store {shown_address(url)} names no server", hint="write for example `redis://localhost:6379/0`"
        )
    if parts.query or parts.fragment:
        raise StoreError(f"the store {shown_address(url)} has unknown parts after its database", hint=_ADDRESSES)
    database = parts.path.removeprefix("/") or "0"
    if not re.fullmatch(r"[0-9]{1,4}", database):
        raise StoreError(
            f"the store {shown_address(url)} names a database that is not a number",
            hint="write a number from 0 on, as in `redis://localhost:6379/0`",
        )
    try:
        # A separate library, needed only by its users.
        connect = importlib.import_module("ordeal.store.redis_backend").RedisBackend.connect
    except ImportError as error:
        raise StoreError(
            f"the store {shown_address(url)} needs the Python package `redis`: {error}",
            hint="install it with `pip install redis`, or share a folder with `dir://PATH`",
        ) from error
    return cast("Callable[..., RedisBackend]", connect)(
        parts.hostname,
        port or 6379,
        int(database),
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        prefix=f"ordeal:{digest}",
    )


def shown_address(url: str) -> str:
    """Return an address in printable form, without any part of a password, wherever it is.

    In an address that cannot be parsed, the password may be anywhere, so only the scheme is shown, and the host if it
    is certain.
    """
    scheme, separator, rest = url.partition("://")
    if scheme == "dir" and separator:
        return one_line(url, limit=200)
    known = scheme if scheme in _SCHEMES and separator else ""
    credentials, _, host = rest.rpartition("@")
    is_plain = _PLAIN_HOST.fullmatch(host) is not None and credentials.count("@") == 0 and "/" not in credentials
    if not known or not is_plain:
        return f"{known}://..." if known else "that was given"
    return f"{known}://{host}"

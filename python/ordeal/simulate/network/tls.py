"""TLS inside of a run: asyncio's own protocol over simulated connections, and none to services that are declared."""

from __future__ import annotations

import asyncio
import ssl
import ssl as ssl_module
from asyncio import sslproto
from collections.abc import Callable
from typing import Any

#: What ``create_connection`` and ``create_server`` take besides the context.
_LIMITS = ("ssl_handshake_timeout", "ssl_shutdown_timeout")


def checked_context(ssl: Any, server_hostname: str | None, host: str | None) -> str | None:
    """Return the name that a server has to prove, as asyncio takes it from the arguments of ``create_connection``.

    Raises:
        ValueError: the arguments do not go together.
    """
    if server_hostname is not None and not ssl:
        raise ValueError("server_hostname is only meaningful with ssl")
    if ssl and server_hostname is None:
        if not host:
            raise ValueError("You must set server_hostname when using ssl without a host")
        return host
    return server_hostname


def tls_protocol(
    loop: Any,
    protocol: asyncio.BaseProtocol,
    ssl: Any,
    waiter: asyncio.Future[None] | None,
    *,
    is_server: bool,
    server_hostname: str | None = None,
    **options: Any,
) -> Any:
    """Return what stands between a connection and a protocol. ``waiter`` is done after the handshake.

    Raises:
        TypeError: ``ssl`` is not a context.
    """
    if ssl is not True and not isinstance(ssl, ssl_module.SSLContext):
        raise TypeError(f"an SSLContext instance or True was expected for ssl, got {ssl!r:.100}")
    limits = {name: options[name] for name in _LIMITS if options.get(name) is not None}
    protocol_type: Any = sslproto.SSLProtocol  # whose types do not allow what it takes
    return protocol_type(
        loop,
        protocol,
        None if ssl is True else ssl,
        waiter,
        is_server,
        server_hostname,
        call_connection_made=options.get("call_connection_made", True),
        **limits,
    )


_REAL_WRAP_BIO = ssl.SSLContext.wrap_bio


def _returning(value: Any) -> Callable[..., Any]:
    return lambda *_arguments, **_named: value


class OpenTls:
    """What stands for an ``ssl.SSLObject`` whose handshake has succeeded, and which hides nothing."""

    server_side = session_reused = False
    session = None
    # The handshake has succeeded, no end is announced, and nothing is decrypted ahead.
    do_handshake = unwrap = _returning(None)
    pending = _returning(0)
    # What it would be with a service that speaks TLS.
    version = _returning("TLSv1.3")
    cipher = _returning(("TLS_AES_256_GCM_SHA384", "TLSv1.3", 256))
    selected_alpn_protocol = _returning("http/1.1")
    selected_npn_protocol = shared_ciphers = compression = get_channel_binding = _returning(None)

    def __init__(self, context: ssl.SSLContext, incoming: Any, outgoing: Any, server_hostname: str) -> None:
        self.context = context
        self.server_hostname = server_hostname
        self._incoming = incoming
        self._outgoing = outgoing

    def read(self, size: int = 1024, buffer: Any = None) -> Any:
        """Return what has arrived, or put it into ``buffer`` and return how much it is; nothing at the end."""
        if not self._incoming.pending and not self._incoming.eof:
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "The operation did not complete (read)")
        if buffer is None:
            return self._incoming.read(size)
        data = self._incoming.read(min(size, len(buffer)) if size else len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        """Send bytes."""
        return self._outgoing.write(data)  # type: ignore[no-any-return]

    def getpeercert(self, binary_form: bool = False) -> Any:
        """Return no certificate."""
        return None if binary_form else {}


def wrapping_open(is_declared: Callable[[str], bool]) -> Callable[..., Any]:
    """Return what stands for ``SSLContext.wrap_bio``: TLS to hosts with ``is_declared(name)`` hides nothing."""

    def wrap_bio(
        self: ssl.SSLContext,
        incoming: Any,
        outgoing: Any,
        server_side: bool = False,
        server_hostname: Any = None,
        session: Any = None,
    ) -> Any:
        name = server_hostname.decode() if isinstance(server_hostname, bytes) else server_hostname
        if not server_side and isinstance(name, str) and is_declared(name):
            return OpenTls(self, incoming, outgoing, name)
        return _REAL_WRAP_BIO(self, incoming, outgoing, server_side, server_hostname, session)

    return wrap_bio

"""TLS inside of a run: asyncio's own protocol over simulated connections, whose bytes are late and cut as ever."""

from __future__ import annotations

import asyncio
import ssl as ssl_module
from asyncio import sslproto
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
        TypeError: ``ssl`` is no context.
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

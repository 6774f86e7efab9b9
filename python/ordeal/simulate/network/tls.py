"""TLS inside of a run, which hides nothing: bytes pass as they are, and every handshake succeeds at once.

Real TLS draws its keys from the system, so that the number of bytes on the wire would differ from run to run.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

_REAL_WRAP_BIO = ssl.SSLContext.wrap_bio
# What ``get_extra_info`` reports: as with a service that speaks TLS.
_VERSION, _CIPHER = "TLSv1.3", ("TLS_AES_256_GCM_SHA384", "TLSv1.3", 256)


def security_of(context: Any, server_hostname: str | None, *, server_side: bool) -> dict[str, Any]:
    """Return what a transport says of its TLS, for ``get_extra_info``; nothing without a context.

    Raises:
        TypeError: ``context`` is neither a context nor True.
    """
    if not context:
        return {}
    if context is not True and not isinstance(context, ssl.SSLContext):
        raise TypeError(f"an SSLContext instance or True was expected for ssl, got {context!r:.100}")
    shown = None if context is True else context
    tls = OpenTls(shown, None, None, server_side=server_side, server_hostname=server_hostname)
    return {"sslcontext": shown, "ssl_object": tls, "peercert": {}, "cipher": _CIPHER, "compression": None}


def checked_name(context: Any, server_hostname: str | None, host: str | None) -> str | None:
    """Return the name of a server, as asyncio takes it from the arguments of ``create_connection``.

    Raises:
        ValueError: the arguments do not go together.
    """
    if server_hostname is not None and not context:
        raise ValueError("server_hostname is only meaningful with ssl")
    if context and server_hostname is None and not host:
        raise ValueError("You must set server_hostname when using ssl without a host")
    return server_hostname if server_hostname is not None else host


def _returning(value: Any) -> Callable[..., Any]:
    return lambda *_arguments, **_named: value


class OpenTls:
    """What stands for an ``ssl.SSLObject`` whose handshake has succeeded, and which hides nothing."""

    session_reused = False
    session = None
    # The handshake has succeeded, no end is announced, and nothing is decrypted ahead.
    do_handshake = unwrap = _returning(None)
    pending = _returning(0)
    version, cipher = _returning(_VERSION), _returning(_CIPHER)
    selected_alpn_protocol = _returning("http/1.1")
    selected_npn_protocol = shared_ciphers = compression = get_channel_binding = _returning(None)

    def __init__(
        self, context: Any, incoming: Any, outgoing: Any, *, server_side: bool, server_hostname: str | None
    ) -> None:
        self.context = context
        self.server_side = server_side
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


def wrapping_open(is_in_run: Callable[[], bool]) -> Callable[..., Any]:
    """Return what stands for ``SSLContext.wrap_bio``: in a run, an ``OpenTls``."""

    def wrap_bio(
        self: ssl.SSLContext,
        incoming: Any,
        outgoing: Any,
        server_side: bool = False,
        server_hostname: Any = None,
        session: Any = None,
    ) -> Any:
        if not is_in_run():
            return _REAL_WRAP_BIO(self, incoming, outgoing, server_side, server_hostname, session)
        name = server_hostname.decode() if isinstance(server_hostname, bytes) else server_hostname
        return OpenTls(self, incoming, outgoing, server_side=server_side, server_hostname=name)

    return wrap_bio

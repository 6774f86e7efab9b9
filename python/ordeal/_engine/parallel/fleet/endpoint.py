"""Tells within seconds whether something listens at an address, before a library waits for it for minutes."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal.errors import ConfigError

CONNECT_SECONDS = 5.0


def host_and_port(address: str, default: int) -> tuple[str, int]:
    """Return host and port of ``scheme://HOST:PORT``.

    Raises:
        ConfigError: there is no host in it, or no valid port.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0:
        kind = address.partition("://")[0]
        message = f"`--on {kind}://...` has no valid host and port"
        raise ConfigError(message, hint=f"write for example `--on {kind}://HOST:{default}`")
    return host, port or default


def listens(host: str, port: int, *, seconds: float = CONNECT_SECONDS) -> str:
    """Return why nobody can be reached at an address, empty if somebody listens."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""


def must_listen(kind: str, host: str, port: int, hint: str) -> None:
    """Check that somebody listens.

    Raises:
        FleetError: nobody does.
    """
    if why := listens(host, port):
        raise FleetError(f"no {kind} cluster answers at {host}:{port}: {why}", hint=hint)

"""Tells within seconds whether something listens at an address, before a library waits for it for minutes."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal.errors import ConfigError

CONNECT_SECONDS = 4.0
#: How long a cluster may take until it says its first bytes, and how many of them are looked at.
GREET_SECONDS = 4.0
GREETING_SIZE = 8


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


def must_greet(kind: str, host: str, port: int, hint: str, is_greeting: Callable[[bytes], bool]) -> None:
    """Check that somebody listens and begins as a cluster does, which speaks first. Its library may wait for minutes.

    Raises:
        FleetError: nobody does.
    """
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection:
            connection.settimeout(GREET_SECONDS)
            greeting = connection.recv(GREETING_SIZE, socket.MSG_WAITALL)
            why = "" if is_greeting(greeting) else "something else listens there"
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
    if why:
        raise FleetError(f"no {kind} cluster answers at {host}:{port}: {why}", hint=hint)

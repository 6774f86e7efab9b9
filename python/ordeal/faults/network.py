"""Faults of the network: error answers of servers, lost connections, names that are not known, cut responses."""

from __future__ import annotations

import copy
import errno
import json
import math
import socket
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from ordeal.faults.arguments import check_every_n, check_fraction, check_seconds, check_status, check_text
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import made_again

__all__ = [
    "FaultResponse",
    "HTTPFaultError",
    "auth_failure",
    "connection_reset",
    "dns_failure",
    "http_error",
    "intermittent_http_error",
    "partial_response",
    "rate_limited",
]


# Where the clients of common services keep the text of a response.
_TEXT_ATTRIBUTES = ("output_text", "text", "content")


@dataclass(frozen=True)
class FaultResponse:
    """The supposed answer of a server: ``status_code``, ``text`` and ``headers``, as HTTP clients give them."""

    status_code: int
    text: str
    headers: Message = field(default_factory=Message, compare=False)
    """A mapping whose names are case-insensitive."""

    @property
    def content(self) -> bytes:
        """The text as bytes."""
        return self.text.encode()

    def json(self) -> Any:
        """Return the text as JSON, or ``{"error": text}`` if it is not."""
        try:
            return json.loads(self.text)
        except json.JSONDecodeError:
            return {"error": self.text}


class HTTPFaultError(Exception):
    """A server has answered with an error.

    ``status_code`` is its code, ``response`` its answer, and ``retry_after`` the seconds to wait if it said so.
    """

    def __init__(self, status_code: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(status_code, message, retry_after)
        self.status_code = status_code
        self.retry_after = retry_after
        self.response = FaultResponse(status_code, message)
        if retry_after is not None:
            self.response.headers["Retry-After"] = str(math.ceil(retry_after))  # the header has whole seconds

    def __str__(self) -> str:
        return f"{self.status_code} {self.response.text}"


@made_again
def http_error(target: str, status_code: int = 500, message: str = "Internal Server Error") -> CallFault:
    """Make calls of ``target`` raise HTTPFaultError with ``status_code`` and ``message``.

    Raises FaultError when ``status_code`` is not from 100 to 599, or ``message`` is not a text.
    """
    check_status("http_error", status_code)
    check_text("http_error", "message", message)
    return _failing(target, f"http_error({target}, {status_code})", status_code, message)


@made_again
def connection_reset(target: str) -> CallFault:
    """Make calls of ``target`` raise ConnectionResetError, a ConnectionError."""

    def reset(_number: int) -> None:
        raise ConnectionResetError(errno.ECONNRESET, f"Connection reset by peer: {target}")

    return CallFault(target, f"connection_reset({target})", before=reset)


@made_again
def dns_failure(target: str) -> CallFault:
    """Make calls of ``target`` raise ``socket.gaierror``, an OSError: the name of the server is not known."""

    def fail(_number: int) -> None:
        raise socket.gaierror(socket.EAI_NONAME, f"Name or service not known: {target}")

    return CallFault(target, f"dns_failure({target})", before=fail)


@made_again
def rate_limited(target: str, retry_after: float = 30.0) -> CallFault:
    """Make calls of ``target`` raise HTTPFaultError with code 429, which asks to wait ``retry_after`` seconds.

    Raises FaultError when it is negative.
    """
    check_seconds("rate_limited", "retry_after", retry_after)
    name = f"rate_limited({target}, retry_after={retry_after}s)"
    return _failing(target, name, 429, "Too Many Requests", retry_after=retry_after)


@made_again
def auth_failure(target: str, status_code: int = 401) -> CallFault:
    """Make calls of ``target`` raise HTTPFaultError: "Unauthorized" with ``status_code`` 401, otherwise "Forbidden".

    Raises FaultError when ``status_code`` is not from 100 to 599.
    """
    check_status("auth_failure", status_code)
    message = "Unauthorized" if status_code == 401 else "Forbidden"
    return _failing(target, f"auth_failure({target}, {status_code})", status_code, message)


@made_again
def partial_response(target: str, fraction: float = 0.5) -> CallFault:
    """Make calls of ``target`` return only the first ``fraction`` of a response.

    The response is a ``str`` or ``bytes`` result, or the first of ``output_text``, ``text`` and ``content`` that the
    result has as one; a copy of the result then has the shorter text. Raises FaultError when ``fraction`` is not
    between 0 and 1.
    """
    check_fraction("partial_response", fraction)

    def cut(result: Any) -> Any:
        if isinstance(result, (str, bytes)):
            return result[: int(len(result) * fraction)]
        for name in _TEXT_ATTRIBUTES:
            text = getattr(result, name, None)
            if isinstance(text, (str, bytes)):
                count = int(len(text) * fraction)
                return result if count == len(text) else _with_attribute(result, name, text[:count])
        return result

    return CallFault(target, f"partial_response({target}, {fraction})", after=cut)


@made_again
def intermittent_http_error(
    target: str, every_n: int = 3, status_code: int = 503, message: str = "Service Unavailable"
) -> CallFault:
    """Make every ``every_n``-th call of ``target`` raise HTTPFaultError; ``reset()`` starts the count again.

    Raises FaultError when ``every_n`` is below 1, ``status_code`` is not from 100 to 599, or ``message`` is not a text.
    """
    check_every_n("intermittent_http_error", every_n)
    check_status("intermittent_http_error", status_code)
    check_text("intermittent_http_error", "message", message)
    name = f"intermittent_http_error({target}, every {every_n}, {status_code})"
    return _failing(target, name, status_code, message, every_n=every_n)


def _failing(
    target: str,
    name: str,
    status_code: int,
    message: str,
    *,
    retry_after: float | None = None,
    every_n: int = 1,
) -> CallFault:
    def fail(number: int) -> None:
        if number % every_n == 0:
            raise HTTPFaultError(status_code, message, retry_after)

    return CallFault(target, name, before=fail)


def _with_attribute(response: Any, name: str, value: Any) -> Any:
    """Return a copy of ``response`` in which the attribute ``name`` is ``value``."""
    changed = copy.copy(response)
    try:
        setattr(changed, name, value)
    except AttributeError:
        # It is a property, or the object is frozen: a subclass of its class has the value.
        cls = type(response)
        body = {"__slots__": (), "__module__": cls.__module__, name: property(lambda _self: value)}
        # Not through the object: a frozen one refuses every assignment.
        object.__setattr__(changed, "__class__", type(cls.__name__, (cls,), body))
    return changed

"""Requests of HTTP: vcrpy stands in front of the clients, and its stubs ask a cassette, which here is the record."""

from __future__ import annotations

import functools
import io
import json
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from http.client import HTTPException
from typing import Any
from unittest import mock
from urllib.error import URLError

import vcr.stubs
from vcr.cassette import Cassette
from vcr.patch import CassettePatcherBuilder
from vcr.stubs import httpx_stubs

from ordeal.simulate.recorded.record_file import http_reply, to_bytes
from ordeal.simulate.recorded.recording import Asked, current

__tracebackhide__ = True
#: The request for whose answer the present task or thread waits.
_waiting: ContextVar[Asked | None] = ContextVar("waiting", default=None)
#: Some of their transports lead to no other process, and vcrpy would record these too.
_PATCHED_HERE = ("httpx", "httpx2")


class _Tape(Cassette):  # type: ignore[misc]
    """What the stubs of vcrpy take for a cassette."""

    def can_play_response_for(self, request: Any) -> bool:
        """Return True if the record has the answer; raises RecordDrift if it should have, and has not."""
        asked: Asked | None = getattr(request, "ordeal_asked", None)
        if asked is None:
            recording = current("http")
            assert recording is not None
            headers = {str(name).lower(): _text(value) for name, value in request.headers.items()}
            asked = recording.ask_http(request.method, request.uri, headers, _body(request.body))
            request.ordeal_asked = asked
            _waiting.set(None if asked.is_served else asked)
        return asked.is_served

    def play_response(self, request: Any) -> dict[str, Any]:
        """Return the recorded answer, as a cassette has it, or raise the recorded error."""
        reply = request.ordeal_asked.answer()
        return {
            "status": {"code": reply.status, "message": reply.reason},
            "headers": {name: list(values) for name, values in reply.headers.items()},
            "body": {"string": to_bytes(reply.body)},
        }

    def append(self, request: Any, response: dict[str, Any]) -> None:
        """Record an answer. aiohttp follows redirections, and asks nothing before it does."""
        waiting, _ = _waiting.get(), _waiting.set(None)
        if not hasattr(request, "ordeal_asked"):
            if waiting is None:
                self.can_play_response_for(request)
            else:
                request.ordeal_asked = waiting
        status, content = response["status"], response["body"].get("string") or b""
        headers = {str(name): [str(each) for each in values] for name, values in response["headers"].items()}
        body = content.encode() if isinstance(content, str) else content
        request.ordeal_asked.reply(http_reply(status["code"], status["message"] or "", headers, body))
        _waiting.set(None)

    def find_requests_with_most_matches(self, request: Any) -> list[tuple[Any, list[str], list[str]]]:
        """Return the request to which a redirection leads, as the one to look for."""
        return [(request, [], [])]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _body(body: Any) -> bytes:
    if isinstance(body, str | bytes | bytearray | None):
        return body.encode() if isinstance(body, str) else bytes(body or b"")
    if isinstance(body, io.IOBase):
        return bytes(body.read())
    if isinstance(body, Iterator):
        return b"".join(each.encode() if isinstance(each, str) else bytes(each) for each in body)
    # What aiohttp was given as JSON or as a form; of other objects the kind counts.
    return json.dumps(body, default=lambda each: type(each).__name__).encode()


# -- errors, which vcrpy does not record ------------------------------------------------------------------------------


@contextmanager
def _noted() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        asked, _ = _waiting.get(), _waiting.set(None)
        if asked is not None:
            asked.fail(error)
        raise


def _noting(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        with _noted():
            return real(*args, **kwargs)

    return call


def _noting_async(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with _noted():
            return await real(*args, **kwargs)

    return call


def _as_urllib_raises(real: Callable[..., Any]) -> Callable[..., Any]:
    # vcrpy connects later than urllib expects.
    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except (TimeoutError, HTTPException, URLError):
            raise
        except OSError as error:
            raise URLError(error) from error

    return call


@contextmanager
def patches() -> Iterator[None]:
    """Stand in front of the clients that are installed, for the block."""
    tape = _Tape("ordeal", skip_patchers=_PATCHED_HERE)
    with ExitStack() as stack:
        for patch in CassettePatcherBuilder(tape).build():
            stack.enter_context(patch)
        places: list[tuple[Any, str, Callable[..., Any]]] = [(vcr.stubs.VCRConnection, "getresponse", _noting)]
        places.append((urllib.request.AbstractHTTPHandler, "do_open", _as_urllib_raises))
        if "aiohttp" in sys.modules:
            places.append((sys.modules["aiohttp"].ClientSession, "_request", _noting_async))
        for httpx in (sys.modules[name] for name in _PATCHED_HERE if name in sys.modules):
            for owner, name, stub, noting in (
                (httpx.HTTPTransport, "handle_request", httpx_stubs.vcr_handle_request, _noting),
                (httpx.AsyncHTTPTransport, "handle_async_request", httpx_stubs.vcr_handle_async_request, _noting_async),
            ):
                stack.enter_context(mock.patch.object(owner, name, stub(tape, getattr(owner, name), httpx)))
                places.append((owner, name, noting))
        for owner, name, noting in places:
            stack.enter_context(mock.patch.object(owner, name, noting(getattr(owner, name))))
        yield

"""Clients of HTTP are served without a server, errors included."""

from __future__ import annotations

import asyncio
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from tests.unit.simulate.recorded.conftest import Server

from ordeal.simulate import RecordDrift, record

aiohttp = pytest.importorskip("aiohttp", reason="has no wheels for Python 3.15 yet")

NOBODY = "http://127.0.0.1:9/"


def errors_in(found: list[Any]) -> list[Any]:
    return [each[0] for each in found if isinstance(each, tuple) and each and isinstance(each[0], str)]


def counted(headers: Any) -> list[tuple[str, str]]:
    """Return the headers but for those of packing: a record has bodies unpacked, in which secrets can be masked."""
    pairs = [(name.lower(), value) for name, value in headers.items()]
    return sorted(each for each in pairs if each[0] not in ("content-encoding", "content-length"))


def noted(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error).__name__, str(error), [base.__name__ for base in type(error).__mro__[-3:]]


def by_httpx(url: str) -> list[Any]:
    def answer(method: str, path: str, **options: Any) -> Any:
        got = httpx.request(method, f"{url}{path}", verify=False, **options)
        return got.status_code, got.reason_phrase, got.content, counted(got.headers), len(got.history)

    return [
        answer("GET", "/users/1?page=2"),
        answer("POST", "/orders", json={"cents": 100}),
        answer("POST", "/orders", files={"a": b"content"}),
        answer("GET", "/packed"),
        answer("GET", "/bytes"),
        answer("GET", "/missing"),
        answer("GET", "/moved", follow_redirects=True),
        noted(lambda: httpx.get(NOBODY)),
        noted(lambda: httpx.get(f"{url}/slow", timeout=0.1)),
    ]


def by_httpx_async(url: str) -> list[Any]:
    async def talk() -> list[Any]:
        async with httpx.AsyncClient() as client:
            first = await client.get(f"{url}/users/1")
            second = await client.post(f"{url}/orders", data={"cents": "100"})
            try:
                await client.get(NOBODY)
            except httpx.ConnectError as error:
                return [first.json(), second.text, str(error), str(error.request.url)]
        raise AssertionError

    return asyncio.run(talk())


def by_requests(url: str) -> list[Any]:
    def answer(method: str, path: str, **options: Any) -> Any:
        with requests.Session() as session:
            got = session.request(method, f"{url}{path}", **options)
            return got.status_code, got.reason, got.content, counted(got.headers), len(got.history)

    return [
        answer("GET", "/users/1?page=2"),
        answer("POST", "/orders", json={"cents": 100}),
        answer("POST", "/orders", data={"cents": "100"}),
        answer("GET", "/packed"),
        answer("GET", "/bytes"),
        answer("GET", "/missing"),
        answer("GET", "/moved"),
        noted(lambda: requests.get(NOBODY)),
        noted(lambda: requests.get(f"{url}/slow", timeout=0.1)),
    ]


def by_aiohttp(url: str) -> list[Any]:
    async def talk() -> list[Any]:
        found: list[Any] = []
        async with aiohttp.ClientSession() as session:
            for path in ("/users/1?page=2", "/packed", "/bytes", "/missing", "/moved"):
                async with session.get(f"{url}{path}") as got:
                    found.append((got.status, got.reason, await got.read(), len(got.history)))
            async with session.post(f"{url}/orders", json={"cents": 100}) as got:
                found.append((got.status, await got.text(), counted(got.headers)))
            try:
                await session.get(NOBODY)
            except aiohttp.ClientConnectorError as error:
                found.append((type(error).__name__, str(error), error.errno))
            try:
                await session.get(f"{url}/slow", timeout=aiohttp.ClientTimeout(total=0.1))
            except TimeoutError as error:
                found.append(type(error).__name__)
        return found

    return asyncio.run(talk())


def by_urllib(url: str) -> list[Any]:
    def answer(path: str) -> Any:
        try:
            with urllib.request.urlopen(f"{url}{path}") as got:
                return got.status, got.read()
        except urllib.error.HTTPError as error:
            with error:  # a response too, which warns since Python 3.14 if nobody closes it
                raise

    return [answer("/users/1"), noted(lambda: answer("/missing"))[:2], noted(lambda: urllib.request.urlopen(NOBODY))]


@pytest.mark.parametrize("talk", [by_httpx, by_httpx_async, by_requests, by_aiohttp, by_urllib])
def test_what_was_recorded_is_served_without_the_server(talk: Callable[[str], list[Any]], server: Server) -> None:
    plain = talk(server.url)
    count = len(server.asked)
    with record("http", file="a.jsonl"):
        recorded = talk(server.url)
    assert len(server.asked) == 2 * count
    assert errors_in(recorded) == errors_in(plain)
    server.stop()
    with record("http", file="a.jsonl"):
        served = talk(server.url)
    # The boundary of a form is drawn for each request.
    texts = [re.sub("[0-9a-f]{32}", "BOUNDARY", repr(each)) for each in (recorded, served)]
    assert texts[1] == texts[0].replace("cookie-4711", "MASKED")


def test_a_client_of_an_app_in_the_same_process_is_not_recorded() -> None:
    def app(_: Any, start: Any) -> list[bytes]:
        start("200 OK", [])
        return [b"here"]

    with record("http", file="a.jsonl"):
        with httpx.Client(transport=httpx.WSGITransport(app=app)) as client:
            assert client.get("http://app/").text == "here"
    assert not Path("a.jsonl").exists()


def test_a_request_that_was_given_up_is_not_recorded(server: Server) -> None:
    async def talk() -> str:
        async with httpx.AsyncClient() as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.get(f"{server.url}/slow")
            return (await client.get(f"{server.url}/users/1")).text

    with record("http", file="a.jsonl"):
        asyncio.run(talk())
    assert len(Path("a.jsonl").read_text().splitlines()) == 2


def test_requests_at_the_same_time_are_served_in_any_order(server: Server) -> None:
    async def talk(*paths: str) -> list[str]:
        async with httpx.AsyncClient() as client:
            return [
                got.json()["path"] for got in await asyncio.gather(*(client.get(server.url + path) for path in paths))
            ]

    with record("http", file="a.jsonl", ordered=False):
        assert asyncio.run(talk("/1", "/2", "/3")) == ["/1", "/2", "/3"]
    server.stop()
    with record("http", file="a.jsonl", ordered=False):
        assert asyncio.run(talk("/3", "/1", "/2")) == ["/3", "/1", "/2"]


def test_blocks_can_stand_in_each_other(server: Server) -> None:
    for _ in range(2):
        with record("http", file="outer.jsonl"):
            httpx.get(f"{server.url}/1")
            with record("http", file="inner.jsonl"):
                httpx.get(f"{server.url}/2")
            httpx.get(f"{server.url}/3")
    assert server.asked == ["/1", "/2", "/3"]
    assert "/2" not in Path("outer.jsonl").read_text()


def test_a_drift_that_the_program_catches_ends_the_block_all_the_same(server: Server) -> None:
    with record("http", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
    with pytest.raises(RecordDrift, match="/users/2"), record("http", file="a.jsonl"):
        noted(lambda: httpx.get(f"{server.url}/users/2"))

"""A declared web service answers what a test has declared, is struck by faults, and asks for what is missing."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from ordeal import simulate


async def fetch(host: str, request: str, body: bytes = b"", *, tls: bool = False, port: int | None = None) -> str:
    reader, writer = await asyncio.open_connection(host, port or (443 if tls else 80), ssl=tls or None)
    head = f"{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    return answer.decode()


def body_of(answer: str) -> str:
    return answer.partition("\r\n\r\n")[2]


def test_a_table_answers_by_path_query_and_pattern() -> None:
    async def main(world: simulate.World) -> None:
        world.http(
            "api.example",
            {
                "GET /users/1": {"name": "Ann"},
                "GET /users?page=2": "second",
                "GET /users": "first",
                "GET /files/*": b"\x00",
                "POST /users": simulate.Response("no", status=409, headers={"Retry-After": "3"}),
            },
        )
        world.http("api.example", {"GET /late": simulate.Response("late", seconds=5)})
        assert json.loads(body_of(await fetch("api.example", "GET /users/1"))) == {"name": "Ann"}
        assert body_of(await fetch("api.example", "GET /users?page=2")) == "second"
        assert body_of(await fetch("api.example", "GET /users?page=3")) == "first"
        assert body_of(await fetch("api.example", "GET /files/a/b")) == "\x00"
        refused = await fetch("api.example", "POST /users", b"x")
        assert refused.startswith("HTTP/1.1 409 Conflict\r\n")
        assert "retry-after: 3\r\n" in refused
        began = world.time
        assert body_of(await fetch("api.example", "GET /late")) == "late"
        assert world.time - began > 5

    simulate.explore(main, runs=20)


def test_functions_answer_and_may_wait() -> None:
    async def main(world: simulate.World) -> None:
        async def charge(request: simulate.Request) -> dict[str, Any]:
            await asyncio.sleep(1)
            return {"charged": request.json()["cents"], "by": request.headers["host"], "query": request.query}

        world.http("pay.example:8080", lambda request: charge(request) if request.method == "POST" else request.path)
        answer = body_of(await fetch("pay.example", "POST /charge?a=b", b'{"cents": 5}', port=8080))
        assert json.loads(answer) == {"charged": 5, "by": "pay.example", "query": "a=b"}
        assert body_of(await fetch("pay.example", "GET /x", port=8080)) == "/x"
        with pytest.raises(ConnectionRefusedError):
            await fetch("pay.example", "GET /x")

    simulate.explore(main, runs=10)


def test_requests_on_one_connection_and_bodies_in_chunks() -> None:
    async def main(world: simulate.World) -> None:
        world.http("api.example", lambda request: request.body + b"!")
        reader, writer = await asyncio.open_connection("api.example", 80)
        for _ in range(2):
            head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            writer.write(head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(6) == b"abcde!"
        writer.write(b"HEAD / HTTP/1.1\r\n\r\n")
        assert b"content-length: 1\r\n" in await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert await reader.read() == b""

    simulate.explore(main, runs=10)


def test_a_service_is_there_before_the_program() -> None:
    async def main(world: simulate.World) -> None:
        world.http("api.example", {"GET /": "here"})
        assert body_of(await fetch("api.example", "GET /")) == "here"

    simulate.explore(main, runs=100, faults=[simulate.stall(), simulate.latency()])


def test_tls_to_a_declared_service_needs_no_certificate() -> None:
    async def main(world: simulate.World) -> None:
        world.http("api.example", {"GET /": "secret"})
        assert body_of(await fetch("api.example", "GET /", tls=True)) == "secret"

    simulate.explore(main, runs=20)


def test_a_service_is_a_node_that_faults_strike() -> None:
    async def main(world: simulate.World) -> None:
        service = world.http("api.example", {"GET /": "here"})
        assert world["api.example"] is service
        assert body_of(await fetch("api.example", "GET /")) == "here"
        service.crash()
        with pytest.raises((ConnectionError, TimeoutError)):
            await asyncio.wait_for(fetch("api.example", "GET /"), 1)
        service.restart()
        assert body_of(await fetch("api.example", "GET /")) == "here"

    simulate.run(main)


def stub_in(error: BaseException) -> str:
    found = re.search(r"world\.\w+\(.*\)", str(error))
    assert found is not None
    return found.group()


def test_what_is_not_declared_comes_with_a_stub_that_works() -> None:
    stubs = list[str]()

    async def main(world: simulate.World) -> None:
        for stub in stubs:
            eval(stub)
        await fetch("api.example", "GET /users")
        await fetch("api.example", "POST /users", b"x")

    for said in ("connects to api.example:80", "asks api.example for POST /users"):
        with pytest.raises(simulate.EscapedSimulation, match=said) as caught:
            simulate.run(main)
        stubs.append(stub_in(caught.value).replace("GET /*", "GET /users"))
    simulate.run(main)
    assert len(stubs) == 2


@pytest.mark.parametrize(
    ("host", "hint"),
    [(("api.example", 443), "world.http("), (("db.example", 5432), 'world.node("db.example", serve), where')],
)
def test_hosts_outside_are_refused_where_they_are_reached(host: tuple[str, int], hint: str) -> None:
    async def main() -> None:
        try:
            await asyncio.open_connection(*host)
        except OSError:
            raise AssertionError("it is not an error of the network") from None

    with pytest.raises(simulate.EscapedSimulation, match=r"test_http\.py") as caught:
        simulate.run(main)
    assert hint in str(caught.value)
    assert "parameter" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "answers", "what"),
    [
        ("http://api.example", {}, "not a name of a host"),
        ("api.example:x", {}, "not a name of a host"),
        ("api.example", "text", "pass a table"),
        ("api.example", {1: "x"}, "write what is asked"),
    ],
)
def test_what_cannot_be_declared_is_refused(name: str, answers: Any, what: str) -> None:
    async def main(world: simulate.World) -> None:
        world.http(name, answers)

    with pytest.raises(simulate.SimulationError, match=what):
        simulate.run(main)

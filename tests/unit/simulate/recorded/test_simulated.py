"""A simulated run gets recorded answers from its world."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import strategies as st
from tests.unit.simulate.recorded.conftest import Server

from ordeal import ChaosTest, Explorer, initialize, invariant, rule, simulate
from ordeal.simulate import EscapedSimulation, RecordError


async def get(path: str) -> str:
    reader, writer = await asyncio.open_connection("api.example", 80)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.decode()


def name_the_host(server: Server) -> None:
    """Have the record be that of a host with a name."""
    server.stop()
    path = Path("a.jsonl")
    path.write_text(path.read_text().replace(server.url, "http://api.example"))


def test_recorded_answers_are_those_of_services_and_processes(server: Server) -> None:
    with simulate.record("http", "process", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
        httpx.get(f"{server.url}/users/2")
        subprocess.run(["git", "--version"], capture_output=True)
    name_the_host(server)
    found: set[Any] = set()

    @simulate.test(runs=20)
    async def check(world: simulate.World) -> None:
        with world.record("http", "process", file="a.jsonl"):
            second, first = await asyncio.gather(get("/users/2"), get("/users/1"))
            git = await asyncio.create_subprocess_exec("git", "--version", stdout=subprocess.PIPE)
            found.add((first, second, (await git.communicate())[0]))

    check()
    ((first, second, version),) = found
    assert '"/users/1"' in first
    assert '"/users/2"' in second
    assert version.startswith(b"git version")


def test_a_request_that_was_not_recorded_fails_the_run(server: Server) -> None:
    with simulate.record("http", file="a.jsonl"):
        httpx.get(f"{server.url}/users/1")
    name_the_host(server)

    @simulate.test(runs=5)
    async def check(world: simulate.World) -> None:
        with world.record("http", file="a.jsonl"):
            await get("/users/3")

    with pytest.raises(EscapedSimulation, match="/users/3"):
        check()


def test_a_simulated_run_records_nothing() -> None:
    async def main(world: simulate.World) -> None:
        with world.record("http", file="a.jsonl"):
            pass

    with pytest.raises(RecordError, match=r"nothing is recorded in a.jsonl"):
        simulate.test(runs=1)(main)()


def test_recorded_files_are_refused() -> None:
    async def main(world: simulate.World) -> None:
        with world.record("files", file="a.jsonl"):
            pass

    with pytest.raises(RecordError) as caught:
        simulate.test(runs=1)(main)()
    assert "disk" in str(caught.value.hint)


class Asking(ChaosTest):
    world = simulate.world(clients=2)

    def __init__(self) -> None:
        super().__init__()
        self.got: list[str] = []

    @initialize()
    def declare(self) -> None:
        with self.world.record("http", file="a.jsonl"):
            pass

    @rule(number=st.integers(1, 2))  # type: ignore[arg-type]
    async def ask(self, number: int) -> None:
        self.got.append((await get(f"/users/{number}")).splitlines()[0])

    @invariant()
    def all_were_answered(self) -> None:
        assert set(self.got) <= {"HTTP/1.1 200 OK"}


def test_a_machine_with_a_world_gets_recorded_answers(server: Server) -> None:
    with simulate.record("http", file="a.jsonl"):
        for number in (1, 2):
            httpx.get(f"{server.url}/users/{number}")
    name_the_host(server)
    result = Explorer(Asking, seed=1).run(max_runs=5, steps_per_run=10)
    assert not result.failures, result.failures
    assert result.total_steps > 10

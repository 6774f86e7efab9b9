"""Child processes of a run get declared answers; what is not declared, or waits without `await`, ends the run."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable
from typing import Any

import pytest

from ordeal import simulate


async def printed(*words: str, stdin: bytes | None = None, **options: Any) -> tuple[int | None, bytes, bytes | None]:
    options = {"stdin": None if stdin is None else PIPE, "stdout": PIPE, "stderr": PIPE} | options
    process = await asyncio.create_subprocess_exec(*words, **options)
    out, error = await process.communicate(stdin)
    return process.returncode, out, error


def test_a_table_answers_by_the_arguments() -> None:
    async def main(world: simulate.World) -> None:
        world.process("git", {"rev-parse HEAD": "abc\n", "log *": simulate.Output("many\n", "slow\n", seconds=3)})
        world.process("git", {"push": simulate.Output(stderr="refused", code=1)})
        assert await printed("/usr/bin/git", "rev-parse", "HEAD") == (0, b"abc\n", b"")
        began = world.time
        assert await printed("git", "log", "a b") == (0, b"many\n", b"slow\n")
        assert world.time - began > 3
        assert await printed("git", "push") == (1, b"", b"refused")
        assert await printed("git", "push", stderr=STDOUT) == (1, b"refused", None)
        shell = await asyncio.create_subprocess_shell("git rev-parse HEAD", stdout=PIPE)
        assert shell.stdout is not None
        assert await shell.stdout.readline() == b"abc\n"
        assert await shell.wait() == 0

    simulate.explore(main, runs=30)


def test_a_function_answers_what_the_process_reads() -> None:
    async def main(world: simulate.World) -> None:
        async def sort(command: simulate.Command) -> str:
            await asyncio.sleep(1)
            assert command.arguments == ("-r",)
            return "".join(sorted(command.stdin.decode().splitlines(keepends=True), reverse=True))

        world.process("sort", sort)
        assert await printed("sort", "-r", stdin=b"a\nb\n") == (0, b"b\na\n", b"")

    simulate.explore(main, runs=10)


def test_a_process_that_is_killed_prints_nothing() -> None:
    async def main(world: simulate.World) -> None:
        world.process("sleep", simulate.Output("done", seconds=100))
        process = await asyncio.create_subprocess_exec("sleep", "100", stdout=PIPE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)
        process.send_signal(signal.SIGUSR1)
        process.terminate()
        assert (await process.communicate())[0] == b""
        assert process.returncode == -signal.SIGTERM
        assert world.time < 10

    simulate.explore(main, runs=10)


def test_a_process_of_a_node_ends_with_it() -> None:
    ended = list[int]()

    async def main(world: simulate.World) -> None:
        world.process("job", simulate.Output("done", seconds=5))

        async def work() -> None:
            await printed("job")
            ended.append(world["worker"].lives)

        worker = world.node("worker", work)
        await asyncio.sleep(2)
        worker.restart()
        await world.until(lambda: bool(ended))
        assert world.time > 6

    simulate.run(main)
    assert ended == [2]


def test_what_is_not_declared_comes_with_a_stub_that_works() -> None:
    stubs = list[str]()

    async def main(world: simulate.World) -> None:
        for stub in stubs:
            eval(stub)
        await printed("git", "rev-parse", "HEAD")
        await printed("git", "commit", "-m", 'a "word"')

    for said in ("rev-parse HEAD", "commit -m"):
        with pytest.raises(simulate.EscapedSimulation, match=r"test_processes\.py") as caught:
            simulate.run(main)
        found = re.search(r"world\.process\(.*\)", str(caught.value))
        assert found is not None
        assert said in found.group()
        stubs.append(found.group())
    simulate.run(main)


@pytest.mark.parametrize("call", [lambda: subprocess.run(["git", "log"], check=False), lambda: os.system("git log")])
def test_a_process_that_blocks_the_loop_is_refused(call: Callable[[], object]) -> None:
    async def main(world: simulate.World) -> None:
        world.process("git", {"log": "many"})
        call()

    with pytest.raises(simulate.EscapedSimulation) as caught:
        simulate.run(main)
    assert 'world.process("git", {"log": "what it prints"}), and await asyncio.create_subprocess_exec' in str(
        caught.value
    )


def test_an_answer_that_is_none_ends_the_run() -> None:
    async def main(world: simulate.World) -> None:
        world.process("git", lambda command: 5)
        await printed("git", "log")

    with pytest.raises(simulate.SimulationError, match="return what it prints"):
        simulate.run(main)


def test_a_name_with_a_folder_is_refused() -> None:
    async def main(world: simulate.World) -> None:
        world.process("/bin/git", "x")

    with pytest.raises(simulate.SimulationError, match="name alone"):
        simulate.run(main)

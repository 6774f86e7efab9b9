"""What leaves a simulation is stopped where it happens, says what to write, and ends the run even if it is caught."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest

from ordeal import simulate


def on_a_thread() -> None:
    threading.Thread(target=print).start()


def in_an_executor() -> None:
    concurrent.futures.ThreadPoolExecutor().submit(print)


ESCAPES: list[Callable[[], object]] = [
    lambda: socket.create_connection(("127.0.0.1", 9)),
    lambda: socket.getaddrinfo("example.org", 80),
    lambda: urllib.request.urlopen("http://127.0.0.1:9/"),
    lambda: subprocess.run([sys.executable, "-V"], check=False),
    lambda: os.system("true"),
    on_a_thread,
    in_an_executor,
    lambda: queue.Queue[int]().get(),
    lambda: threading.Event().wait(),
    lambda: concurrent.futures.Future[int]().result(),
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_an_escape_is_stopped_at_the_call(escape: Callable[[], object]) -> None:
    async def main() -> None:
        escape()

    with pytest.raises(simulate.EscapedSimulation, match=r"test_surroundings\.py:\d+") as caught:
        simulate.explore(main)
    assert caught.value.hint


def test_an_escape_that_the_program_catches_ends_the_run() -> None:
    reached = list[str]()

    async def main() -> None:
        with contextlib.suppress(Exception):
            os.system("true")
        await asyncio.sleep(0)
        reached.append("later")

    with pytest.raises(simulate.EscapedSimulation):
        simulate.run(main)
    assert reached == []


@pytest.mark.parametrize(
    "call",
    [
        lambda loop: loop.add_reader(0, print),
        lambda loop: loop.subprocess_exec(asyncio.SubprocessProtocol, "true"),
    ],
)
def test_methods_of_the_loop_that_reach_outside_are_fenced(call: Callable[[Any], object]) -> None:
    async def main() -> None:
        call(asyncio.get_running_loop())

    with pytest.raises(simulate.EscapedSimulation, match=r"loop\.\w+\(\) inside of a simulation"):
        simulate.run(main)


def test_a_fence_can_be_opened() -> None:
    async def main() -> int:
        return os.system("exit 3") >> 8

    assert simulate.run(main, allow=["os"]) == 3


def test_nothing_is_fenced_after_a_run() -> None:
    async def main() -> None:
        pass

    simulate.run(main)
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert os.urandom(8) != os.urandom(8)


def test_threads_of_the_process_are_left_alone() -> None:
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait()
        subprocess.run([sys.executable, "-c", ""], check=True)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()

    async def main() -> None:
        go.set()
        await asyncio.sleep(1)

    simulate.run(main)
    thread.join()
    assert done.is_set()


WHO = contextvars.ContextVar("who", default="nobody")


def job(seconds: float) -> str:
    time.sleep(seconds)
    return WHO.get()


async def two_jobs() -> None:
    WHO.set("main")
    done = []

    async def run(name: str, seconds: float) -> None:
        assert await anyio.to_thread.run_sync(job, seconds) == "main"
        done.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(run, "slow", 0.5)
        group.start_soon(run, "quick", 0.1)
    assert done == ["quick", "slow"]
    assert time.monotonic() >= 0.5


def test_a_job_takes_its_time_and_holds_up_nobody() -> None:
    simulate.run(two_jobs)
    with pytest.raises(AssertionError) as caught:
        simulate.explore(two_jobs)
    assert "late result" in caught.value.__notes__[0]
    assert "job" in caught.value.__notes__[0]


def test_a_limit_holds_and_errors_come_back() -> None:
    async def main() -> float:
        limiter = anyio.CapacityLimiter(1)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(lambda: anyio.to_thread.run_sync(job, 1.0, limiter=limiter))
        with pytest.raises(ZeroDivisionError):
            await anyio.to_thread.run_sync(lambda: 1 / 0)
        return time.monotonic()

    assert simulate.run(main) == 3


def test_a_cancelled_job_is_waited_for_unless_it_may_be_abandoned() -> None:
    async def main(*, abandon: bool) -> float:
        with anyio.move_on_after(1):
            await anyio.to_thread.run_sync(job, 5.0, abandon_on_cancel=abandon)
        return time.monotonic()

    assert simulate.run(lambda: main(abandon=False)) == 5
    assert simulate.run(lambda: main(abandon=True)) == 1


def test_outside_of_a_run_there_are_threads() -> None:
    def main() -> None:
        assert anyio.run(anyio.to_thread.run_sync, time.monotonic) > 0

    main()
    assert simulate.run(two_jobs) is None
    main()


def test_a_job_has_no_running_loop() -> None:
    async def main() -> object:
        return await anyio.to_thread.run_sync(asyncio._get_running_loop)

    assert simulate.run(main) is None

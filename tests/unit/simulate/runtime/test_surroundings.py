"""What leaves a simulation is stopped where it happens, says what to write, and ends the run even if it is caught."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import queue
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from typing import Any

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

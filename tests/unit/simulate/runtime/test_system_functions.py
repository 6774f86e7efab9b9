"""What `socket.socket` and `socket.getaddrinfo` are inside of a run, and that they are the real ones outside."""

from __future__ import annotations

import asyncio
import os
import platform
import select
import signal
import socket
from collections.abc import Callable
from typing import Any

import pytest

from ordeal import simulate


def test_names_of_nodes_are_found_by_a_function_in_an_executor() -> None:
    async def serve() -> None:
        await asyncio.Event().wait()

    async def main(world: simulate.World) -> str:
        node = world.node("db", serve)
        found = await asyncio.get_running_loop().run_in_executor(None, socket.getaddrinfo, "db", 80)
        assert found[0][4][0] == node.address
        return node.address

    assert simulate.run(main) == "10.0.0.1"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: signal.alarm(1), r"sets an alarm of the system \(signal.alarm\)"),
        (lambda: signal.setitimer(signal.ITIMER_REAL, 1), r"sets an alarm of the system \(signal.setitimer\)"),
        (lambda: signal.sigwait([signal.SIGUSR1]), r"waits for the system \(signal.sigwait\)"),
        (lambda: select.select([], [], [], 1), r"waits for the system \(select.select\)"),
        (lambda: select.select([], [], []), r"waits for the system \(select.select\)"),
        (lambda: select.poll().poll(), r"waits for the system \(select.poll\)"),
        (lambda: select.poll().poll(1), r"waits for the system \(select.poll\)"),
        pytest.param(lambda: select.epoll().poll(1), r"waits for the system \(select.epoll\)", id="epoll"),
        (lambda: os.mkfifo("pipe"), r"makes a pipe .* \(os.mkfifo\)"),
    ],
)
def test_what_no_audit_event_tells_of_is_refused(call: Callable[[], object], text: str) -> None:
    async def main() -> None:
        call()

    with pytest.raises(simulate.EscapedSimulation, match=f"{text} inside of a simulation, at .*py:\\d+"):
        simulate.run(main)
    assert select.select([], [], [], 0.001) == ([], [], [])
    assert select.poll().poll(1) == []


def test_what_is_ready_may_be_asked_for() -> None:
    async def main() -> None:
        reading, writing = os.pipe()
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        assert poll.poll(0) == []
        os.write(writing, b"x")
        assert poll.poll(0.0) == [(reading, select.POLLIN)]
        assert select.select([reading], [], [], 0) == ([reading], [], [])
        os.close(reading)
        os.close(writing)

    simulate.run(main)


def test_the_type_of_a_socket_stays_a_type_for_whoever_uses_it_as_one() -> None:
    async def main() -> type:
        class Derived(socket.socket):
            pass

        assert isinstance(socket.socket(), socket.socket)
        assert issubclass(Derived, socket.socket)
        assert (socket.socket | None) is not None
        return Derived

    real = socket.socket
    assert issubclass(simulate.run(main), real)
    assert socket.socket is real


async def _runs_in_a_thread() -> None:
    def job() -> None:
        with asyncio.Runner() as runner:
            runner.get_loop()

    await asyncio.to_thread(job)


async def _makes_a_loop() -> None:
    asyncio.new_event_loop()


@pytest.mark.parametrize("main", [_makes_a_loop, _runs_in_a_thread])
def test_a_run_has_one_event_loop(main: Any) -> None:
    with pytest.raises(simulate.EscapedSimulation, match="makes its own event loop") as caught:
        simulate.run(main)
    assert "await the coroutine" in str(caught.value)
    asyncio.new_event_loop().close()


def test_a_node_has_its_own_name() -> None:
    async def main(world: simulate.World) -> list[str]:
        names = [socket.gethostname()]

        async def machine() -> None:
            names.extend((socket.gethostname(), socket.getfqdn(), socket.getfqdn("api.x")))

        world.node("db", machine)
        await asyncio.sleep(1)
        return names

    assert simulate.run(main) == ["localhost", "db", "db", "api.x"]
    assert socket.gethostname() == platform.node()

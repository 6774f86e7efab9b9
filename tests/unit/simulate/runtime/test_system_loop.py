"""Handlers of signals: each node has its own, they are called when the test sends a signal, and none stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from ordeal import simulate


def test_a_node_handles_its_signal() -> None:
    async def serve() -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        await ended.wait()
        with open("log", "w") as file:  # noqa: PTH123 - as the program may write it
            file.write("ended")

    async def main(world: simulate.World) -> bool:
        one, other = world.node("one", serve), world.node("other", serve)
        await asyncio.sleep(1)
        one.send_signal(signal.SIGTERM)
        await asyncio.sleep(1)
        assert one.disk.read_text("/log") == "ended"
        return other.disk.exists("/log")

    assert not simulate.run(main)


def test_what_the_signal_module_is_told_is_kept_for_the_run_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def main() -> list[int]:
        seen = list[int]()

        def note(number: int, frame: Any) -> None:
            seen.append(number)

        assert signal.signal(signal.SIGTERM, note) == signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is note
        signal.raise_signal(signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        return seen

    assert simulate.run(main) == [signal.SIGTERM] * 2
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_nobody_expects_ends_a_node_whose_disk_loses_nothing() -> None:
    async def serve() -> None:
        with open("log", "w") as file:  # noqa: PTH123
            file.write("begun")
        await asyncio.Event().wait()

    async def main(world: simulate.World) -> None:
        node = world.node("one", serve)
        await asyncio.sleep(1)
        node.send_signal(signal.SIGKILL)
        assert not node.is_up
        assert node.disk.read_text("/log") == "begun"

    simulate.explore(main, runs=10)


def test_the_test_itself_has_to_handle_what_it_raises() -> None:
    async def main() -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(simulate.EscapedSimulation, match="SIGTERM"):
        simulate.run(main)


def test_wrong_arguments_are_refused_as_usual() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(ValueError, match="10000"):
            loop.add_signal_handler(10000, print)
        with pytest.raises(TypeError):
            signal.signal(signal.SIGTERM, "no")  # type: ignore[arg-type]
        assert not loop.remove_signal_handler(signal.SIGTERM)

    simulate.run(main)

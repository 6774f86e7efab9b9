"""A node crashes without a trace, is run again, stands still, is slow, and has a clock and a disk of its own."""

from __future__ import annotations

import _io
import asyncio
import contextlib
import contextvars
import datetime
import gc
import io
import logging
import os
import sqlite3
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal import simulate

from ...samples.nodes import count_up, echo


def test_a_crash_runs_no_clean_up_and_a_restart_runs_the_function_again() -> None:
    async def main(world: simulate.World) -> list[str]:
        seen = list[str]()

        async def work() -> None:
            seen.append("begins")
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                seen.append("is cancelled")
            finally:
                seen.append("ends")

        node = world.node("one", work)
        await asyncio.sleep(1)
        node.crash()
        node.crash()
        assert not node.is_up
        assert "down" in repr(node)
        await asyncio.sleep(7200)
        node.restart()
        await asyncio.sleep(1)
        assert (node.is_up, node.lives) == (True, 2)
        return list(seen)

    assert simulate.run(main) == ["begins", "begins"]


def test_what_a_dead_coroutine_does_at_the_end_of_the_run_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, complaints, closing = tmp_path / "written", list[object](), list[object]()
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)

    async def close() -> None:
        for _ in range(5):
            with contextlib.suppress(GeneratorExit):
                await asyncio.sleep(0)

    async def stubborn() -> None:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(3600)
        finally:
            closing.append(loop.create_task(asyncio.sleep(1)))
            try:
                path.write_text("x")
            finally:
                await close()

    async def main(world: simulate.World) -> None:
        world.node("one", stubborn)
        await asyncio.sleep(1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate.run(main)
        closing.clear()
        gc.collect()
    assert not path.exists()
    assert complaints == []


def test_a_paused_node_stands_still_and_then_catches_up() -> None:
    async def main(world: simulate.World) -> None:
        ticks = list[float]()

        async def tick() -> None:
            while True:
                await asyncio.sleep(1)
                ticks.append(world.time)

        node = world.node("one", tick)
        await asyncio.sleep(2.5)
        node.pause()
        await asyncio.sleep(5)
        assert ticks == [1, 2]
        node.resume()
        await asyncio.sleep(1.2)
        assert ticks == [1, 2, 7.5, 8.5]

    simulate.run(main)


def test_each_step_of_a_slow_node_takes_time_and_others_go_on() -> None:
    async def main(world: simulate.World) -> None:
        steps, others = list[float](), list[float]()

        async def step(at: list[float]) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
                at.append(world.time)

        slow = world.node("slow", step, steps)
        slow.slow(0.5)
        world.node("other", step, others)
        await asyncio.sleep(10)
        assert steps == [0.5, 1.0, 1.5]
        assert others == [0, 0, 0]

    simulate.run(main)


def test_a_stall_holds_up_only_its_own_node() -> None:
    late = list[float]()

    async def main(world: simulate.World) -> None:
        async def tick(name: str) -> None:
            for number in range(1, 20):
                await asyncio.sleep(number - world.time)
                if name == "two":
                    late.append(world.time - number)

        async def wait(name: str) -> None:
            await asyncio.sleep(0.5)

        world.node("one", tick, "one")
        world.node("two", tick, "two")
        await asyncio.sleep(30)

    simulate.explore(main, runs=20, faults=[simulate.stall(0.5)])
    assert max(late) <= 0.5


def test_the_clock_of_a_node_may_be_wrong() -> None:
    async def main(world: simulate.World) -> None:
        seen = list[float]()
        dates = list[datetime.datetime]()

        async def watch() -> None:
            loop = asyncio.get_running_loop()
            for _ in range(2):
                before, began = time.time(), world.time
                await asyncio.sleep(10)
                assert loop.time() == time.monotonic()
                seen.extend((time.time() - before, world.time - began))
                dates.append(datetime.datetime.now(datetime.UTC))

        node = world.node("one", watch)
        real = datetime.datetime.now(datetime.UTC)
        await asyncio.sleep(10.5)
        assert seen == [10, 10]
        node.skew(60, rate=2.0)
        await asyncio.sleep(20)
        # The timer was set before; the clock shows 60 seconds too many, and 9.5 more in the 9.5 that were left.
        assert seen[2:] == pytest.approx([60 + 0.5 + 2 * 9.5, 10])
        assert dates[1] - real == pytest.approx(datetime.timedelta(seconds=80 + 9.5), abs=datetime.timedelta(0, 1))
        with pytest.raises(simulate.SimulationError):
            node.skew(rate=0)

    simulate.run(main)


def test_timers_follow_the_rate_of_the_clock() -> None:
    async def main(world: simulate.World) -> None:
        woken = list[float]()

        async def wait() -> None:
            await asyncio.sleep(1)
            await asyncio.sleep(10)
            woken.append(world.time)

        world.node("fast", wait).skew(rate=2.0)
        world.node("right", wait)
        await asyncio.sleep(60)
        assert woken == [pytest.approx(6), 11] or woken == [pytest.approx(5.5), 11]

    simulate.run(main)


def test_each_node_has_a_disk_and_keeps_what_was_synced() -> None:
    async def main(world: simulate.World) -> None:
        counts: dict[str, list[int]] = {"one": [], "two": []}
        one = world.node("one", count_up, counts["one"])
        world.node("two", count_up, counts["two"])
        await asyncio.sleep(3.5)
        one.restart()
        await asyncio.sleep(1.75)
        assert counts["one"] == [1, 2, 3, 4, 5, 6]
        assert one.disk.read_text("/data/count") == "6"
        assert counts["two"] == [1, 2, 3, 4, 5, 6]

    report = simulate.explore(main, runs=100, check=False)
    assert report.failure is None
    assert not Path("data").exists()


def test_a_crash_may_lose_what_was_not_synced() -> None:
    async def main(world: simulate.World) -> None:
        counts = list[int]()
        node = world.node("one", count_up, counts, False)
        await asyncio.sleep(3.5)
        node.restart()
        await asyncio.sleep(1)
        assert counts == sorted(set(counts))

    simulate.run(main)
    with pytest.raises(AssertionError) as caught:
        simulate.explore(main)
    assert "Needed: 1 loss of what was not synced" in caught.value.__notes__[0]


def test_sources_and_libraries_are_the_real_ones_in_a_node() -> None:
    async def main(world: simulate.World) -> list[bool]:
        found = list[bool]()

        async def look() -> None:
            found.append(Path(__file__).read_text("utf-8").startswith('"""A node'))
            found.append(Path(os.__file__).exists())
            found.append(Path("/etc").exists())
            found.append(str(Path.cwd()) == "/")

        world.node("one", look)
        await asyncio.sleep(1)
        assert Path("/etc").exists()
        return found

    assert simulate.run(main) == [True, True, False, True]


# What SQLite had begun to open complains when it is freed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(
    "leave", [sqlite3.connect, lambda path: io.FileIO(path, "w"), lambda path: _io.open(path, "a")]
)
def test_a_node_writes_no_real_file(leave: Callable[[str], object], tmp_path: Path) -> None:
    path = str(tmp_path / "x")

    async def main(world: simulate.World) -> None:
        async def work() -> None:
            sqlite3.connect(":memory:").close()
            leave(path)

        world.node("one", work)
        await asyncio.sleep(1)

    with pytest.raises(simulate.EscapedSimulation, match=r"test_node\.py:\d+"):
        simulate.run(main)
    assert not Path(path).exists()
    gc.collect()


def test_the_context_of_the_test_is_that_of_each_life() -> None:
    name = contextvars.ContextVar("name", default="")

    async def main(world: simulate.World) -> list[str]:
        seen = list[str]()

        async def work() -> None:
            seen.append(name.get())

        name.set("set")
        node = world.node("one", work)
        name.set("later")
        await asyncio.sleep(1)
        node.restart()
        await asyncio.sleep(1)
        return seen

    assert simulate.run(main) == ["set", "set"]


def test_a_node_that_fails_ends_the_run() -> None:
    async def main(world: simulate.World) -> None:
        async def fail() -> None:
            await asyncio.sleep(1)
            raise ValueError("broken")

        world.node("one", fail)
        await asyncio.sleep(3600)

    with pytest.raises(ValueError, match="broken"):
        simulate.run(main)


def test_an_error_that_nobody_awaits_counts_in_a_node_too() -> None:
    async def main(world: simulate.World) -> None:
        async def fail() -> None:
            raise ValueError("broken")

        async def work() -> None:
            asyncio.create_task(fail(), name="part")  # noqa: RUF006
            await asyncio.sleep(10)

        world.node("one", work)
        await asyncio.sleep(20)

    with pytest.raises(simulate.UnhandledTaskError, match="the task one/part ended with ValueError"):
        simulate.run(main)


def test_wrong_nodes_are_refused() -> None:
    async def main(world: simulate.World) -> None:
        world.node("one", echo, 80)
        for name in ("one", "", "a b", 5):
            with pytest.raises(simulate.SimulationError):
                world.node(name, echo, 80)  # type: ignore[arg-type]
        with pytest.raises(simulate.SimulationError, match="not a coroutine function"):
            world.node("two", print)  # type: ignore[arg-type]
        with pytest.raises(simulate.SimulationError, match="pass an `async def` function"):
            world.node("three", None)  # type: ignore[arg-type]
        with pytest.raises(simulate.SimulationError, match="the nodes are: one"):
            world["four"]

    simulate.run(main)


def test_what_a_node_logs_when_its_run_is_over_is_not_seen(caplog: pytest.LogCaptureFixture) -> None:
    async def serve() -> None:
        try:
            await asyncio.Event().wait()
        except BaseException as error:
            logging.getLogger("node").exception("ended by %s", type(error).__name__)
            raise

    async def main(world: simulate.World) -> None:
        world.node("one", serve)
        await asyncio.sleep(1)
        logging.getLogger("test").warning("seen")

    simulate.run(main)
    assert [record.message for record in caplog.records] == ["seen"]
    logging.getLogger("test").warning("seen again")
    assert len(caplog.records) == 2


def test_a_node_has_a_folder_for_temporary_files() -> None:
    async def serve() -> None:
        with tempfile.NamedTemporaryFile("w+") as file, tempfile.TemporaryDirectory() as folder:
            file.write("text")
            Path(folder, "name").write_text("text")
            assert file.seek(0) == 0
            assert file.read() == "text"
            names.append(file.name)

    async def main(world: simulate.World) -> None:
        node = world.node("a", serve)
        await asyncio.sleep(1)
        assert node.disk.list_dir() == names

    names: list[str] = []
    simulate.run(main)
    assert not Path(names[0]).exists()

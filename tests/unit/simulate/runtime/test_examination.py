"""The report of a failure has what led to it: events, logged errors, tasks that ended with one, and named causes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate


def failure_of(main: Any, **options: Any) -> simulate.Report:
    report = simulate.explore(main, check=False, **options)
    assert report.failure is not None
    return report


async def _lost_update() -> None:
    state = {"value": 0}

    async def add() -> None:
        value = state["value"]
        await asyncio.sleep(0.01)
        state["value"] = value + 1

    await asyncio.gather(add(), add())
    assert state["value"] == 2, "an update is lost"


def test_a_failed_assertion_has_the_error_and_the_last_events_of_the_tasks() -> None:
    text = str(failure_of(_lost_update))
    assert "AssertionError: an update is lost" in text
    events = text[text.index("Last events:") :].splitlines()
    assert any("0.010 s  add#0" in line and "await asyncio.sleep(0.01)" in line for line in events)
    assert any("0.010 s  add#1" in line for line in events)


def test_a_deadlock_has_its_table_in_place_of_events() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    text = str(failure_of(main))
    assert "Deadlock: at 0.000 s 1 task waits" in text
    assert "waits for Event.wait" in text
    assert "Last events" not in text


@pytest.mark.parametrize("propagates", [True, False])
def test_errors_that_were_logged_are_told(propagates: bool) -> None:
    log = logging.getLogger(f"pool_{propagates}")
    log.propagate = propagates

    async def main() -> None:
        try:
            raise KeyError("lost")
        except KeyError:
            log.exception("cannot reach %s", "db")
        log.error("%d", "not a number")
        log.warning("only a warning")
        raise AssertionError

    text = str(failure_of(main))
    assert f"pool_{propagates}: cannot reach db (KeyError: 'lost')" in text
    assert f"pool_{propagates}: %d" in text
    assert "only a warning" not in text


def test_tasks_that_ended_with_an_error_are_told_though_it_was_asked_for() -> None:
    async def fails() -> None:
        raise ValueError("no route")

    async def main() -> None:
        await asyncio.gather(fails(), return_exceptions=True)
        raise AssertionError

    text = str(failure_of(main))
    assert "Ended with an error:\n  fails#0 with ValueError: no route, at " in text


def test_an_error_of_a_callback_is_told_though_the_test_fails_otherwise() -> None:
    async def main() -> None:
        queue = asyncio.Queue[int](1)
        for number in range(2):
            asyncio.get_running_loop().call_soon_threadsafe(queue.put_nowait, number)
        await asyncio.sleep(1)
        assert queue.qsize() == 2

    text = str(failure_of(main))
    assert "Ended with an error:\n  the callback Queue.put_nowait with QueueFull\n" in text


def test_a_failed_assertion_and_a_cancellation_have_a_time_and_a_place() -> None:
    async def use(held: asyncio.Semaphore) -> None:
        await held.acquire()
        await asyncio.sleep(1)
        held.release()

    async def main() -> None:
        held = asyncio.Semaphore(1)
        await asyncio.wait([asyncio.create_task(use(held))])
        assert not held.locked(), "not given back"

    text, file = str(failure_of(main, faults=[simulate.cancel()])), Path(__file__).relative_to(Path.cwd())
    line, sleeps = main.__code__.co_firstlineno + 3, use.__code__.co_firstlineno + 2
    assert f"\n  at {file}:{line}: main: assert not held.locked(), " in text
    assert f" s, {file}:{sleeps})\n" in text[text.index("cancel use#0, ") : text.index("Last events:")]


def test_a_late_job_of_an_executor_names_its_function_its_task_and_its_place() -> None:
    async def main() -> None:
        total = 0

        def read() -> int:
            return total

        async def add() -> None:
            nonlocal total
            total = 1 + await asyncio.to_thread(read)

        async def add_later() -> None:
            await asyncio.sleep(0.05)
            await add()

        await asyncio.gather(add(), add_later())
        assert total == 2

    text = str(failure_of(main, seed=3))
    assert "  the result of the job read of add#0 arrives after 100 ms (at 0.000 s)\n" in text
    assert "  0.050 s  the job read of add_later#0                begins in an executor\n" in text
    assert "  0.100 s  the result of the job read of add#0        arrives\n" in text


def test_a_step_that_begins_and_one_that_goes_on_are_told_apart() -> None:
    text = str(failure_of(_lost_update))
    assert "  add#0           begins `add: async def add() -> None:`\n" in text
    assert "  add#0           goes on at `add: await asyncio.sleep(0.01)`\n" in text


def test_a_stall_names_the_timer_that_it_waits_for() -> None:
    async def main() -> None:
        async def work() -> None:
            await asyncio.sleep(0.001)

        try:
            async with asyncio.timeout(1):
                await work()
        except TimeoutError:
            raise AssertionError from None

    text = str(failure_of(main, faults=[simulate.stall()]))
    assert "it takes until the timer of main#0 at " in text or "it takes 1 s" in text or "it takes 2 s" in text


def test_a_private_name_with_a_counter_is_shown_and_not_a_key() -> None:
    numbers = itertools.count(1)

    async def keep() -> None:
        await asyncio.sleep(0.01)

    async def main() -> None:
        name = f"pool-{next(numbers)}"
        tasks = [asyncio.create_task(keep(), name=f"{name}-worker-{number}") for number in range(2)]
        await asyncio.wait(tasks)
        assert not any(task.cancelled() for task in tasks)

    failure = failure_of(main, faults=[simulate.cancel()]).failure
    assert failure is not None
    assert not failure.is_flaky
    (label,) = failure.decisions
    assert label.split(" | ")[1] in ("keep#0", "keep#1")
    assert "-worker-" in str(failure)


@pytest.mark.parametrize(
    "name",
    [
        *("f'{next(NUMBERS)}'", "f'{id(object()):x}0'", "uuid.uuid4().hex", "'keeper'", "None"),
        "setattr(keep, '__qualname__', f'keep_{next(NUMBERS)}')",
    ],
)
def test_a_failure_is_repeated_in_another_process_whatever_names_count(tmp_path: Path, name: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"""
import asyncio, itertools, json, sys, uuid
from ordeal import simulate
NUMBERS = itertools.count(1)
async def keep():
    await asyncio.sleep(0.01)
async def main():
    names = [{name} for _ in range(3)]
    tasks = [asyncio.create_task(keep(), name=name) for name in names]
    await asyncio.wait(tasks)
    assert not tasks[2].cancelled()
FAULTS = [simulate.cancel()]
if len(sys.argv) > 1:
    simulate.run(main, faults=FAULTS, decisions=json.loads(sys.argv[1]))
else:
    print(json.dumps(simulate.explore(main, seed=7, faults=FAULTS, check=False).failure.decisions))
""",
        "utf-8",
    )
    command = [sys.executable, "-W", "ignore", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    again = subprocess.run([*command, json.dumps(json.loads(found))], capture_output=True, text=True, check=False)
    assert "AssertionError" in again.stderr


HELD: list[Any] = []


async def _in_a_cycle() -> None:
    future = asyncio.get_running_loop().create_future()
    future.set_exception(ValueError("lost"))
    holder = [future]
    holder.append(holder)  # type: ignore[arg-type]


async def _held() -> None:
    future = asyncio.get_running_loop().create_future()
    future.set_exception(ValueError("lost"))
    HELD[:] = [future]


async def _of_an_executor() -> None:
    def fails() -> None:
        raise ValueError("lost")

    HELD[:] = [asyncio.get_running_loop().run_in_executor(None, fails)]
    await asyncio.sleep(5)


async def _made_directly() -> None:
    HELD[:] = [asyncio.Future()]
    HELD[0].set_exception(ValueError("lost"))


@pytest.mark.parametrize("main", [_in_a_cycle, _held, _of_an_executor, _made_directly])
@pytest.mark.parametrize("collects", [False, True], ids=["", "collected"])
def test_an_error_of_a_future_that_nothing_asks_for_is_found_in_its_run(main: Any, collects: bool) -> None:
    async def collected() -> None:
        import gc  # noqa: PLC0415 - as the program may

        await main()
        if collects:
            gc.collect()
        await asyncio.sleep(1)

    HELD.clear()
    failure = failure_of(collected).failure
    HELD.clear()
    assert failure is not None
    assert failure.run == 1
    assert isinstance(failure.error, simulate.UnhandledTaskError)
    assert "ended with ValueError: lost" in str(failure.error)


def test_an_error_that_was_asked_for_is_none_however_long_its_future_is_held() -> None:
    async def main() -> None:
        await _held()
        with pytest.raises(ValueError, match="lost"):
            await HELD[0]

    assert simulate.run(main) is None
    HELD.clear()


class Slow:
    """Gives back what it uses after a round trip, also where it is cancelled."""

    def __init__(self) -> None:
        self.free = 1
        self.keeper: Any = None

    def start(self) -> None:
        self.keeper = asyncio.create_task(self.keep())

    async def keep(self) -> None:
        await asyncio.sleep(1)

    async def use(self) -> None:
        self.free -= 1
        try:
            await asyncio.sleep(0.1)
        finally:
            await asyncio.sleep(0.05)
            self.free += 1

    async def use_shielded(self) -> None:
        self.free -= 1
        try:
            await asyncio.sleep(0.1)
        finally:
            await asyncio.shield(self.give_back())

    async def give_back(self) -> None:
        await asyncio.sleep(0.05)
        self.free += 1


async def _used_shielded() -> None:
    slow = Slow()
    await asyncio.wait([asyncio.create_task(slow.use_shielded())])
    await asyncio.sleep(1)
    assert slow.free == 1


async def _rolled_back_late() -> None:
    accounts = {"a": 1, "b": 0}

    async def move() -> None:
        accounts["a"] -= 1
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            accounts["a"] += 1
            raise
        accounts["b"] += 1

    await asyncio.wait([asyncio.create_task(move())])
    assert sum(accounts.values()) == 1


async def _left_late() -> None:
    slots = asyncio.Semaphore(1)

    @contextlib.asynccontextmanager
    async def slot() -> AsyncIterator[None]:
        await slots.acquire()
        try:
            yield
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            slots.release()
            raise
        slots.release()

    async def use() -> None:
        async with slot():
            await asyncio.sleep(0.1)

    await asyncio.wait([asyncio.create_task(use())])
    assert not slots.locked()


async def _told_late() -> None:
    begun, told = list[str](), list[str]()

    async def work(name: str) -> None:
        begun.append(name)
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            await asyncio.to_thread(told.append, name)
            raise
        told.append(name)

    await asyncio.wait([asyncio.create_task(work(name)) for name in "ab"])
    assert sorted(told) == begun


@pytest.mark.parametrize("main", [_rolled_back_late, _left_late, _told_late])
def test_a_task_is_struck_again_while_it_cleans_up(main: Any) -> None:
    failure = failure_of(main, faults=[simulate.cancel()]).failure
    assert failure is not None
    assert [each.kind for each in failure.decided] == ["cancel", "cancel"]
    assert len({each.actor for each in failure.decided}) == 1
    assert "is cancelled again by the fault cancel" in str(failure)


def test_a_clean_up_behind_a_shield_survives_two_cancellations() -> None:
    assert simulate.explore(_used_shielded, runs=300, faults=[simulate.cancel()]).failure is None


@pytest.mark.parametrize(
    ("fault", "is_known", "is_struck"),
    [
        (simulate.cancel(), False, False),
        (simulate.cancel(), True, True),
        (simulate.cancel(private=True), False, True),
        (simulate.cancel("all"), False, True),
    ],
)
def test_what_the_target_keeps_for_itself_is_struck_where_it_is_asked_for(
    fault: Any, is_known: bool, is_struck: bool
) -> None:
    struck = set[bool]()

    async def main() -> None:
        slow = Slow()
        slow.start()
        keeper = slow.keeper if is_known else None
        await asyncio.wait([asyncio.create_task(slow.use())])
        await asyncio.sleep(2)
        struck.add(slow.keeper.cancelled())
        del keeper

    assert simulate.explore(main, runs=200, faults=[fault]).failure is None
    assert (True in struck) == is_struck


def test_the_errors_of_a_group_are_told_with_their_places() -> None:
    async def fails() -> None:
        raise ValueError("no route")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())

    text, file = str(failure_of(main)), Path(__file__).relative_to(Path.cwd())
    place = f"{file}:{fails.__code__.co_firstlineno + 1}: fails: raise ValueError"
    assert (
        f"ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  ValueError: no route, at {place}" in text
    )


def test_a_crash_has_a_time_and_the_replay_the_name_of_a_test_with_a_world() -> None:
    async def kept(world: simulate.World) -> None:
        written = list[str]()

        async def keep() -> None:
            await asyncio.sleep(1)
            if not written:
                written.append("kept")
                Path("/kept").write_text("kept", "utf-8")
            await asyncio.sleep(60)

        node = world.node("db", keep)
        await asyncio.sleep(30)
        assert not written or node.disk.exists("/kept")

    text = str(failure_of(kept, faults=[simulate.crash()]))
    assert re.search(r"\n  db: crash after \d own steps \(at 1\.\d{3} s\)\n", text)
    assert re.search(r"\n  db: .* not synced.* lost \(at 1\.\d{3} s\)\n", text)
    assert "Replay: simulate.run(kept, " in text

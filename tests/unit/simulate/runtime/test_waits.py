"""The table of a deadlock says who waits for what, where, and who has it."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ordeal import simulate

Main = Callable[[], Coroutine[Any, Any, None]]


def table(main: Main, **options: Any) -> str:
    with pytest.raises(simulate.Deadlock) as caught:
        simulate.explore(main, **options)
    return str(caught.value)


async def two_locks() -> None:
    one, other = asyncio.Lock(), asyncio.Lock()

    async def first() -> None:
        async with one:
            await asyncio.sleep(0.1)
            async with other:
                pass

    async def second() -> None:
        async with other:
            await asyncio.sleep(0.1)
            async with one:
                pass

    await asyncio.gather(first(), second())


def test_two_locks_in_two_orders() -> None:
    text = table(two_locks)
    assert "at 0.100 s 3 tasks wait, and nothing can wake them" in text
    assert "two_locks#0  waits for all of first#0, second#0" in text
    assert "first#0      waits for Lock.acquire of other" in text
    assert "acquired by second#0 at " in text


async def a_full_queue() -> None:
    jobs: asyncio.Queue[int] = asyncio.Queue(maxsize=1)
    for number in range(2):
        await jobs.put(number)


async def an_empty_queue() -> None:
    jobs: asyncio.Queue[int] = asyncio.Queue()
    await jobs.put(1)
    await jobs.get()
    await jobs.get()


async def a_lock_twice() -> None:
    class Store:
        def __init__(self) -> None:
            self.lock = asyncio.Lock()

        async def read(self) -> None:
            async with self.lock:
                pass

        async def write(self) -> None:
            async with self.lock:
                await self.read()

    await Store().write()


async def an_event() -> None:
    ready = asyncio.Event()
    await ready.wait()


async def a_semaphore() -> None:
    slots = asyncio.Semaphore(1)
    await slots.acquire()
    await slots.acquire()


async def a_condition() -> None:
    changed = asyncio.Condition()
    async with changed:
        await changed.wait()


async def a_barrier() -> None:
    meeting = asyncio.Barrier(2)
    await meeting.wait()


async def a_future() -> None:
    answer = asyncio.get_running_loop().create_future()
    await answer


async def each_other() -> None:
    tasks = list[asyncio.Task[None]]()

    async def await_other(number: int) -> None:
        await asyncio.sleep(0)
        await asyncio.shield(tasks[number])

    tasks += [asyncio.create_task(await_other(1)), asyncio.create_task(await_other(0))]
    await tasks[0]


async def a_thread_safe_call() -> None:
    waiting = asyncio.get_running_loop().create_future()
    await asyncio.wait_for(asyncio.shield(waiting), None)


@pytest.mark.parametrize(
    ("main", "row"),
    [
        (a_full_queue, "a_full_queue#0  waits for Queue.put of jobs"),
        (a_full_queue, "last put by a_full_queue#0 at "),
        (an_empty_queue, "waits for Queue.get of jobs"),
        (an_empty_queue, "last got by an_empty_queue#0 at "),
        (a_lock_twice, "waits for Lock.acquire of self.lock"),
        (a_lock_twice, "acquired by a_lock_twice#0 at "),
        (an_event, "waits for Event.wait of ready"),
        (a_semaphore, "waits for Semaphore.acquire of slots"),
        (a_condition, "waits for Condition.wait of changed"),
        (a_barrier, "waits for Barrier.wait of meeting"),
        (a_future, "waits for the future answer"),
        (each_other, "waits for the end of await_other#0"),
        (a_thread_safe_call, "a_thread_safe_call#0  waits for"),
    ],
)
def test_classic(main: Main, row: str) -> None:
    text = table(main)
    assert row in text
    assert "test_waits.py:" in text


async def a_dropped_future(*, is_held: bool = False) -> None:
    waiting = list[asyncio.Future[None]]()
    held = list[asyncio.Future[None]]()

    async def acquire() -> None:
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        await turn

    async def drop() -> None:
        turn = waiting.pop()
        if is_held:
            held.append(turn)
        del turn
        await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        group.create_task(acquire())
        group.create_task(drop())


async def a_future_of_another_task() -> None:
    answer = asyncio.get_running_loop().create_future()

    async def other() -> None:
        mine = answer
        await asyncio.Event().wait()
        mine.set_result(None)

    task = asyncio.create_task(other())
    await answer
    await task


def test_a_future_that_was_dropped_is_said_to_be() -> None:
    lost = "waits for the future turn, which nothing else holds"
    assert lost in table(a_dropped_future)
    assert lost not in table(lambda: a_dropped_future(is_held=True))
    assert "nothing else holds" not in table(a_future_of_another_task)


def test_the_traceback_ends_where_the_first_task_waits() -> None:
    @asynccontextmanager
    async def connection() -> AsyncIterator[None]:
        await asyncio.get_running_loop().create_future()
        yield

    async def connections() -> AsyncIterator[None]:
        async with connection():
            yield

    class Pool:
        def __await__(self) -> Generator[Any, None, None]:
            return anext(connections(), None).__await__()

    async def main() -> None:
        await Pool()

    with pytest.raises(
        simulate.Deadlock, match=r"waits for a future, which nothing else holds +tests/unit/.*test_waits.py:"
    ) as caught:
        simulate.explore(main)
    assert [entry.name for entry in caught.traceback][-3:] == ["main", "connections", "connection"]


def test_a_task_that_a_fault_ended_is_in_the_table() -> None:
    async def wake(event: asyncio.Event) -> None:
        await asyncio.sleep(1)
        event.set()

    async def main() -> None:
        event = asyncio.Event()
        task = asyncio.create_task(wake(event))
        await event.wait()
        await task

    text = table(main, faults=[simulate.cancel()])
    assert "main#0        waits for Event.wait of event" in text
    assert "wake#0 ended  cancelled" in text
    assert "by the fault cancel at " in text


# The same programs without their mistake.


async def two_locks_in_one_order() -> None:
    one, other = asyncio.Lock(), asyncio.Lock()

    async def both() -> None:
        async with one:
            await asyncio.sleep(0.1)
            async with other:
                pass

    await asyncio.gather(both(), both())


async def a_queue_that_is_emptied() -> None:
    jobs: asyncio.Queue[int] = asyncio.Queue(maxsize=1)

    async def take() -> None:
        for _ in range(2):
            await jobs.get()

    taking = asyncio.create_task(take())
    for number in range(2):
        await jobs.put(number)
    await taking


async def a_queue_that_is_filled() -> None:
    jobs: asyncio.Queue[int] = asyncio.Queue()
    asyncio.get_running_loop().call_later(0.1, jobs.put_nowait, 2)
    await jobs.put(1)
    await jobs.get()
    await jobs.get()


async def a_lock_once() -> None:
    lock = asyncio.Lock()
    for _ in range(2):
        async with lock:
            await asyncio.sleep(0)


async def an_event_that_comes() -> None:
    ready = asyncio.Event()
    asyncio.get_running_loop().call_later(0.1, ready.set)
    await ready.wait()


async def a_semaphore_that_is_released() -> None:
    slots = asyncio.Semaphore(1)
    await slots.acquire()
    asyncio.get_running_loop().call_later(0.1, slots.release)
    await slots.acquire()


async def a_condition_that_is_notified() -> None:
    changed = asyncio.Condition()
    waiting = asyncio.Event()

    async def notify() -> None:
        await waiting.wait()
        async with changed:
            changed.notify()

    notifying = asyncio.create_task(notify())
    async with changed:
        waiting.set()
        await changed.wait()
    await notifying


async def a_barrier_that_fills() -> None:
    meeting = asyncio.Barrier(2)
    await asyncio.gather(meeting.wait(), meeting.wait())


async def a_future_with_an_answer() -> None:
    answer = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(answer.set_result, None)
    await answer


async def one_after_the_other() -> None:
    first = asyncio.create_task(asyncio.sleep(0.1))

    async def second() -> None:
        await first

    await asyncio.create_task(second())


async def a_job_of_an_executor() -> None:
    await asyncio.to_thread(lambda: None)


async def a_group_with_a_time_out() -> None:
    async with asyncio.TaskGroup() as group:
        for seconds in (0.1, 0.2):
            group.create_task(asyncio.sleep(seconds))
    try:
        async with asyncio.timeout(0.1):
            await asyncio.Event().wait()
    except TimeoutError:
        pass


LIBRARY = """
import asyncio

class Gate:
    def __init__(self):
        self._lock = asyncio.Lock()
        self._waiting = []

    async def pass_through(self):
        await self._wait()

    async def _wait(self):
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    async def lock(self):
        await self._lock.acquire()
"""


def test_what_a_library_waits_for_is_told_by_the_place_in_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "gates_of_table.py").write_text(LIBRARY, "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    gates: Any = importlib.import_module("gates_of_table")

    async def main() -> None:
        gate = gates.Gate()
        passing = asyncio.create_task(gate.pass_through(), name="own")

        async def passes() -> None:
            await gate.pass_through()

        async def locks() -> None:
            await gate.lock()
            await gate.lock()

        await asyncio.gather(passing, passes(), locks())

    text = table(main)
    here = r"tests/unit/simulate/runtime/test_waits\.py:\d+"
    assert re.search(rf"passes#0 +waits for Gate\.pass_through of gate +\S*{here}, in gates_of_table\.py:15", text)
    assert re.search(rf"locks#0 +waits for Lock\.acquire of self\._lock +\S*{here}, in gates_of_table\.py:18", text)
    assert re.search(r"own +waits for the future future +gates_of_table\.py:15", text)


TWINS: list[Main] = [
    two_locks_in_one_order,
    a_queue_that_is_emptied,
    a_queue_that_is_filled,
    a_lock_once,
    an_event_that_comes,
    a_semaphore_that_is_released,
    a_condition_that_is_notified,
    a_barrier_that_fills,
    a_future_with_an_answer,
    one_after_the_other,
    a_job_of_an_executor,
    a_group_with_a_time_out,
]


@pytest.mark.filterwarnings("ignore::ordeal.simulate.errors.SimulationWarning")
@pytest.mark.parametrize("runs", [30, pytest.param(10_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("main", TWINS)
def test_a_program_that_is_right_is_never_reported(main: Main, runs: int) -> None:
    assert simulate.explore(main, runs=runs, faults=[simulate.stall()]).failure is None


kept: list[Any] = []


async def beat(*_held: object) -> None:
    while True:
        await asyncio.sleep(600)


async def forgotten_event() -> None:
    beating = asyncio.create_task(beat())
    await asyncio.Event().wait()
    beating.cancel()


async def dropped_waiter() -> None:
    waiters: list[asyncio.Future[None]] = []
    beating = asyncio.create_task(beat())

    async def use() -> None:
        turn = asyncio.get_running_loop().create_future()
        waiters.append(turn)
        await turn

    uses = [asyncio.create_task(use()) for _ in range(3)]
    await asyncio.sleep(1)
    waiters.pop().set_result(None)
    waiters.clear()
    await asyncio.gather(*uses)
    beating.cancel()


async def empty_queue() -> None:
    queue = asyncio.Queue[int]()
    beating = asyncio.create_task(beat())
    producer = asyncio.create_task(queue.put(1))
    await queue.get()
    await producer
    await queue.get()
    beating.cancel()


async def each_holds_what_the_other_wants() -> None:
    beating = asyncio.create_task(beat())
    left, right = asyncio.Lock(), asyncio.Lock()

    async def take(first: asyncio.Lock, second: asyncio.Lock) -> None:
        async with first:
            await asyncio.sleep(1)
            async with second:
                pass

    await asyncio.gather(take(left, right), take(right, left))
    beating.cancel()


@pytest.mark.parametrize(
    "main",
    [forgotten_event, dropped_waiter, empty_queue, each_holds_what_the_other_wants],
    ids=lambda main: main.__name__,
)
def test_what_nobody_can_bring_about(main: Main) -> None:
    with pytest.raises(simulate.OrphanedWait, match=r"^at 3\d\d\d\.000 s nobody can wake ") as caught:
        simulate.run(main)
    assert f"{main.__name__}#0" in str(caught.value)
    assert caught.value.site


async def known_to_the_module() -> None:
    kept.append(asyncio.Event())
    asyncio.create_task(beat())  # noqa: RUF006
    await kept[-1].wait()


async def known_to_a_task() -> None:
    event = asyncio.Event()
    asyncio.create_task(beat(event))  # noqa: RUF006
    await event.wait()


async def ended_by_a_timeout() -> None:
    asyncio.create_task(beat())  # noqa: RUF006
    async with asyncio.timeout(100_000):
        await asyncio.Event().wait()


async def cancelled_by_a_task() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())

    async def end() -> None:
        await asyncio.sleep(100_000)
        waiting.cancel()

    asyncio.create_task(end())  # noqa: RUF006
    await waiting


async def set_by_a_timer() -> None:
    event = asyncio.Event()
    asyncio.create_task(beat())  # noqa: RUF006
    asyncio.get_running_loop().call_later(100_000, event.set)
    await event.wait()


async def known_to_what_says_yes_to_everything() -> None:
    kept.append(Mock(event=asyncio.Event()))
    asyncio.create_task(beat())  # noqa: RUF006
    await kept[-1].event.wait()


@pytest.mark.parametrize(
    "main",
    [
        known_to_the_module,
        known_to_what_says_yes_to_everything,
        known_to_a_task,
        ended_by_a_timeout,
        cancelled_by_a_task,
        set_by_a_timer,
    ],
    ids=lambda main: main.__name__,
)
def test_what_somebody_may_still_bring_about(main: Main) -> None:
    with pytest.raises(simulate.Livelock, match="not over at 7200 s"):
        simulate.run(main, time_limit=7_200)


async def waits_for_data(world: simulate.World) -> None:
    async def serve() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            await asyncio.sleep(20_000)
            writer.write(b"late")
            writer.close()

        server = await asyncio.start_server(answer, port=80)
        await server.serve_forever()

    world.node("db", serve)
    await world.until(lambda: True)
    reader, writer = await asyncio.open_connection("db", 80)
    writer.write(b"?")
    assert await reader.readexactly(4) == b"late"
    writer.close()


async def waits_behind_a_partition(world: simulate.World) -> None:
    async def serve() -> None:
        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"late")
            writer.close()

        server = await asyncio.start_server(answer, port=80)
        await server.serve_forever()

    world.node("db", serve)
    await world.until(lambda: True)
    reader, writer = await asyncio.open_connection("db", 80)
    world.partition("db")
    asyncio.get_running_loop().call_later(20_000, world.heal)
    assert await reader.readexactly(4) == b"late"
    writer.close()


@pytest.mark.parametrize("main", [waits_for_data, waits_behind_a_partition], ids=lambda main: main.__name__)
def test_what_a_network_brings_late_is_waited_for(main: Callable[..., Any]) -> None:
    simulate.run(main)


def test_an_error_that_waits_for_a_clean_up_is_told() -> None:
    async def main() -> None:
        async def answer(_reader: object, _writer: object) -> None:
            await asyncio.Event().wait()

        async with await asyncio.start_server(answer, "localhost", 80):
            _held = await asyncio.open_connection("localhost", 80)
            raise ValueError("no answer")

    with pytest.raises(simulate.Deadlock, match=r"main#0 +waits for .*; leaves with ValueError: no answer, at "):
        simulate.run(main)


@pytest.mark.parametrize(("when", "which"), [(asyncio.ALL_COMPLETED, "all"), (asyncio.FIRST_COMPLETED, "one")])
def test_a_wait_for_several_tasks_names_them(when: str, which: str) -> None:
    async def idle() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        await asyncio.wait([asyncio.create_task(idle()) for _ in range(2)], return_when=when)

    with pytest.raises(simulate.Deadlock, match=rf"main#0 +waits for {which} of idle#0, idle#1 "):
        simulate.run(main)

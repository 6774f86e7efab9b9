"""The table of a deadlock says who waits for what, where, and who has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

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

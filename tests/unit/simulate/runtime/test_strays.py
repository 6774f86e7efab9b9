"""A cancellation that reaches a task which nothing has cancelled is a failure; that of an awaited victim is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ordeal import simulate

type Main = Callable[[], Coroutine[Any, Any, None]]

CANCEL = [simulate.cancel()]


class Loader:
    """Keeps the future of each key for all that ask for it, also one that was cancelled."""

    def __init__(self) -> None:
        self.known: dict[int, asyncio.Future[int]] = {}

    def load(self, key: int) -> asyncio.Future[int]:
        if key not in self.known:
            self.known[key] = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(0.01, self.answer, key)
        return self.known[key]

    def answer(self, key: int) -> None:
        if not self.known[key].done():
            self.known[key].set_result(2 * key)


async def asked_later_by_the_test() -> None:
    loader = Loader()
    tasks = [asyncio.create_task(ask(loader, key)) for key in (1, 1, 2, 1)]
    await asyncio.wait(tasks)
    assert await loader.load(1) == 2


async def ask(loader: Loader, key: int, patience: float = 60.0) -> None:
    try:
        async with asyncio.timeout(patience):
            assert await loader.load(key) == 2 * key
    except TimeoutError:
        pass


async def shared_by_two() -> None:
    loader = Loader()
    await asyncio.wait([asyncio.create_task(ask(loader, 1)) for _ in range(2)])


async def given_up_by_its_leader() -> None:
    """Who makes a value for all cancels the future of all as it is struck; the test asks by the same function."""
    known: dict[int, asyncio.Future[int]] = {}

    async def use() -> int:
        if 1 in known:
            return await known[1]
        answer = known[1] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.sleep(0.01)
            answer.set_result(2)
        except asyncio.CancelledError:
            answer.cancel()
            raise
        return 2

    await asyncio.wait([asyncio.create_task(use())])
    assert await use() == 2


async def cut_by_a_time_out() -> None:
    loader = Loader()
    await asyncio.wait([asyncio.create_task(ask(loader, 1, patience)) for patience in (0.005, 1.0)])


async def through_a_task() -> None:
    """The work of a key is a task, which whoever waits for it cancels as well."""
    known: dict[int, asyncio.Task[None]] = {}

    async def use() -> None:
        if 1 not in known:
            known[1] = asyncio.create_task(asyncio.sleep(1))
        await known[1]

    await asyncio.wait([asyncio.create_task(use()) for _ in range(2)])


async def gathered_by_two() -> None:
    work = asyncio.get_running_loop().create_task(asyncio.sleep(1), name="work")

    async def use() -> None:
        await asyncio.gather(work)

    await asyncio.wait([asyncio.create_task(use()) for _ in range(2)])


@pytest.mark.parametrize(
    "main",
    [
        *(asked_later_by_the_test, shared_by_two, cut_by_a_time_out, through_a_task, gathered_by_two),
        given_up_by_its_leader,
    ],
)
def test_what_another_has_cancelled_is_a_failure(main: Main) -> None:
    faults = [simulate.cancel("*use*"), simulate.cancel("ask*")]
    report = simulate.explore(main, runs=300, faults=faults, check=False)
    assert report.failure is not None
    assert isinstance(report.failure.error, simulate.StrayCancellation)
    text = str(report)
    assert "ended with CancelledError" in text
    assert "nothing has cancelled it" in text
    assert "which awaited it too" in text or main is given_up_by_its_leader
    with pytest.raises(simulate.StrayCancellation):
        simulate.run(main, faults=faults, decisions=report.failure.decisions)


async def rest() -> None:
    await asyncio.sleep(1)


async def awaits_one() -> None:
    await asyncio.create_task(rest())


async def awaits_each_later() -> None:
    tasks = [asyncio.create_task(rest()) for _ in range(2)]
    await asyncio.sleep(2)
    for task in tasks:
        await task


async def asks_each_for_its_result() -> None:
    tasks = [asyncio.create_task(rest()) for _ in range(2)]
    await asyncio.wait(tasks)
    for task in tasks:
        task.result()


async def awaits_what_was_gathered_before() -> None:
    gathered = asyncio.gather(*(asyncio.create_task(rest()) for _ in range(2)))
    await asyncio.sleep(2)
    await gathered


async def gathers_each_later() -> None:
    tasks = [asyncio.create_task(rest()) for _ in range(2)]
    await asyncio.sleep(2)
    await asyncio.gather(*tasks)


async def waits_for_one() -> None:
    await asyncio.wait_for(asyncio.create_task(rest()), 5)


async def awaits_what_awaits() -> None:
    async def outer() -> None:
        await asyncio.create_task(rest())

    await asyncio.create_task(outer())


async def gathers_with_a_private_wait() -> None:
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(1, event.set)
    await asyncio.gather(*(asyncio.create_task(event.wait()) for _ in range(3)))


@pytest.mark.parametrize(
    "main",
    [
        *(awaits_one, awaits_each_later, gathers_each_later, waits_for_one),
        *(asks_each_for_its_result, awaits_what_was_gathered_before),
        *(awaits_what_awaits, gathers_with_a_private_wait),
    ],
)
@pytest.mark.parametrize("faults", [CANCEL, [simulate.cancel("all")]], ids=["clients", "all"])
def test_what_awaits_a_task_that_is_struck_ends_early(main: Main, faults: Any) -> None:
    report = simulate.explore(main, runs=150, faults=faults)
    assert report.failure is None
    assert report.cut_short > 0


async def cancels_and_awaits() -> None:
    task = asyncio.create_task(rest())
    await asyncio.sleep(0)
    task.cancel()
    await task


async def raises_it() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("main", [cancels_and_awaits, raises_it])
def test_a_test_that_nothing_struck_fails_with_its_own_cancellation(main: Main) -> None:
    report = simulate.explore(main, runs=20, faults=CANCEL, check=False)
    assert report.failure is not None
    assert isinstance(report.failure.error, asyncio.CancelledError)
    assert report.cut_short == 0


def test_a_worker_whose_future_the_program_cancels_is_no_failure() -> None:
    async def main() -> None:
        stop = asyncio.get_running_loop().create_future()

        async def work() -> None:
            await stop

        worker = asyncio.create_task(work(), name="worker")
        await asyncio.sleep(1)
        stop.cancel()
        await asyncio.wait([worker])

    assert simulate.explore(main, runs=50, faults=[simulate.stall()]).failure is None

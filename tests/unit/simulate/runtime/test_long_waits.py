"""A wait that only its time-out ends is told in the calm phase, if what was waited for was there; nothing else is."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

import pytest

from ordeal import ChaosTest, Explorer, rule, simulate

TOOLS = range(6)


class Pool:
    """Has one place, and wakes who waits for it."""

    def __init__(self) -> None:
        self.free = 1
        self.waiting: list[asyncio.Future[None]] = []

    async def acquire(self) -> None:
        while not self.free:
            turn = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            await turn
        self.free -= 1

    def release(self) -> None:
        self.free += 1
        for turn in self.waiting:
            if not turn.done():
                turn.set_result(None)
        self.waiting.clear()


class ForgetfulPool(Pool):
    """Wakes nobody."""

    def release(self) -> None:
        self.free += 1


async def patiently(call: Callable[[], Coroutine[Any, Any, Any]], pause: float = 0.2) -> None:
    while True:
        try:
            async with asyncio.timeout(2):
                await call()
                return
        except TimeoutError:
            await asyncio.sleep(pause)


class UseChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world(clients=2, settle=60)
    make: ClassVar[type[Pool]] = ForgetfulPool

    def __init__(self) -> None:
        super().__init__()
        self.pool = self.make()

    @rule()  # type: ignore[arg-type]
    async def use(self) -> None:
        await patiently(self.pool.acquire)
        await asyncio.sleep(1)
        self.pool.release()


class CarefulChaos(UseChaos):
    make = Pool


class LateReleaseChaos(CarefulChaos):
    """A place is free again by a timer, between the time-out and the next attempt."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    @rule()  # type: ignore[arg-type]
    async def take_over(self) -> None:
        await self.pool.acquire() if self.pool.free else None
        asyncio.get_running_loop().call_later(2.1, self.pool.release)
        await patiently(self.pool.acquire)


class PollingChaos(CarefulChaos):
    """Nothing is there until a timer puts it there, which wakes who waits."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    @rule()  # type: ignore[arg-type]
    async def poll(self) -> None:
        queue: asyncio.Queue[str] = asyncio.Queue()
        asyncio.get_running_loop().call_later(7, queue.put_nowait, "item")
        await patiently(queue.get)


class LimiterChaos(CarefulChaos):
    """Lets through when enough time has passed."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    async def pass_limit(self, until: float) -> None:
        left = until - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    @rule()  # type: ignore[arg-type]
    async def limited(self) -> None:
        until = asyncio.get_running_loop().time() + 2.1
        await patiently(lambda: self.pass_limit(until))


class OtherServerChaos(CarefulChaos):
    """The first attempt asks who does not answer, and the next one somebody else."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    async def ask(self, name: str) -> None:
        if name == "dead":
            await asyncio.get_running_loop().create_future()

    @rule()  # type: ignore[arg-type]
    async def ask_both(self) -> None:
        names = iter(["dead", "living"])
        await patiently(lambda: self.ask(next(names)))


class TwoPlacesChaos(CarefulChaos):
    """Gives back the first of two places when the second does not come, and takes the first again."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    async def both(self, other: Pool) -> None:
        await self.pool.acquire()
        try:
            await other.acquire()
        finally:
            self.pool.release()

    @rule()  # type: ignore[arg-type]
    async def take_two(self) -> None:
        other = Pool()
        await other.acquire()
        asyncio.get_running_loop().call_later(5, other.release)
        await patiently(lambda: self.both(other))


class GivingUpChaos(CarefulChaos):
    """Takes a time-out for an answer."""

    async def use(self) -> None:  # type: ignore[override]
        pass

    @rule()  # type: ignore[arg-type]
    async def wait(self) -> None:
        try:
            async with asyncio.timeout(2):
                await asyncio.Event().wait()
        except TimeoutError:
            pass


def test_a_wait_that_only_its_time_out_ends_is_told() -> None:
    # Of twenty seeds, sixteen find it in so few runs.
    result = Explorer(UseChaos, seed=4).run(max_runs=60, steps_per_run=4)
    (failure,) = result.failures
    assert isinstance(failure.error, simulate.LongWait)
    assert "`Pool.acquire` went through at once, for which UseChaos.use" in str(failure.error)
    assert "nothing else ran in between, so nobody had woken it" in str(failure.error)
    assert failure.trace is not None
    assert len(failure.trace.steps) == 2


@pytest.mark.parametrize(
    "machine",
    [CarefulChaos, LateReleaseChaos, PollingChaos, LimiterChaos, OtherServerChaos, TwoPlacesChaos, GivingUpChaos],
)
def test_other_waits_are_not(machine: type[ChaosTest]) -> None:
    before = [sys.monitoring.get_tool(each) for each in TOOLS]
    result = Explorer(machine, seed=1).run(max_runs=40, steps_per_run=4)
    assert not result.failures
    assert [sys.monitoring.get_tool(each) for each in TOOLS] == before

"""anyio: tasks that wait at a condition, are notified and are cancelled, in simulated time."""

import asyncio

import anyio

from ordeal import ChaosTest, rule
from trophies.trophy import Trophy

# anyio needs idna; no other package is used.
REQUIREMENTS, MODULES = "anyio==4.16.0 idna==3.20", ["anyio"]


class Conditions(ChaosTest):
    """Waiters that take what a producer puts down. Each step takes a moment, and what was begun goes on beside it."""

    simulated = True

    def __init__(self):
        super().__init__()
        self.condition = None
        self.items = 0
        self.waiting = []
        self.producing = []

    async def take(self):
        async with self.condition:
            while not self.items:
                await self.condition.wait()
            self.items -= 1

    async def put(self):
        async with self.condition:
            self.items += 1
            self.condition.notify(1)
            await asyncio.sleep(0.010)

    @rule()
    async def begin_to_take(self):
        self.condition = self.condition or anyio.Condition()
        self.waiting.append(asyncio.create_task(self.take()))
        await asyncio.sleep(0.001)

    @rule()
    async def begin_to_put(self):
        self.condition = self.condition or anyio.Condition()
        self.producing.append(asyncio.create_task(self.put()))
        await asyncio.sleep(0.001)

    @rule()
    async def cancel_the_first(self):
        if self.waiting:
            first = self.waiting.pop(0)
            first.cancel()
            await asyncio.wait([first])
            assert first.cancelled() or not first.exception(), f"a cancelled waiter ends with {first.exception()!r}"


def anyio_condition():
    async def take(items, condition):
        async with condition:
            while not items:
                await condition.wait()
            items.pop()

    async def main():
        items, condition = [], anyio.Condition()
        waiter = asyncio.create_task(take(items, condition))
        await asyncio.sleep(0.01)
        async with condition:
            items.append(1)
            condition.notify()
            await asyncio.sleep(0.01)  # the waiter was notified, and waits for the lock
            waiter.cancel()
        await waiter  # it should be cancelled: "The current task is not holding this lock"

    asyncio.run(main())


TROPHIES = [
    Trophy(
        "anyio_condition",
        "a waiter at a Condition that is cancelled by asyncio after it was notified ends with RuntimeError, and its "
        "notification is lost",
        "A task that is cancelled ends with CancelledError, and a condition wakes another waiter in its place.",
        Conditions,
        "not holding this lock",
        anyio_condition,
        ends="RuntimeError: The current task is not holding this lock",
        known="pull request 1075 is near",
    )
]

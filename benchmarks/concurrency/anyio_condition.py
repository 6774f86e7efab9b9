"""Consumers at a condition, of which one is cancelled (anyio PR 1075): what was put stays while somebody waits."""

import asyncio
import contextlib

import anyio


async def main():
    condition = anyio.Condition()
    items = []

    async def consume():
        # Another matter, and in newer releases as well: asyncio's own cancellation reaches what anyio shields, and the
        # lock is not held when the block ends.
        with contextlib.suppress(RuntimeError):
            async with condition:
                while not items:
                    await condition.wait()
                items.pop()

    consumers = [asyncio.create_task(consume()) for _ in range(2)]
    await asyncio.sleep(0.1)
    async with condition:
        items.append("item")
        condition.notify(1)
    await asyncio.wait(consumers, timeout=10)
    waiting = [task for task in consumers if not task.done()]
    stuck = bool(items and waiting)
    for task in waiting:
        task.cancel()
    assert not stuck, "an item is there, and a consumer waits"

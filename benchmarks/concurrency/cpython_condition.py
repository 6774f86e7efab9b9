"""Consumers that wait on asyncio's own condition, any of whom may be cancelled (gh-112202, repaired in Python 3.13).

A notification is lost to one who is cancelled before its turn.
"""

import asyncio

from ordeal import simulate

FAULTS = (simulate.cancel("consume*"),)


async def main():
    condition, items = asyncio.Condition(), []

    async def consume():
        async with condition:
            while not items:
                await condition.wait()
            items.pop()

    async def produce():
        await asyncio.sleep(0.1)
        async with condition:
            items.append("item")
            condition.notify()

    consumers = [asyncio.create_task(consume()) for _ in range(2)]
    await asyncio.wait([asyncio.create_task(produce())])
    await asyncio.sleep(1)
    waiting = [consumer for consumer in consumers if not consumer.done()]
    assert not (items and waiting), f"{len(items)} lie there, and {len(waiting)} wait"
    for consumer in waiting:
        consumer.cancel()

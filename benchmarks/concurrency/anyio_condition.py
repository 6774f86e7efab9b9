"""Takers that wait on a condition, each for some time (anyio #1075): a notification is lost to one whose time ends."""

import anyio

FAULTS = ()


async def main():
    condition, items, waiting = anyio.Condition(), [], set()

    async def take(number, patience):
        with anyio.move_on_after(patience):
            async with condition:
                waiting.add(number)
                while not items:
                    await condition.wait()
                items.pop()
        waiting.discard(number)

    async with anyio.create_task_group() as takers:
        takers.start_soon(take, 0, 0.02)
        takers.start_soon(take, 1, 5)
        await anyio.sleep(0.019)
        async with condition:
            items.append("item")
            condition.notify()
        await anyio.sleep(1)
        assert not (items and waiting), f"{len(items)} lie there, and {len(waiting)} wait"
        takers.cancel_scope.cancel()

"""What a node held back while it stood still runs before what comes later, in the order in which it was asked for."""

from __future__ import annotations

import asyncio
import contextvars

from ordeal import simulate


def test_what_was_held_back_runs_before_what_was_asked_for_later() -> None:
    contexts, order = list[contextvars.Context](), list[int]()

    async def main(world: simulate.World) -> None:
        async def stand_by() -> None:
            contexts.append(contextvars.copy_context())

        node = world.node("node", stand_by)
        await asyncio.sleep(1)
        loop = asyncio.get_running_loop()

        def ask(*numbers: int) -> None:
            for number in numbers:
                loop.call_soon(order.append, number, context=contexts[0])

        node.pause()
        ask(1, 2)
        never = loop.call_soon(order.append, 0, context=contexts[0])
        await asyncio.sleep(1)
        never.cancel()
        loop.call_soon(node.resume)
        ask(3)
        loop.call_soon(ask, 5)
        ask(4)
        await asyncio.sleep(1)
        assert order == [1, 2, 3, 4, 5]
        # The same when it stands still again before all of it has run.
        node.pause()
        ask(6, 7)
        await asyncio.sleep(1)
        loop.call_soon(node.resume)
        ask(8)
        loop.call_soon(node.pause)
        loop.call_soon(node.resume)
        ask(9)
        await asyncio.sleep(1)
        assert order == [1, 2, 3, 4, 5, 6, 7, 8, 9]

    simulate.run(main)

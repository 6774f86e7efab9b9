"""A pool that loses a waiter's turn when it is cancelled after its wake-up, and one that passes it on."""

from __future__ import annotations

import asyncio


class LosingPool:
    def __init__(self, size: int) -> None:
        self.free = size
        self.waiting: list[asyncio.Future[None]] = []

    async def acquire(self) -> None:
        if self.free:
            self.free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        await self.wait_for(turn)

    async def wait_for(self, turn: asyncio.Future[None]) -> None:
        await turn

    def release(self) -> None:
        while self.waiting:
            turn = self.waiting.pop(0)
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


class CarefulPool(LosingPool):
    async def wait_for(self, turn: asyncio.Future[None]) -> None:
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise


async def use(pool: LosingPool) -> None:
    await pool.acquire()
    try:
        await asyncio.sleep(0.1)
    finally:
        pool.release()


async def three_users(pool: LosingPool) -> None:
    users = [asyncio.create_task(use(pool)) for _ in range(3)]
    await asyncio.wait(users)
    await use(pool)


async def lose() -> None:
    await three_users(LosingPool(1))


async def keep() -> None:
    await three_users(CarefulPool(1))

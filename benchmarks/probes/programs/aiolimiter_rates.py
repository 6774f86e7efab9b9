"""aiolimiter lets through ten calls a second."""

import asyncio

from aiolimiter import AsyncLimiter


async def main():
    limiter = AsyncLimiter(10, 1)
    loop = asyncio.get_running_loop()
    times = []

    async def call():
        async with limiter:
            times.append(loop.time())

    await asyncio.gather(*(call() for _ in range(30)))
    assert 1.9 <= times[-1] - times[0] <= 30, times

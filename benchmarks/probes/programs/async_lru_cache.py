"""async-lru: calls that share one result, a time to live, and clearing."""

import asyncio

from async_lru import alru_cache


async def main():
    calls = []

    @alru_cache(maxsize=4, ttl=60)
    async def square(number):
        calls.append(number)
        await asyncio.sleep(1)
        return number * number

    assert await asyncio.gather(*(square(3) for _ in range(5))) == [9] * 5
    assert calls == [3]
    await asyncio.sleep(61)
    assert await square(3) == 9
    assert calls == [3, 3]
    square.cache_clear()
    await square(3)
    await square.cache_close()

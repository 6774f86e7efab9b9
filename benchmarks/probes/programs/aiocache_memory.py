"""aiocache in memory: values that expire, a decorator, and a lock against a stampede."""

import asyncio

from aiocache import SimpleMemoryCache, cached_stampede
from aiocache.lock import RedLock


async def main():
    cache = SimpleMemoryCache()
    await cache.set("key", "value", ttl=10)
    assert await cache.get("key") == "value"
    await asyncio.sleep(11)
    assert await cache.get("key") is None
    calls = []

    @cached_stampede(lease=5, ttl=60, cache=SimpleMemoryCache)
    async def load(name):
        calls.append(name)
        await asyncio.sleep(1)
        return name.upper()

    assert await asyncio.gather(*(load("ada") for _ in range(3))) == ["ADA"] * 3
    assert calls == ["ada"]
    async with RedLock(cache, "lock", lease=5):
        pass

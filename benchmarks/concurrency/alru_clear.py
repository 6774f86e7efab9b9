"""A cache that is cleared while calls are under way (async-lru #503): callers wait for ever."""

import asyncio

from async_lru import alru_cache


async def main():
    @alru_cache(maxsize=8)
    async def load(key):
        await asyncio.sleep(0.01)
        return key.upper()

    async def read():
        for key in "ab":
            assert await load(key) == key.upper()

    async def refresh():
        await asyncio.sleep(0.01)
        load.cache_clear()

    await asyncio.gather(read(), read(), refresh())

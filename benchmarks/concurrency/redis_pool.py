"""Requests on a pool of one connection, some of which are cancelled (redis-py #2624): the next gets an old reply."""

import asyncio

import redis.asyncio as redis
from probes.small_redis import serve


async def main(world):
    world.node("db", serve)
    await asyncio.sleep(1)
    client = redis.Redis(connection_pool=redis.BlockingConnectionPool(host="db", max_connections=1, timeout=None))
    for key in "abc":
        await client.set(key, key)

    async def ask(key):
        reply = await client.get(key)
        assert reply == key.encode(), f"asked for {key}, and got {reply!r}"

    for key in "abcabc":
        asking = asyncio.create_task(ask(key))
        await asyncio.wait([asking])
        if not asking.cancelled():
            await asking
    await client.close()
    await client.connection_pool.disconnect()

"""Pipelines on a pool of one connection, some cancelled (redis-py #2665): one gets the replies to another."""

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
        async with client.pipeline(transaction=False) as pipeline:
            replies = await pipeline.get(key).get(key).execute()
        assert replies == [key.encode()] * 2, f"asked for {key}, and got {replies!r}"

    for key in "abcabc":
        asking = asyncio.create_task(ask(key))
        await asyncio.wait([asking])
        if not asking.cancelled():
            await asking
    await client.close()
    await client.connection_pool.disconnect()

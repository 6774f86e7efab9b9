"""redis-py with a pool, a pipeline and a blocking pop, against a small server."""

import asyncio

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from probes.small_redis import serve


async def main(world):
    world.node("db", serve)
    await asyncio.sleep(10)
    client = redis.Redis(host="db", port=6379, protocol=2, max_connections=4, retry=Retry(NoBackoff(), 2))

    async def put_and_get(number):
        await client.set(f"key{number}", number)
        return int(await client.get(f"key{number}"))

    assert await asyncio.gather(*map(put_and_get, range(4))) == [0, 1, 2, 3]
    async with client.pipeline(transaction=True) as pipe:
        replies = await pipe.set("a", 1).incr("a").get("a").execute()
        assert replies == [True, 2, b"2"], replies
    waiting = asyncio.create_task(client.blpop(["jobs"], timeout=10))
    await asyncio.sleep(1)
    await client.rpush("jobs", "job")
    assert await waiting == (b"jobs", b"job")
    await client.aclose()

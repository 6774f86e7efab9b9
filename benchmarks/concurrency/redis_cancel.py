"""Requests on one pool, some of which are cancelled (redis-py #2624): a request gets the reply to another."""

import asyncio

import redis.asyncio as redis
from probes.small_redis import serve


async def main(world):
    world.node("db", serve)
    await asyncio.sleep(1)
    client = redis.Redis(host="db", max_connections=1, single_connection_client=True)
    for key in "abc":
        await client.set(key, key)

    async def ask(key):
        reply = await client.get(key)
        assert reply == key.encode(), f"asked for {key}, and got {reply!r}"

    asking = [asyncio.create_task(ask(key)) for key in "abc"]
    await asyncio.wait(asking)
    for task in asking:
        if not task.cancelled():
            task.exception()
    for key in "abc":
        await ask(key)
    await client.close()

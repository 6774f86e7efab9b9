"""saq: a worker on a node of its own, and jobs; the server is that of fakeredis, with its scripts in Lua."""

import asyncio

from fakeredis import FakeAsyncRedis, FakeServer
from saq import Worker
from saq.queue.redis import RedisQueue


async def double(_context, *, number):
    await asyncio.sleep(0.1)
    return number * 2


async def work(server):
    queue = RedisQueue(FakeAsyncRedis(server=server))
    await Worker(queue, functions=[double], concurrency=2).start()


async def main(world):
    server = FakeServer()
    world.node("worker", work, server)
    queue = RedisQueue(FakeAsyncRedis(server=server))
    await queue.connect()
    assert await queue.map("double", [{"number": number} for number in range(3)], timeout=30) == [0, 2, 4]
    await queue.disconnect()

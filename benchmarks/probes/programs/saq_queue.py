"""saq: a worker on a separate node, and jobs; the server is that of fakeredis, with its scripts in Lua."""

import asyncio

from fakeredis import FakeAsyncRedis, FakeServer
from saq import Worker
from saq.queue.redis import RedisQueue


class Queue(RedisQueue):
    """A queue of a server without BLMOVE, which fakeredis answers with an error."""

    async def version(self):
        return 6, 0, 0


async def double(_context, *, number):
    await asyncio.sleep(0.1)
    return number * 2


async def work(server):
    await Worker(Queue(FakeAsyncRedis(server=server)), functions=[double], concurrency=2).start()


async def main(world):
    server = FakeServer()
    world.node("worker", work, server)
    queue = Queue(FakeAsyncRedis(server=server))
    await queue.connect()
    assert await queue.map("double", [{"number": number} for number in range(3)], timeout=300) == [0, 2, 4]
    await queue.disconnect()

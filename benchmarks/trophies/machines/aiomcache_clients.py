"""aiomcache: clients of memcached that are cancelled while they wait, in simulated time."""

import asyncio

import aiomcache

from ordeal import ChaosTest, rule
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "aiomcache==0.8.2", ["aiomcache"]


class Memcached:
    """The other end of a connection: each key holds itself, and each answer takes a moment."""

    def __init__(self):
        self.reader = asyncio.StreamReader()

    def write(self, data):
        if data.startswith(b"get "):
            key = data.split()[1]
            answer = b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(key), key)
            asyncio.get_running_loop().call_later(0.010, self.reader.feed_data, answer)

    async def drain(self):
        pass

    def close(self):
        self.reader.feed_eof()


class Clients(ChaosTest):
    """Whoever gets a key gets its value, whatever became of those who asked before."""

    simulated = True

    def __init__(self):
        super().__init__()
        self.client = None
        self.waiting = []

    async def get(self, key):
        value = await self.client.get(key)
        assert value == key, f"the value of {key} is {value}"

    @rule()
    async def ask(self):
        if self.client is None:
            self.client = aiomcache.Client("cache", pool_size=1)

            async def connected():
                end = Memcached()
                return aiomcache.pool.Connection(end.reader, end)

            self.client._pool._create_new_conn = connected
        self.waiting.append(asyncio.create_task(self.get(b"abcdefgh"[len(self.waiting) % 8 :][:1])))
        await asyncio.sleep(0.001)

    @rule()
    async def cancel(self):
        if self.waiting:
            self.waiting[-1].cancel()
            await asyncio.sleep(0.001)

    @rule()
    async def wait(self):
        for each in self.waiting:
            await asyncio.wait([each])
            if not each.cancelled():
                each.result()


def replies():
    async def answer(reader, writer):
        while line := await reader.readline():
            key = line.split()[1]
            await asyncio.sleep(0.1)
            writer.write(b"VALUE %s 0 1\r\n%s\r\nEND\r\n" % (key, key))  # each key holds itself
        writer.close()

    async def main():
        server = await asyncio.start_server(answer, "127.0.0.1")
        host, port = server.sockets[0].getsockname()
        client = aiomcache.Client(host, port, pool_size=1)
        first = asyncio.create_task(client.get(b"a"))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0)
        assert await client.get(b"b") is None  # expected b"b": this was the answer about "a"
        await client.close()
        await asyncio.sleep(0.2)  # the server ends
        server.close()

    asyncio.run(main())


TROPHIES = [
    Trophy(
        "aiomcache_replies",
        "a client that is cancelled while it waits leaves its answer to the next one on the connection",
        "Whoever asks for a key gets the value of that key.",
        Clients,
        "the value of",
        replies,
    ),
]

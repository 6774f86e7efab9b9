"""Clients of memcached that are cancelled: the next one on the connection gets the answer that was meant for them."""

import asyncio

import aiomcache

from ordeal import simulate

FAULTS = (simulate.cancel(),)


async def memcached():
    values = {}

    async def answer(reader, writer):
        while line := await reader.readline():
            words = line.split()
            if words[0] == b"get":
                found = values.get(words[1])
                if found is not None:
                    writer.write(b"VALUE %s 0 %d\r\n%s\r\n" % (words[1], len(found), found))
                writer.write(b"END\r\n")
            else:
                values[words[1]] = (await reader.readexactly(int(words[4]) + 2))[:-2]
                writer.write(b"STORED\r\n")
        writer.close()

    await asyncio.start_server(answer, port=11211)


async def main(world):
    world.node("cache", memcached)
    client = aiomcache.Client("cache", pool_size=2)

    async def put_and_get(key):
        await client.set(key, key * 3)
        assert await client.get(key) == key * 3

    users = [asyncio.create_task(put_and_get(key)) for key in (b"a", b"b", b"c", b"d")]
    done, _ = await asyncio.wait(users)
    for user in done:
        if not user.cancelled():
            user.result()
    await client.close()

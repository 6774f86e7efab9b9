"""A server and two clients of websockets: what one says, both hear."""

import asyncio

from websockets.asyncio.client import connect
from websockets.asyncio.server import broadcast, serve


async def chat():
    clients = set()

    async def handle(connection):
        clients.add(connection)
        try:
            async for message in connection:
                broadcast(clients, message)
        finally:
            clients.discard(connection)

    async with serve(handle, port=80) as server:
        await server.serve_forever()


async def main(world):
    world.node("server", chat)
    await asyncio.sleep(10)
    async with connect("ws://server/") as one, connect("ws://server/") as other:
        await asyncio.sleep(0.1)
        await one.send("hello")
        assert await one.recv() == "hello"
        assert await other.recv() == "hello"
        await asyncio.sleep(120)  # with its pings
        await other.send("bye")
        assert await one.recv() == "bye"

"""Requests on a pool of one connection, some of which are cancelled (httpcore #880): later ones wait for ever."""

import asyncio

import httpcore


async def answer(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(0.01)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    except asyncio.IncompleteReadError:
        writer.close()


async def serve():
    server = await asyncio.start_server(answer, port=80)
    await server.serve_forever()


async def main(world):
    world.node("web", serve)
    await asyncio.sleep(1)
    async with httpcore.AsyncConnectionPool(max_connections=1) as pool:

        async def ask():
            response = await pool.request("GET", "http://web/", extensions={"timeout": {"pool": 30}})
            assert response.content == b"ok"

        asking = [asyncio.create_task(ask()) for _ in range(3)]
        await asyncio.wait(asking)
        for task in asking:
            if not task.cancelled():
                task.exception()  # who is cancelled while it connects may get an error of anyio
        await ask()

"""A server and a client of aiohttp over TLS."""

import asyncio

import aiohttp
from aiohttp import web

from probes.certificate import client_context, server_context


async def hello(_request):
    return web.Response(text="hello")


async def serve():
    app = web.Application()
    app.add_routes([web.get("/", hello)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, port=443, ssl_context=server_context()).start()
    await asyncio.Event().wait()


async def main(world):
    world.node("server", serve)
    await asyncio.sleep(10)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=client_context())) as session:
        for _ in range(3):
            async with session.get("https://server/") as response:
                assert await response.text() == "hello"

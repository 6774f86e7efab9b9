"""A server and a client of aiohttp: keep-alive, a pool of two connections, a streamed body and a web socket."""

import asyncio

import aiohttp
from aiohttp import web


async def hello(request):
    await asyncio.sleep(0.01)
    return web.json_response({"hello": request.match_info["name"]})


async def numbers(request):
    response = web.StreamResponse()
    await response.prepare(request)
    for number in range(5):
        await response.write(f"{number}\n".encode())
        await asyncio.sleep(0.001)
    return response


async def echo(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data.upper())
    return socket


async def serve():
    app = web.Application()
    app.add_routes([web.get("/hello/{name}", hello), web.get("/numbers", numbers), web.get("/echo", echo)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, port=80).start()
    await asyncio.Event().wait()


async def main(world):
    world.node("server", serve)
    await asyncio.sleep(10)
    connector = aiohttp.TCPConnector(limit=2)
    async with aiohttp.ClientSession("http://server", connector=connector) as session:

        async def get(name):
            async with session.get(f"/hello/{name}") as response:
                return (await response.json())["hello"]

        assert await asyncio.gather(*map(get, "abcdef")) == list("abcdef")
        async with session.get("/numbers") as response:
            assert await response.text() == "0\n1\n2\n3\n4\n"
        async with session.ws_connect("/echo") as socket:
            await socket.send_str("ada")
            assert await socket.receive_str() == "ADA"

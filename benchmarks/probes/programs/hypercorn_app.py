"""hypercorn with a small ASGI app, asked over plain streams."""

import asyncio

from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": f"{event['type']}.complete"})
            if event["type"] == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


async def serve():
    config = Config()
    config.bind = ["0.0.0.0:80"]
    config.errorlog = None
    await hypercorn_serve(app, config)


async def main(world):
    world.node("server", serve)
    await asyncio.sleep(10)
    reader, writer = await asyncio.open_connection("server", 80)
    for _ in range(2):
        writer.write(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert await reader.readexactly(5) == b"hello"
    writer.close()

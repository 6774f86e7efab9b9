"""uvicorn with starlette, asked over plain streams, and ended by SIGTERM."""

import asyncio
import signal

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


async def hello(request):
    await asyncio.sleep(0.01)
    return JSONResponse({"hello": request.path_params["name"]})


async def serve(port, certificate=None, key=None):
    app = Starlette(routes=[Route("/hello/{name}", hello)])
    options = {"http": "h11", "loop": "asyncio", "log_level": "error", "lifespan": "on", "timeout_keep_alive": 30}
    config = uvicorn.Config(app, "0.0.0.0", port, ssl_certfile=certificate, ssl_keyfile=key, **options)
    await uvicorn.Server(config).serve()


async def main(world):
    server = world.node("server", serve, 80)
    await asyncio.sleep(10)
    reader, writer = await asyncio.open_connection("server", 80)
    for name in (b"a", b"b"):
        writer.write(b"GET /hello/" + name + b" HTTP/1.1\r\nHost: server\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK")
        assert await reader.readexactly(13) == b'{"hello":"' + name + b'"}'
    writer.close()
    server.send_signal(signal.SIGTERM)
    await world.until(lambda: not server.is_up)

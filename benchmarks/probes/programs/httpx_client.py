"""httpx and httpcore with a pool of two connections and keep-alive, against uvicorn with starlette."""

import asyncio

import httpx

from probes.programs.uvicorn_starlette import serve


async def main(world):
    server = world.node("server", serve, 80)
    await asyncio.sleep(10)
    limits = httpx.Limits(max_connections=2, max_keepalive_connections=2, keepalive_expiry=5)
    # Stalls and late packets may add up to more than the usual five seconds.
    async with httpx.AsyncClient(base_url="http://server", limits=limits, timeout=300) as client:

        async def get(name):
            return (await client.get(f"/hello/{name}")).json()["hello"]

        assert await asyncio.gather(*map(get, "abcdef")) == list("abcdef")
        assert await get("again") == "again"
        # What has been idle for too long is closed, and another connection is made.
        await asyncio.sleep(60)
        assert await get("later") == "later"
    assert server.is_up

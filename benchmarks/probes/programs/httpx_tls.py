"""httpx over TLS against uvicorn with starlette."""

import asyncio

import httpx

from probes.certificate import client_context, paths
from probes.programs.uvicorn_starlette import serve


async def main(world):
    certificate, key = paths()
    world.node("server", serve, 443, certificate, key)
    await asyncio.sleep(10)
    async with httpx.AsyncClient(base_url="https://server", verify=client_context()) as client:
        for name in "abc":
            assert (await client.get(f"/hello/{name}")).json() == {"hello": name}

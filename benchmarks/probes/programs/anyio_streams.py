"""anyio on its asyncio backend: task groups, streams, TCP, TLS and cancel scopes."""

import anyio
from anyio.streams.tls import TLSListener

from probes.certificate import client_context, server_context


async def handle(client):
    async with client:
        async for data in client:
            await client.send(data.upper())


async def serve():
    plain = await anyio.create_tcp_listener(local_port=80)
    secure = TLSListener(await anyio.create_tcp_listener(local_port=443), server_context())
    async with anyio.create_task_group() as group:
        group.start_soon(plain.serve, handle)
        group.start_soon(secure.serve, handle)


async def main(world):
    world.node("server", serve)
    await anyio.sleep(10)
    for port, context in ((80, None), (443, client_context())):
        async with await anyio.connect_tcp("server", port, ssl_context=context, tls=context is not None) as stream:
            await stream.send(b"ada")
            with anyio.fail_after(5):
                received = b""
                while len(received) < 3:
                    received += await stream.receive()
            assert received == b"ADA", received
    send, receive = anyio.create_memory_object_stream(2)
    async with anyio.create_task_group() as group:

        async def produce():
            async with send:
                for number in range(5):
                    await send.send(number)

        group.start_soon(produce)
        assert [number async for number in receive] == [0, 1, 2, 3, 4]
    with anyio.move_on_after(1) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught

"""Each question gets its own answer, and no place in the pool is lost, whatever is cancelled, reset, late or down."""

import asyncio
import random

from connection_pool import PORT, Pool

from ordeal import simulate

FAULTS = [
    *(simulate.cancel(), simulate.crash(longest=3), simulate.reset()),
    *(simulate.partition(longest=5), simulate.latency(3)),
]


class Server:
    """Answers in capital letters, after some time."""

    def __init__(self) -> None:
        self.connected = 0

    async def serve(self) -> None:
        await asyncio.start_server(self.answer, port=PORT)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        try:
            while line := await reader.readline():
                await asyncio.sleep(0.1)
                writer.write(line.upper())
        except ConnectionError:
            pass
        finally:
            self.connected -= 1
            writer.close()


async def server(servers: list[Server]) -> None:
    servers.append(Server())
    await servers[-1].serve()


async def ask(pool: Pool, question: str) -> None:
    async with pool.connection() as connection, asyncio.timeout(2):
        answer = await connection.ask(question)
    assert answer == question.upper(), f"asked {question}, and got {answer}"


async def questions(world: simulate.World) -> None:
    servers: list[Server] = []
    world.node("server", server, servers)
    size = random.randint(1, 2)
    pool = Pool("server", size)
    world.always("no more connections than the pool may have", lambda: pool.places <= size)

    async def user(question: str) -> None:
        while True:
            try:
                return await ask(pool, question)
            except (OSError, TimeoutError):
                await asyncio.sleep(0.2)

    for number in range(4):
        users = [asyncio.create_task(user(f"{name}{number}")) for name in "abcd"]
        await asyncio.wait(users)
        for each in users:
            if not each.cancelled():
                await each
    await world.eventually("the server is up", lambda: world["server"].is_up)
    # This shows which connections the server has lost without a word.
    await asyncio.gather(*(user(f"again{number}") for number in range(size)))
    # Nobody asks while the server is restarted; then the whole pool is there, and each of its connections works.
    world["server"].restart()
    await asyncio.sleep(1)
    await asyncio.gather(*(ask(pool, f"end{number}") for number in range(size)))
    last = asyncio.create_task(ask(pool, "last"))
    await asyncio.sleep(0.05)
    pool.close()
    await last
    await world.eventually("the server has no connections", lambda: servers[-1].connected == 0)
    assert pool.places == 0


@simulate.test(faults=FAULTS, runs=200)
async def test_questions(world: simulate.World) -> None:
    await questions(world)

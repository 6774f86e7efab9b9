"""Programs whose bug shows in a few runs: the two of the guide to async programs."""

import asyncio

from ordeal import simulate


class Pool:
    """Connections; who finds none free waits for a turn, and loses it when it is cancelled in its wake-up."""

    def __init__(self, size: int) -> None:
        self.free = size
        self.waiting: list[asyncio.Future[None]] = []

    async def acquire(self) -> None:
        """Wait for a connection."""
        if self.free:
            self.free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        await turn

    def release(self) -> None:
        """Give the connection to who waits, or back."""
        while self.waiting:
            turn = self.waiting.pop(0)
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


async def _use(pool: Pool) -> None:
    await pool.acquire()
    try:
        await asyncio.sleep(0.1)
    finally:
        pool.release()


async def pool() -> None:
    """Three users, any of which may be cancelled, and then one more."""
    shared = Pool(1)
    await asyncio.wait([asyncio.create_task(_use(shared)) for _ in range(3)])
    await _use(shared)


async def greeting() -> None:
    """A server that takes what arrived first for the whole line."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello " + await reader.read(100))
        writer.close()

    server = await asyncio.start_server(greet, "localhost", 8000)
    reader, writer = await asyncio.open_connection("localhost", 8000)
    writer.write(b"Ada\n")
    assert await reader.readline() == b"hello Ada\n"
    writer.close()
    server.close()


#: Each with what may happen to it.
SHALLOW = {pool: [simulate.cancel()], greeting: ()}

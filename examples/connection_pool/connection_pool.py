"""A pool of connections: a limited number to one server, each used by one task at a time, and by others later."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

PORT = 5432


class Connection:
    """A connection on which one question is asked after another."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.is_asking = False

    async def ask(self, question: str) -> str:
        self.is_asking = True
        self.writer.write(f"{question}\n".encode())
        answer = await self.reader.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionError("the server has hung up")
        self.is_asking = False
        return answer.decode().strip()

    @property
    def is_usable(self) -> bool:
        """Whether the next answer will be to the next question: none is under way, and the server is there."""
        return not self.is_asking and not self.reader.at_eof() and self.reader.exception() is None

    def close(self) -> None:
        self.writer.close()


class Pool:
    """The connections to one server."""

    def __init__(self, host: str, size: int) -> None:
        self.host = host
        self.size = size
        self.places = 0  # that are taken: by a connection, or by one that is being made
        self.idle: list[Connection] = []
        self.waiting: deque[asyncio.Future] = deque()
        self.is_closed = False

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        connection = await self.acquire()
        try:
            yield connection
        finally:
            self.release(connection)

    async def acquire(self) -> Connection:
        while True:
            while self.idle:
                connection = self.idle.pop()
                if connection.is_usable:
                    return connection
                self.drop(connection)
            if self.places < self.size:
                return await self.connect()
            await self.turn()

    async def connect(self) -> Connection:
        self.places += 1
        try:
            return Connection(*await asyncio.open_connection(self.host, PORT))
        except BaseException:
            self.places -= 1
            self.wake_next()
            raise

    async def turn(self) -> None:
        """Wait until there may be a connection, or room for one."""
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.wake_next()
            raise

    def wake_next(self) -> None:
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def release(self, connection: Connection) -> None:
        if connection.is_usable and not self.is_closed:
            self.idle.append(connection)
        else:
            self.drop(connection)
        self.wake_next()

    def drop(self, connection: Connection) -> None:
        connection.close()
        self.places -= 1

    def close(self) -> None:
        """Close the connections: those that nobody uses now, and the others when they come back."""
        self.is_closed = True
        while self.idle:
            self.drop(self.idle.pop())

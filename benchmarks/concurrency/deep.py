"""Ten programs whose bug lies deep: several things must go wrong, each after the other, before it shows.

Each is an ordinary program in small, and intact in the plain run.
"""

import asyncio

from ordeal import simulate


class WrongError(Exception):
    """The planted bug of a program showed."""


async def turns() -> None:
    """A token ring skips a member when the same two timers fire in the other order five rounds in a row."""
    for _ in range(5):
        order: list[int] = []

        async def member(number: int, order: list[int] = order) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(member(1), member(2), member(3))
        if order[:2] != [3, 1]:
            return
    raise WrongError("the ring lost a member")


async def split_votes() -> None:
    """An election whose term is kept in two bits: four terms in a row in which each votes for itself."""
    for _term in range(4):
        votes = list[str]()

        async def vote(name: str, after: float, votes: list[str] = votes) -> None:
            await asyncio.sleep(after)
            await asyncio.sleep(0.1)
            votes.append(name)

        await asyncio.gather(*(vote(name, 0.15) for name in "abcd"))
        if votes[0] != "d":
            return
    raise WrongError("a term came twice")


async def last_retry() -> None:
    """A client that tries eight times, each longer than before, and counts the last failure as an answer."""
    loop = asyncio.get_running_loop()
    for attempt in range(8):
        try:
            async with asyncio.timeout(0.005 + attempt * 0.0005):
                await loop.run_in_executor(None, int)
            return
        except TimeoutError:
            await asyncio.sleep(0.1)
    raise WrongError("the last time-out was taken for an answer")


async def leases() -> None:
    """A holder that renews in time unless others keep the loop busy; after the fourth loss in a row there are two."""
    loop = asyncio.get_running_loop()

    async def others() -> None:
        while True:
            await asyncio.sleep(0.03)

    busy = asyncio.create_task(others())
    for losses in range(4):
        began = loop.time()
        await asyncio.sleep(0.095)
        if loop.time() < began + 0.1:
            break
        if losses == 3:
            raise WrongError("two hold the lease")
        await asyncio.sleep(0.5)
    busy.cancel()


async def leaking_permits() -> None:
    """A semaphore of three loses the permit of whom it wakes and who is cancelled: after three, all wait."""
    free = 3
    waiting: list[asyncio.Future[None]] = []

    async def acquire() -> None:
        nonlocal free
        if free:
            free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        await turn

    def release() -> None:
        nonlocal free
        while waiting:
            turn = waiting.pop(0)
            if not turn.done():
                turn.set_result(None)
                return
        free += 1

    async def use(seconds: float) -> None:
        await acquire()
        try:
            await asyncio.sleep(seconds)
        finally:
            release()

    await asyncio.wait([asyncio.create_task(use(0.1 + number / 100)) for number in range(9)])
    await use(0.1)


async def split_headers() -> None:
    """A reader of frames that believes in message borders after it has waited for four headers in a row."""
    waited = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal waited
        in_a_row = 0
        for _ in range(12):
            header = await reader.read(4)
            if len(header) < 4:
                in_a_row += 1
                header += await reader.readexactly(4 - len(header))
            else:
                in_a_row = 0
            waited = max(waited, in_a_row)
            writer.write(b"k")
        writer.close()

    server = await asyncio.start_server(serve, "server", 80)
    reader, writer = await asyncio.open_connection("server", 80)
    for _ in range(12):
        writer.write(b"head")
        await reader.readexactly(1)
    writer.close()
    server.close()
    if waited >= 4:
        raise WrongError("a frame was read twice")


class _Echo(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.got: asyncio.Queue[bytes] = asyncio.Queue()
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.DatagramTransport)
        self.transport = transport

    def datagram_received(self, data: bytes, addr: object) -> None:
        del addr
        self.got.put_nowait(data)


async def lost_datagrams() -> None:
    """A sender that tries each piece six times, and after five losses takes the next piece for the lost one."""
    loop = asyncio.get_running_loop()
    _, receiver = await loop.create_datagram_endpoint(_Echo, local_addr=("127.0.0.1", 9))
    _, sender = await loop.create_datagram_endpoint(_Echo, remote_addr=("127.0.0.1", 9))
    assert sender.transport is not None
    for piece in range(2):
        for attempt in range(6):
            sender.transport.sendto(bytes([piece, attempt]))
            try:
                async with asyncio.timeout(0.05):
                    while (await receiver.got.get())[0] != piece:
                        pass
                break
            except TimeoutError:
                if attempt == 4:
                    raise WrongError("a piece was taken for another") from None


async def commits() -> None:
    """A commit in two phases whose journal has place for five that were cancelled between their votes."""
    log: list[str] = []

    async def coordinate() -> None:
        log.append("begin")
        await asyncio.sleep(0.01)
        log.append("one voted")
        await asyncio.sleep(0.01)
        log.append("commit")

    for halves in range(6):
        task = asyncio.create_task(coordinate())
        await asyncio.wait([task])
        if log[-1:] != ["one voted"]:
            return
        await asyncio.sleep(1)
        if halves == 5:
            raise WrongError("a commit was forgotten")


async def generations() -> None:
    """A cache that fetches again when it was cleared meanwhile; the tenth time it keeps what is old."""
    loop = asyncio.get_running_loop()
    generation = 0

    async def clear() -> None:
        nonlocal generation
        while True:
            await asyncio.sleep(0.1)
            generation += 1

    clearing = asyncio.create_task(clear())
    for stale in range(10):
        await asyncio.sleep(0.06)
        wanted = generation
        await loop.run_in_executor(None, int)
        await asyncio.sleep(0.035)
        if wanted == generation:
            break
        if stale == 9:
            raise WrongError("an old value stayed")
    clearing.cancel()


async def late_pings() -> None:
    """A client that takes its server for gone after three late answers in a row, and then forgets the fourth."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1):
            writer.write(piece)
        writer.close()

    server = await asyncio.start_server(serve, "server", 80)
    for late in range(4):
        reader, writer = await asyncio.open_connection("server", 80)
        await asyncio.sleep(0.1)
        writer.write(b"?")
        try:
            async with asyncio.timeout(0.0125):
                await reader.read(1)
            break
        except TimeoutError:
            await asyncio.sleep(0.1)
        finally:
            writer.close()
        if late == 3:
            raise WrongError("an answer was forgotten")
    server.close()


#: Each with what may happen to it.
DEEP = {
    turns: (),
    split_votes: (),
    last_retry: (),
    leases: (),
    leaking_permits: [simulate.cancel()],
    split_headers: (),
    lost_datagrams: (),
    commits: [simulate.cancel()],
    generations: (),
    late_pings: (),
}

"""Each key behaves as if there were one copy of it, whatever crashes, stands still, is cut off or gets lost."""

import asyncio
from dataclasses import dataclass

from replicated_kv import Client, Replica

from ordeal import simulate

NAMES = ["a", "b", "c"]
FAULTS = [simulate.crash(longest=3), simulate.pause(longest=3), simulate.partition(longest=3)]


@dataclass(frozen=True)
class Operation:
    """What a client did, from when to when."""

    kind: str
    value: str | None
    began: float
    ended: float


def fits_one_copy(operations: frozenset[Operation], value: str | None, known: set | None = None) -> bool:
    """Say whether the operations can be put into an order that one copy, which has a value now, would allow."""
    known = set() if known is None else known
    if not operations:
        return True
    if (operations, value) in known:
        return False
    known.add((operations, value))
    first_end = min(operation.ended for operation in operations)
    for operation in operations:
        is_possible = operation.kind == "put" or operation.value == value
        is_possible = is_possible and operation.began <= first_end
        if is_possible and fits_one_copy(operations - {operation}, operation.value, known):
            return True
    return False


async def connected(name: str) -> Client:
    client = Client(name, NAMES)
    await client.connect()
    return client


async def replica(name: str) -> None:
    await Replica(name).serve()


async def one_copy(world: simulate.World) -> None:
    for name in NAMES:
        world.node(name, replica, name)
        world.link(name, loss=0.5, duplicates=0.5, reordered=0.3)
    operations: list[Operation] = []

    async def write(name: str) -> None:
        client = await connected(name)
        for number in range(3):
            value, began = f"{name}{number}", world.time
            await client.put("key", value)
            operations.append(Operation("put", value, began, world.time))
            await asyncio.sleep(0.1)

    async def read(name: str) -> None:
        client = await connected(name)
        for _ in range(6):
            began = world.time
            value = await client.get("key")
            operations.append(Operation("get", value, began, world.time))
            await asyncio.sleep(0.05)

    users = [asyncio.create_task(use(name)) for use, name in ((write, "w"), (write, "x"), (read, "y"), (read, "z"))]
    await asyncio.sleep(8)
    await world.eventually("all operations have ended", lambda: all(user.done() for user in users), within=30)
    for user in users:
        await user
    assert fits_one_copy(frozenset(operations), None), "no order of the operations is that of one copy"


@simulate.test(faults=FAULTS, runs=200)
async def test_one_copy(world: simulate.World) -> None:
    await one_copy(world)

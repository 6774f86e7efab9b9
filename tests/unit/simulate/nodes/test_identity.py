"""The names, network cards and UUIDs of simulated machines follow from the seed, and differ between machines."""

from __future__ import annotations

import asyncio
import datetime
import platform
import socket
import uuid
from uuid import uuid1

from ordeal import simulate

GREGORIAN = datetime.datetime(1582, 10, 15, tzinfo=datetime.UTC)


def date_of(made: uuid.UUID) -> datetime.datetime:
    return GREGORIAN + datetime.timedelta(microseconds=made.time // 10)


def drawn(seed: int) -> list[object]:
    async def main(world: simulate.World) -> list[object]:
        found: dict[str, list[object]] = {"": [uuid.getnode(), uuid.uuid1(), uuid1()]}

        async def machine(name: str) -> None:
            found[name] = [uuid.getnode(), uuid.uuid1(), uuid1(), uuid.uuid4()]

        for name in "ab":
            world.node(name, machine, name)
        await asyncio.sleep(1)
        return [*found[""], *found["a"], *found["b"]]

    return simulate.run(main, seed=seed)  # type: ignore[no-any-return]


def test_uuids_follow_from_the_seed_and_are_all_different() -> None:
    first, again, other = drawn(7), drawn(7), drawn(8)
    assert first == again
    assert not set(first) & set(other)
    assert len(set(first)) == len(first)


def test_a_uuid_has_the_date_and_the_card_of_its_machine() -> None:
    async def main(world: simulate.World) -> None:
        async def machine() -> None:
            await asyncio.sleep(5)
            made = uuid.uuid1()
            assert (made.version, made.variant) == (1, uuid.RFC_4122)
            assert made.node == uuid.getnode()
            assert date_of(made) == datetime.datetime(2027, 1, 1, 0, 0, 5, tzinfo=datetime.UTC)
            assert uuid.uuid1(node=5, clock_seq=3).node == 5
            assert uuid.uuid1(node=5, clock_seq=3).clock_seq == 3
            assert uuid.uuid1().clock_seq == made.clock_seq

        node = world.node("a", machine)
        node.skew(365 * 86_400)
        await asyncio.sleep(10)

    simulate.run(main)


def test_a_node_has_its_own_name() -> None:
    async def main(world: simulate.World) -> list[str]:
        names = [socket.gethostname()]

        async def machine() -> None:
            names.extend((socket.gethostname(), socket.getfqdn(), socket.getfqdn("api.x")))

        world.node("db", machine)
        await asyncio.sleep(1)
        return names

    assert simulate.run(main) == ["localhost", "db", "db", "api.x"]
    assert socket.gethostname() == platform.node()


def test_outside_of_a_run_they_are_real() -> None:
    real = uuid.uuid1, uuid.getnode

    async def main() -> int:
        return uuid.getnode()

    assert simulate.run(main) != uuid.getnode()
    assert (uuid.uuid1, uuid.getnode) == real
    assert abs(date_of(uuid.uuid1()) - datetime.datetime.now(datetime.UTC)) < datetime.timedelta(days=1)

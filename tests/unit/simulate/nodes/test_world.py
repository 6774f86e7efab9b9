"""Nodes reach each other by name; links are cut, healed and slow; and what must be true of a world is checked."""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
import socket
import sys
from typing import Any

import pytest

from ordeal import always, simulate

from ...samples.nodes import ask, echo


def test_nodes_find_each_other_by_name_and_the_test_finds_them() -> None:
    async def main(world: simulate.World) -> None:
        answers = list[str]()

        async def client() -> None:
            answers.extend(await ask("db", "one", "two"))
            with pytest.raises(ConnectionRefusedError):
                await ask("localhost", "mine")

        db = world.node("db", echo)
        world.node("client", client)
        await world.until(lambda: len(answers) == 2)
        assert answers == ["ONE", "TWO"]
        assert await ask("db", "x") == ["X"]
        assert await ask(db.address, "y") == ["Y"]
        ((*_, (address, port, *_)),) = await asyncio.get_running_loop().getaddrinfo("db", 80, type=socket.SOCK_STREAM)
        assert (address, port) == (db.address, 80)
        with pytest.raises(ConnectionRefusedError):
            await ask("localhost", "mine")
        assert [node.name for node in world.nodes] == ["db", "client"]
        assert world["db"] is db

    simulate.explore(main, runs=30)


def test_each_node_has_ports_of_its_own() -> None:
    async def main(world: simulate.World) -> None:
        world.node("one", echo)
        world.node("two", echo)
        await echo()
        await asyncio.sleep(1)
        assert [await ask(host, host) for host in ("one", "two", "localhost")] == [["ONE"], ["TWO"], ["LOCALHOST"]]

        async def wrong() -> None:
            with pytest.raises(OSError, match="not an address"):
                await asyncio.start_server(lambda *_: None, "one", 5)
            await asyncio.start_server(lambda *_: None, "three", 80)
            with pytest.raises(OSError, match="bind"):
                await asyncio.start_server(lambda *_: None, port=80)

        world.node("three", wrong)
        await asyncio.sleep(1)

    simulate.run(main)


def test_what_a_partition_holds_up_arrives_when_it_is_healed() -> None:
    async def main(world: simulate.World) -> None:
        answers, asked = list[str](), list[float]()

        async def client() -> None:
            await asyncio.sleep(1)
            reader, writer = await asyncio.open_connection("db", 80)
            for line in (b"one\n", b"two\n"):
                writer.write(line)
                asked.append(world.time)
                answers.append((await reader.readline()).decode())
                await asyncio.sleep(1)

        world.node("db", echo)
        world.node("client", client)
        await world.until(lambda: len(answers) == 1)
        world.partition("db", "client")
        await asyncio.sleep(100)
        assert len(asked) == 2
        assert len(answers) == 1
        world.heal("client", "db")
        await world.until(lambda: len(answers) == 2, within=3)

    simulate.explore(main, runs=30, faults=[simulate.latency(1)], check=True)


def test_a_partition_may_be_one_way() -> None:
    async def main(world: simulate.World) -> None:
        got = list[bytes]()

        async def server() -> None:
            async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while line := await reader.readline():
                    got.append(line)
                    writer.write(line)

            await asyncio.start_server(take, port=80)

        world.node("db", server)
        reader, writer = await asyncio.open_connection("db", 80)
        world.partition("db", one_way=True)
        writer.write(b"x\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10):
                await reader.readline()
        assert got == [b"x\n"]
        world.heal()
        assert await reader.readline() == b"x\n"
        writer.close()

    simulate.run(main)


def test_nobody_can_connect_through_a_partition() -> None:
    async def main(world: simulate.World) -> None:
        world.node("db", echo)
        world.partition("db")
        with pytest.raises(TimeoutError, match="db does not answer"):
            await ask("db", "x")
        assert world.time > 100
        asyncio.get_running_loop().call_later(20, world.heal)
        assert await ask("db", "x") == ["X"]

    simulate.run(main)


def test_a_clog_makes_a_node_slow_to_reach() -> None:
    async def main(world: simulate.World) -> None:
        world.node("db", echo)
        await ask("db", "x")
        world.clog("db", 2)
        before = world.time
        await ask("db", "x")
        assert world.time - before > 6
        world.clog("db", 0)
        before = world.time
        await ask("db", "x")
        assert world.time - before < 1

    simulate.run(main)


def test_a_link_has_a_latency() -> None:
    async def main(world: simulate.World) -> None:
        world.node("db", echo)
        world.link("db", latency=3)
        before = world.time
        await ask("db", "x")
        assert 9 < world.time - before < 10  # to connect, to ask, to answer
        world.link("db")
        before = world.time
        await ask("db", "x" * 1_999)
        assert world.time - before < 1

    simulate.run(main)


SHARES = [{"loss": 2}, {"duplicates": -0.1}, {"reordered": "often"}]


@pytest.mark.parametrize("given", [{"latency": -1}, {"latency": "slow"}, *SHARES])
def test_a_link_that_cannot_be_is_refused(given: dict[str, Any]) -> None:
    async def main(world: simulate.World) -> None:
        world.node("db", echo)
        with pytest.raises(simulate.SimulationError, match=next(iter(given))) as caught:
            world.link("db", **given)
        assert ("share" if given in SHARES else "seconds") in str(caught.value.hint)

    simulate.run(main)


@pytest.mark.parametrize("fault", ["reset", "crash"])
def test_the_peer_of_a_connection_that_is_reset_is_told(fault: str) -> None:
    async def main(world: simulate.World) -> None:
        db = world.node("db", echo)
        reader, writer = await asyncio.open_connection("db", 80)
        if fault == "reset":
            world.reset("db")
        else:
            db.crash()
        with pytest.raises(ConnectionResetError):
            await reader.readline()
        writer.close()
        if fault == "crash":
            with pytest.raises(ConnectionRefusedError):
                await ask("db", "x")

    simulate.run(main)


def test_a_silent_crash_leaves_a_connection_half_open_until_something_is_sent() -> None:
    silence = {"silence | db | crash | 0": 1}

    async def main(world: simulate.World) -> None:
        db = world.node("db", echo)
        reader, writer = await asyncio.open_connection("db", 80)
        idle, idle_writer = await asyncio.open_connection("db", 80)
        db.crash()
        writer.write(b"x\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1000):
                await reader.readline()
        with pytest.raises(TimeoutError, match="does not answer"):
            await ask("db", "x")
        db.restart()
        with pytest.raises(ConnectionResetError):
            await reader.readline()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1000):
                await idle.readline()
        idle_writer.write(b"x\n")
        with pytest.raises(ConnectionResetError):
            await idle.readline()
        writer.close()
        idle_writer.close()

    simulate.run(main, decisions=silence)


def test_until_and_eventually_say_what_did_not_happen() -> None:
    async def main(world: simulate.World) -> None:
        async def wait() -> None:
            await asyncio.Event().wait()

        world.node("db", wait).pause()
        world.node("down", wait).crash()
        world.partition("db", "down")
        with pytest.raises(simulate.NotReached, match=r"within 5 s, at 5\.000 s"):
            await world.until(lambda: False, within=5)
        await world.until(lambda: world.time >= 5)
        with pytest.raises(simulate.SimulationError):
            await world.until(lambda: False, within=0)
        await world.eventually("a leader", lambda: False)

    with pytest.raises(simulate.NotReached) as caught:
        simulate.run(main)
    text = str(caught.value)
    assert text.startswith("a leader is not true within 60 s, at 65.000 s\n")
    assert "db/" in text
    assert "down: down" in text
    assert "paused: db" in text


def test_a_poll_ends_with_its_time_limit_however_often_it_asks() -> None:
    async def main(world: simulate.World) -> None:
        asked = 0

        def never() -> bool:
            nonlocal asked
            asked += 1
            return False

        async def poll() -> None:
            while not never():
                await asyncio.sleep(0.001)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(poll(), 5)
        assert world.time == pytest.approx(5)
        assert asked >= 5000

    simulate.run(main)


def test_a_value_spreads_to_each_node_unless_one_is_down_and_then_the_check_fails() -> None:
    async def main(world: simulate.World, *, down: bool) -> None:
        stored: dict[str, str] = {}

        async def replica(name: str) -> None:
            async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                stored[name] = (await reader.readline()).decode().strip()
                writer.close()

            server = await asyncio.start_server(take, port=80)
            await server.serve_forever()

        async def write() -> None:
            await asyncio.sleep(1)
            for name in ("a", "b", "c"):
                _, writer = await asyncio.open_connection(name, 80)
                writer.write(b"value\n")
                writer.close()

        for name in ("a", "b", "c"):
            world.node(name, functools.partial(replica, name))
        world.node("writer", write)
        await asyncio.sleep(0.5)
        if down:
            world["b"].crash()
        await world.eventually("all have it", lambda: stored == dict.fromkeys("abc", "value"))

    simulate.run(functools.partial(main, down=False))
    with pytest.raises((simulate.NotReached, ConnectionError)):
        simulate.run(functools.partial(main, down=True))


def test_a_failure_after_deliveries_and_drawn_numbers_is_repeated_exactly() -> None:
    async def main(world: simulate.World) -> None:
        seen = list[str]()

        async def client(word: str) -> None:
            await asyncio.sleep(1)
            seen.extend(await ask("db", word))
            seen.append(str(random.getrandbits(64)))

        world.node("db", echo)
        for word in ("one", "two", "three"):
            world.node(word, functools.partial(client, word))
        await world.until(lambda: len(seen) == 6)
        assert seen[0] == "ONE", seen

    found = simulate.explore(main, runs=200, check=False).failure
    assert found is not None
    texts = set[str]()
    for _ in range(3):
        with pytest.raises(AssertionError) as caught:
            simulate.run(main, decisions=found.decisions)
        texts.add(str(caught.value).splitlines()[0])
    assert len(texts) == 1


def test_four_times_the_messages_take_about_four_times_the_work() -> None:
    async def main(world: simulate.World, number: int) -> None:
        world.node("db", echo)
        await asyncio.sleep(1)
        assert len(await ask("db", *["x"] * number)) == number

    def calls(number: int) -> int:
        count = itertools.count()
        before = sys.getprofile()
        sys.setprofile(lambda *_: next(count))
        try:
            simulate.run(functools.partial(main, number=number))
        finally:
            sys.setprofile(before)
        return next(count)

    calls(100)
    # Work that is quadratic in the messages takes sixteen times the calls.
    assert calls(2000) < 5 * calls(500)


def test_what_must_always_be_true_is_asked_after_each_step() -> None:
    async def main(world: simulate.World) -> None:
        state = {"value": 0}

        async def change() -> None:
            await asyncio.sleep(1)
            state["value"] = 1
            await asyncio.sleep(0)
            state["value"] = 0

        world.always("it is zero", lambda: state["value"] == 0)
        world.node("one", change)
        await asyncio.sleep(10)

    with pytest.raises(simulate.BrokenProperty, match=r"it is zero: it does not hold at 1\.000 s"):
        simulate.run(main)


def test_a_condition_may_assert() -> None:
    async def main(world: simulate.World) -> None:
        def holds() -> bool:
            assert world.time < 1, "too late"
            return True

        world.always("early", holds)
        await asyncio.sleep(5)

    with pytest.raises(AssertionError, match="too late"):
        simulate.run(main)


def test_properties_of_the_program_count_in_nodes() -> None:
    async def main(world: simulate.World) -> None:
        async def check() -> None:
            await asyncio.sleep(1)
            always(world.time < 1, "it is early")

        world.node("one", check)
        await asyncio.sleep(5)

    with pytest.raises(AssertionError, match="it is early"):
        simulate.run(main)


def test_a_condition_that_is_no_function_is_refused() -> None:
    async def main(world: simulate.World) -> None:
        world.always("x", True)  # type: ignore[arg-type]

    with pytest.raises(simulate.SimulationError, match="pass a function"):
        simulate.run(main)


def test_a_function_without_a_world_gets_none() -> None:
    async def main(world: Any = None) -> Any:
        return world

    assert isinstance(simulate.run(main), simulate.World)
    assert simulate.run(functools.partial(main, None)) is None


def test_deadlocks_name_the_nodes() -> None:
    async def main(world: simulate.World) -> None:
        async def wait() -> None:
            await asyncio.Event().wait()

        world.node("one", wait)
        world.node("gone", wait).crash()
        await asyncio.Event().wait()

    with pytest.raises(simulate.Deadlock) as caught:
        simulate.run(main)
    text = str(caught.value)
    assert "2 tasks wait" in text
    assert "one/" in text
    assert "gone/" not in text
    assert "down: gone" in text

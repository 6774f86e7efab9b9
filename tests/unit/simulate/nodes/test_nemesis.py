"""The faults of nodes strike after steps of theirs, end by themselves, and are shrunk to those that a failure needs."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate.runtime.decisions import Decided
from ordeal.simulate.runtime.faults import LENGTHS, STRIKES, fault_of_text, fault_text, length_s, strike_step
from ordeal.simulate.runtime.report import decision_text, needed_text

from ...samples.nodes import ask, echo

ALL: list[Any] = [
    *(simulate.crash(longest=3), simulate.pause(longest=3), simulate.partition(longest=3)),
    *(simulate.reset(), simulate.slow(), simulate.skew(), simulate.clog(longest=3)),
    *(simulate.disk_full(longest=3), simulate.disk_error(longest=3)),
]


async def insisting(answers: list[str], number: int) -> None:
    """Ask an echo server for ``number`` answers, whatever happens."""
    while len(answers) < number:
        try:
            async with asyncio.timeout(2):
                answers += await ask("db", "x")
        except (OSError, TimeoutError):
            pass
        await asyncio.sleep(0.2)


async def careful(world: simulate.World) -> None:
    answers = list[str]()
    world.node("db", echo)
    world.node("client", insisting, answers, 20)
    await asyncio.sleep(5)
    await world.eventually("all is answered", lambda: len(answers) >= 20, within=100)


def test_a_careful_client_gets_its_answers_whatever_happens() -> None:
    report = simulate.explore(careful, runs=150, faults=ALL, check=False)
    assert report.failure is None
    kinds = {*KINDS, "reset"}
    for kind in kinds:
        assert f"struck by {kind}: client " in str(report)
    assert set(report.disturbed) >= {*kinds, "silence"}


def test_the_same_seed_gives_the_same_run() -> None:
    simulate.explore(careful, runs=3, seed=99, faults=ALL)
    report = simulate.explore(careful, runs=201, faults=ALL)
    assert report.nondeterministic == ""


def test_a_failure_needs_one_crash() -> None:
    async def main(world: simulate.World) -> None:
        world.node("db", echo)
        for number in range(20):
            assert await ask("db", str(number)) == [str(number)]
            await asyncio.sleep(0.1)

    with pytest.raises(OSError, match=r".") as caught:
        simulate.explore(main, faults=[simulate.crash(), simulate.skew(), simulate.pause()], policy="random")
    (note,) = caught.value.__notes__
    assert "Needed: 1 crash, of " in note
    assert "db: crash after " in note
    assert "faults=[simulate.crash('*', longest=10.0)," in note


async def kept_in_turn(world: simulate.World) -> list[bytes]:
    """Write to two nodes in turn, and return in which order it arrives."""
    kept = list[bytes]()

    async def keep(name: str) -> None:
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                kept.append(name.encode() + line)
            writer.close()

        await asyncio.start_server(take, port=80)

    for name in ("a", "b"):
        world.node(name, keep, name)
    await asyncio.sleep(1)
    writers = [(await asyncio.open_connection(name, 80))[1] for name in ("a", "b")]
    for _ in range(4):
        for writer in writers:
            writer.write(b"x\n")
            await asyncio.sleep(1)
    await world.eventually("all is there", lambda: len(kept) == 8, within=100)
    for writer in writers:
        writer.close()
    return kept


def test_a_node_that_is_clogged_gets_what_is_sent_late_and_then_no_more() -> None:
    plain = [b"ax\n", b"bx\n"] * 4
    assert simulate.run(kept_in_turn) == plain
    clogged = {"clog | a | its steps | 0": 4, "clog | a | how long | 0": 12, "clog | a | in what way | 0": 14}
    late = simulate.run(kept_in_turn, faults=[simulate.clog(longest=4)], decisions=clogged)
    assert late != plain
    assert sorted(late) == sorted(plain)
    assert late[-2:] == plain[-2:]


async def writing(seen: list[str]) -> None:
    """Write and read a file once a second, and note what comes of it."""
    while True:
        try:
            with Path("log").open("a") as file:
                file.write("x")
                file.flush()
                os.fsync(file.fileno())
            Path("log").read_text()
            seen.append("")
        except OSError as error:
            seen.append(errno.errorcode[error.errno or 0])
        await asyncio.sleep(1)


@pytest.mark.parametrize(
    ("fault", "name", "noun"), [("disk_full", "ENOSPC", "full disk"), ("disk_error", "EIO", "broken disk")]
)
def test_a_disk_is_full_or_broken_for_a_while(fault: str, name: str, noun: str) -> None:
    seen = list[str]()

    async def main(world: simulate.World) -> None:
        node = world.node("a", writing, seen)
        await asyncio.sleep(10)
        assert len(node.disk.read("log")) > 0  # the test still sees it

    struck = {f"{fault} | a | its steps | 0": 3, f"{fault} | a | how long | 0": 12}
    simulate.run(main, faults=[getattr(simulate, fault)(longest=4)], decisions=struck)
    assert seen[:2] == ["", ""]
    assert name in seen
    assert seen[-1] == ""
    assert set(seen) == {"", name}
    first, lasts = (Decided.from_label(label, value) for label, value in struck.items())
    assert decision_text(first, [getattr(simulate, fault)()]).startswith(
        f"a: {fault.replace('_', ' ')} after 3 own steps"
    )
    assert (
        decision_text(lasts, [getattr(simulate, fault)()]).strip().startswith(f"{fault.replace('_', ' ')} of a lasts")
    )
    assert needed_text([first, lasts]) == f"1 {noun}"


def test_the_calm_phase_ends_the_faults_of_disks() -> None:
    seen = list[str]()

    async def main(world: simulate.World) -> None:
        world.node("a", writing, seen)
        await asyncio.sleep(5)
        world.calm()
        seen.clear()
        await asyncio.sleep(5)

    for seed in range(20):
        simulate.run(main, faults=[simulate.disk_full(), simulate.disk_error(), simulate.crash()], seed=seed)
        assert set(seen) == {""}


def test_what_a_clog_does_is_told() -> None:
    decided = [
        Decided.from_label(f"clog | a | {site} | 0", value) for site, value in (("its steps", 4), ("in what way", 15))
    ]
    texts = [decision_text(each, [simulate.clog()]) for each in decided]
    assert texts == ["a: clog after 4 own steps", "  what a sends and gets takes 10 s longer"]
    assert needed_text(decided) == "1 clog"


def test_a_clock_that_is_wrong_is_found() -> None:
    async def main(world: simulate.World) -> None:
        seen = list[float]()

        async def look() -> None:
            for _ in range(20):
                seen.append(time.time())
                await asyncio.sleep(1)

        world.node("one", look)
        await asyncio.sleep(30)
        assert seen == sorted(seen), "time goes back"

    with pytest.raises(AssertionError) as caught:
        simulate.explore(main, faults=[simulate.skew()])
    assert "Needed: 1 wrong clock" in caught.value.__notes__[0]
    assert "the clock of one is moved by -" in caught.value.__notes__[0]


def test_a_pattern_says_which_nodes_are_struck() -> None:
    struck = Counter[str]()

    async def main(world: simulate.World) -> None:
        for name in ("db1", "db2", "web"):
            world.node(name, echo)
        for _ in range(10):
            for name in ("db1", "db2", "web"):
                try:
                    async with asyncio.timeout(2):
                        await ask(name, "x")
                except (OSError, TimeoutError):
                    struck[name] += 1

    simulate.explore(main, runs=30, policy="random", faults=[simulate.crash("db*")])
    assert set(struck) == {"db1", "db2"}


def test_faults_end_with_the_quiet_phase() -> None:
    async def main(world: simulate.World) -> None:
        answers = list[str]()
        db = world.node("db", echo)
        world.node("client", insisting, answers, 10**6)
        await asyncio.sleep(3)
        await world.eventually("it runs", lambda: db.is_up and not db.life.is_paused, within=1)
        lives = db.lives
        await asyncio.sleep(20)
        assert (db.is_up, db.lives) == (True, lives)
        assert len(answers) > 50

    simulate.explore(main, runs=25, faults=ALL)


def test_steps_and_lengths_grow_with_the_value() -> None:
    steps = [strike_step(value) for value in range(1, STRIKES)]
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (1, 3000)
    lengths = [length_s(value, 10.0) for value in range(LENGTHS)]
    assert lengths == sorted(set(lengths))
    assert lengths[0] == pytest.approx(0.01)
    assert lengths[-1] == 10


def test_faults_are_texts_and_calls() -> None:
    for fault in ALL:
        assert fault_of_text(fault_text(fault)) == fault
    for text in ("crash", "crash x *", "crash 1.0", "crash -1 *", "burn 1 *"):
        with pytest.raises(simulate.SimulationError):
            fault_of_text(text)


KINDS = ("crash", "pause", "partition", "slow", "skew", "clog", "disk_full", "disk_error")


@pytest.mark.parametrize("make", [getattr(simulate, kind) for kind in KINDS])
def test_wrong_arguments_are_refused(make: Any) -> None:
    for arguments in ((5,), ("",)):
        with pytest.raises(simulate.SimulationError, match="pattern of names"):
            make(*arguments)
    with pytest.raises(simulate.SimulationError, match="longest"):
        make(longest=0)

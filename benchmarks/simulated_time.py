"""How many simulated seconds go by in one of the processor, beside simloop with the same programs.

usage: python benchmarks/simulated_time.py [--rounds N]

`fleet` is a hundred tasks that wake up every one to two seconds, the kind of program that simloop's own number of 2,000
is about; `heartbeats` are datagrams that three nodes send each other each second; and `agreement` is the Raft of
`examples/raft` without its disk, whose leader is heard of ten times a second. Nothing fails, both draw their schedules
by seeds, and take turns in processes of their own.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from concurrency.timed import PROGRAMS, Start
from harness.peers import PeerError, interpreter_with
from harness.report import command, host, table

PEER = "simloop==0.2.2"

type Program = Callable[[Start], Coroutine[Any, Any, float]]


def of_ordeal(program: Program, runs: int) -> float:
    """Explore a program; return the simulated seconds."""
    from ordeal import simulate  # noqa: PLC0415 - the peer's environment has no ordeal

    total = 0.0

    async def main(world: simulate.World) -> None:
        nonlocal total
        total += await program(world.node)

    report = simulate.explore(main, runs=runs)
    assert report.failure is None
    return total


def of_simloop(program: Program, runs: int) -> float:
    """Explore a program with simloop; return the simulated seconds."""
    simloop: Any = __import__("simloop")
    total = 0.0

    async def main() -> None:
        nonlocal total
        loop: Any = asyncio.get_running_loop()
        loop.net.set_defaults(latency=(0.001, 0.001))  # as packets of ordeal take
        total += await program(lambda name, function, *given: loop.net.host(name).create_task(function(*given)))

    found = simloop.explore(main, range(runs))
    assert found is None, found
    return total


SIDES = {"simloop": of_simloop, "ordeal": of_ordeal}


def measured(side: str) -> dict[str, float]:
    """Of each program, the simulated seconds in one of the processor."""
    rates = {}
    for name, (program, runs) in PROGRAMS.items():
        SIDES[side](program, 1)  # imports, and what is kept for later runs
        began = time.process_time()
        simulated_s = SIDES[side](program, runs)
        rates[name] = simulated_s / (time.process_time() - began)
    return rates


def measured_by(python: Path, side: str) -> dict[str, float]:
    """The same in a process of another interpreter."""
    done = subprocess.run(
        [str(python), "-W", "ignore", __file__, "--side", side],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(measured(options.side)))
        return
    pythons = {"ordeal": Path(sys.executable)}
    try:
        pythons["simloop"] = interpreter_with(PEER)
    except PeerError as error:
        print(f"{PEER} is not there: {error}")
    rounds = [{side: measured_by(python, side) for side, python in pythons.items()} for _ in range(options.rounds)]
    rows = []
    for name in PROGRAMS:
        of = {side: [each[side][name] for each in rounds] for side in pythons}
        row = [name, f"{statistics.median(of['ordeal']):,.0f}"]
        if "simloop" in of:
            ratios = [ours / theirs for ours, theirs in zip(of["ordeal"], of["simloop"], strict=True)]
            row += [f"{statistics.median(of['simloop']):,.0f}", f"{statistics.median(ratios):.1f}"]
        rows.append(row)
    header = ("program", "ordeal", *([PEER, "ratio"] if "simloop" in pythons else []))
    print(host(), command(), table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()

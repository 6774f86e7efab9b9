"""Simulated runs of a small asyncio program per second, beside `asyncio.run` of the same program.

usage: python benchmarks/schedules.py [--rounds N]

The program makes two tasks of three steps each and awaits them: about nine steps a run. The ways take turns, and
processor time counts. `explore` draws a schedule for each run, collects its garbage and repeats one run in a hundred;
`with cancellations` also decides at each wait of a task whether it is cancelled.
"""

import argparse
import asyncio
import statistics
import time
import warnings
from collections.abc import Callable

from harness.report import command, host, table

from ordeal import simulate

RUNS = 2_000
STOCK_RUNS = 400


async def child() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def program() -> None:
    children = [asyncio.create_task(child()) for _ in range(2)]
    await asyncio.wait(children)


def stock() -> int:
    for _ in range(STOCK_RUNS):
        asyncio.run(program())
    return STOCK_RUNS


def explore() -> int:
    return simulate.explore(program, runs=RUNS).runs


def with_cancellations() -> int:
    return simulate.explore(program, runs=RUNS, faults=[simulate.cancel()]).runs


WAYS: list[Callable[[], int]] = [stock, explore, with_cancellations]


def runs_per_second(way: Callable[[], int]) -> float:
    begin = time.process_time()
    runs = way()
    return runs / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    # That all runs are the same is what is to be measured.
    warnings.simplefilter("ignore", simulate.SimulationWarning)
    measured = [[runs_per_second(way) for way in WAYS] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*measured, strict=True)]
    rows = [
        (name, f"{median:,.0f}", f"{median / medians[0]:.2f}")
        for name, median in zip(("asyncio.run", "explore", "explore with cancellations"), medians, strict=True)
    ]
    print(host(), command(), table(("way", "runs/s", "ratio"), rows), sep="\n\n")


if __name__ == "__main__":
    main()

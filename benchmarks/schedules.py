"""Simulated runs of a small asyncio program per second, beside `asyncio.run` of the same program.

usage: python benchmarks/schedules.py [--rounds N]

The program makes two tasks of three steps each and awaits them: about nine steps a run. The ways take turns, and
processor time counts. `explore` draws a schedule for each run, collects its garbage and repeats one run in a hundred;
`with cancellations` also decides at each wait of a task whether it is cancelled, and `in pytest` is a test among 500
modules.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

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


#: A test that explores the program among many modules, and prints how many runs a second that makes.
_TEST = """
import contextlib, importlib, sys, warnings
from schedules import explore, runs_per_second
from ordeal.simulate import SimulationWarning

def test_speed():
    for name in sorted(sys.stdlib_module_names - {"antigravity", "this", "idlelib"}):
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
    numbers = iter(range(500 - len(sys.modules)))
    for number in numbers:
        sys.modules[f"filler{number}"] = type(sys)(f"filler{number}")
    warnings.simplefilter("ignore", SimulationWarning)
    print("RUNS/S", len(sys.modules), runs_per_second(explore))
"""


def in_pytest() -> float:
    """Runs per second in a test."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "test_speed.py")
        path.write_text(_TEST, "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", str(path)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    line = next((line for line in done.stdout.splitlines() if "RUNS/S" in line), None)
    if line is None:
        raise SystemExit(done.stdout + done.stderr)
    return float(line.split()[-1])


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
    measured = [[*map(runs_per_second, WAYS), in_pytest()] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*measured, strict=True)]
    names = ("asyncio.run", "explore", "explore with cancellations", "explore in pytest")
    rows = [(name, f"{median:,.0f}", f"{median / medians[0]:.2f}") for name, median in zip(names, medians, strict=True)]
    print(host(), command(), table(("way", "runs/s", "ratio"), rows), sep="\n\n")


if __name__ == "__main__":
    main()

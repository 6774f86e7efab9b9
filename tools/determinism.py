"""Runs generated async programs in two processes that differ, and compares what each did, step by step.

usage: python tools/determinism.py [--programs N] [--first I]

The processes have another hash seed, folder, time zone and number of objects in memory. Ends with 1 if a program did
something else in one of them, and names the first.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from itertools import zip_longest
from random import random
from typing import Any

from ordeal import _native, simulate
from ordeal.simulate.runtime.decisions import drawn_schedule
from ordeal.simulate.runtime.running import in_world, run_once, run_settings
from ordeal.simulate.runtime.surroundings import Surroundings

PROGRAMS = 10_000
_TASKS_MAX, _STEPS_MAX = 5, 8

type Step = Callable[["Program"], Coroutine[Any, Any, object]]


class Program:
    """A program that follows from its number: tasks wait for each other, with time-outs, and note what they see."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._drawn = 0
        self.log: list[str] = []
        self.lock, self.event = asyncio.Lock(), asyncio.Event()
        self.queue: asyncio.Queue[int] = asyncio.Queue(2)

    def choose(self, size: int) -> int:
        """Return the next choice of how the program is made."""
        self._drawn += 1
        return _native.derived_seed(self._number, f"choice {self._drawn}") % size

    async def run(self) -> None:
        """Run all tasks, on a server and its clients beside each other."""
        server = await asyncio.start_server(self._answer, port=80)
        plans = [
            [STEPS[self.choose(len(STEPS))] for _ in range(1 + self.choose(_STEPS_MAX))]
            for _ in range(1 + self.choose(_TASKS_MAX))
        ]
        tasks = [asyncio.create_task(self._work(number, plan)) for number, plan in enumerate(plans)]
        await asyncio.wait(tasks)
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    async def _work(self, number: int, plan: list[Step]) -> None:
        for position, step in enumerate(plan):
            try:
                async with asyncio.timeout(0.05):
                    seen = await step(self)
            except TimeoutError:
                seen = "late"
            self.log.append(f"{number}.{position} {seen} at {time.time()} {random():.6f}")


async def _sleep(program: Program) -> object:
    await asyncio.sleep(program.choose(4) / 1000)
    return "slept"


async def _hold(program: Program) -> object:
    async with program.lock:
        await asyncio.sleep(0.001 * program.choose(3))
    return "held"


async def _put(program: Program) -> object:
    await program.queue.put(program.choose(100))
    return program.queue.qsize()


async def _get(program: Program) -> object:
    return await program.queue.get()


async def _signal(program: Program) -> object:
    program.event.set()
    await asyncio.sleep(0)
    program.event.clear()
    return "set"


async def _wait(program: Program) -> object:
    return await program.event.wait()


async def _compute(program: Program) -> object:
    return await asyncio.to_thread(lambda: program.choose(10))


async def _gather(program: Program) -> object:
    return await asyncio.gather(*(_sleep(program) for _ in range(3)))


async def _ask(program: Program) -> object:
    reader, writer = await asyncio.open_connection("localhost", 80)
    try:
        writer.write(b"%d\n" % program.choose(100))
        return await reader.readline()
    finally:
        writer.close()


STEPS: tuple[Step, ...] = (_sleep, _hold, _put, _get, _signal, _wait, _compute, _gather, _ask)


def print_runs(first: int, programs: int) -> None:
    """Run programs in this process, and print a line for what each did."""
    surroundings = Surroundings()
    settings = run_settings([simulate.cancel(), simulate.stall(), simulate.latency()], (), 3600.0)
    with surroundings.entered():
        for number in range(first, first + programs):
            logs: list[list[str]] = []

            async def main(number: int = number, logs: list[list[str]] = logs) -> None:
                program = Program(number)
                logs.append(program.log)
                await program.run()

            outcome = run_once(in_world(main), drawn_schedule(number), settings, surroundings, chance=number)
            seen = _native.stable_hash("\n".join(logs[0]))
            print(f"{number} {outcome.event_hash:016x} {seen:016x} {outcome.steps} {outcome.bucket}")


def compare(first: int, programs: int) -> str:
    """Return the first difference between two processes, empty if there is none."""
    command = [sys.executable, __file__, "--print", "--first", str(first), "--programs", str(programs)]
    with tempfile.TemporaryDirectory() as folder:
        odd = {"PYTHONHASHSEED": "12345", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
        if "t" not in sys.abiflags:  # a build without a GIL has a single allocator
            odd["PYTHONMALLOC"] = "malloc"
        one = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONHASHSEED": "0"})
        other = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, env=os.environ | odd, cwd=folder, check=False
        )
        lines = one.communicate()[0].splitlines()
    for mine, theirs in zip_longest(lines, other.stdout.splitlines(), fillvalue="nothing"):
        if mine != theirs:
            return f"one process: {mine}\nthe other:   {theirs}"
    return "" if len(lines) == programs else f"only {len(lines)} programs ran"


def main() -> int:
    """Compare, and return 1 on a difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.print:
        print_runs(options.first, options.programs)
        return 0
    difference = compare(options.first, options.programs)
    print(difference or f"{options.programs:,} programs did the same in both processes")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())

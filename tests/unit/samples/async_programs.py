"""Async programs made from numbers, and what they do under many schedules: run it to print a line for each program."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from ordeal import simulate
from ordeal.simulate.runtime.decisions import drawn_schedule
from ordeal.simulate.runtime.running import run_once, run_settings
from ordeal.simulate.runtime.surroundings import Surroundings

FAULTS = [simulate.cancel("all"), simulate.stall(), simulate.latency()]


def program(number: int) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return a program of a few tasks that use what asyncio has."""
    shape = random.Random(number)
    plans = [[shape.randrange(9) for _ in range(shape.randrange(1, 6))] for _ in range(shape.randrange(2, 6))]

    async def main() -> None:
        lock, queue, event = asyncio.Lock(), asyncio.Queue[int](maxsize=2), asyncio.Event()

        async def act(action: int) -> None:
            if action == 0:
                await asyncio.sleep(0.01)
            elif action == 1:
                async with lock:
                    await asyncio.sleep(0.005)
            elif action == 2:
                await asyncio.wait_for(queue.put(1), 0.05)
            elif action == 3:
                await asyncio.wait_for(queue.get(), 0.05)
            elif action == 4:
                event.set()
            elif action == 5:
                await asyncio.wait_for(event.wait(), 0.1)
            elif action == 6:
                await asyncio.to_thread(time.sleep, 0.02)
            elif action == 7:
                _, writer = await asyncio.open_connection("localhost", 80)
                writer.write(bytes(random.randrange(1, 9)))
                writer.close()
            else:
                names = [f"task {each}" for each in range(3)]
                done, _ = await asyncio.wait([asyncio.create_task(asyncio.sleep(0.01), name=name) for name in names])
                for each in done:
                    each.cancel()

        async def client(plan: list[int]) -> None:
            for action in plan:
                try:
                    await act(action)
                except (TimeoutError, ConnectionError):
                    await asyncio.sleep(0.001)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(4):
                pass
            writer.close()

        await asyncio.start_server(serve, port=80)
        await asyncio.wait([asyncio.create_task(client(plan)) for plan in plans])

    return main


def lines(programs: int, schedules: int) -> list[str]:
    """Return what each program did under its schedules: a hash of its events, and how it ended."""
    surroundings, settings, found = Surroundings(), run_settings(FAULTS, (), 86_400), []
    with surroundings.entered():
        for number in range(programs):
            main = program(number)
            for seed in range(schedules):
                outcome = run_once(main, drawn_schedule(seed), settings, surroundings, chance=seed)
                found.append(f"{number} {seed} {outcome.event_hash:016x} {outcome.bucket} {outcome.simulated_s!r}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines(*map(int, sys.argv[1:]))))

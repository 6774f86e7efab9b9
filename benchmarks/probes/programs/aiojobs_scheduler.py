"""aiojobs: a scheduler with a limit, and jobs that wait for their turn."""

import asyncio

import aiojobs


async def main():
    running = most = 0
    done = []

    async def job(number):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1
        done.append(number)

    async with aiojobs.Scheduler(limit=2, pending_limit=3, close_timeout=30) as scheduler:
        jobs = [await scheduler.spawn(job(number)) for number in range(6)]
        for each in jobs:
            await each.wait()
    assert sorted(done) == list(range(6))
    assert most == 2

"""A scheduler with limits (aiojobs #98): to spawn one job more than they allow never returns."""

import asyncio

import aiojobs


async def main():
    done = []

    async def job(number):
        await asyncio.sleep(0.01)
        done.append(number)

    make = getattr(aiojobs, "create_scheduler", None)
    limits = {"limit": 1, "pending_limit": 1}
    scheduler = aiojobs.Scheduler(**limits) if make is None else await make(**limits)
    jobs = [await scheduler.spawn(job(number)) for number in range(3)]
    for each in jobs:
        await each.wait()
    await scheduler.close()
    assert sorted(done) == [0, 1, 2]

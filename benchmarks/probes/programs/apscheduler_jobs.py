"""APScheduler: jobs at intervals, at a date, and one that is taken away."""

import asyncio
from datetime import datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler


async def main():
    ticks, once = [], []
    scheduler = AsyncIOScheduler(timezone="UTC")
    job = scheduler.add_job(lambda: ticks.append(datetime.now()), "interval", seconds=10)
    scheduler.add_job(lambda: once.append(1), "date", run_date=datetime.now().astimezone() + timedelta(hours=1))
    scheduler.start()
    await asyncio.sleep(65)
    assert len(ticks) == 6
    job.remove()
    await asyncio.sleep(3600)
    assert len(ticks) == 6
    assert once == [1]
    scheduler.shutdown()

"""What anyio would run on worker threads runs on the loop of the run, at a time that is drawn."""

from __future__ import annotations

import asyncio
import contextvars
import time

import anyio
import anyio.to_thread
import pytest

from ordeal import simulate

WHO = contextvars.ContextVar("who", default="nobody")


def job(seconds: float) -> str:
    time.sleep(seconds)
    return WHO.get()


async def two_jobs() -> None:
    WHO.set("main")
    done = []

    async def run(name: str, seconds: float) -> None:
        assert await anyio.to_thread.run_sync(job, seconds) == "main"
        done.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(run, "slow", 0.5)
        group.start_soon(run, "quick", 0.1)
    assert done == ["quick", "slow"]
    assert time.monotonic() >= 0.5


def test_a_job_takes_its_time_and_holds_up_nobody() -> None:
    simulate.run(two_jobs)
    with pytest.raises(AssertionError) as caught:
        simulate.explore(two_jobs)
    assert "late result" in caught.value.__notes__[0]
    assert "job" in caught.value.__notes__[0]


def test_a_limit_holds_and_errors_come_back() -> None:
    async def main() -> float:
        limiter = anyio.CapacityLimiter(1)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(lambda: anyio.to_thread.run_sync(job, 1.0, limiter=limiter))
        with pytest.raises(ZeroDivisionError):
            await anyio.to_thread.run_sync(lambda: 1 / 0)
        return time.monotonic()

    assert simulate.run(main) == 3


def test_a_cancelled_job_is_waited_for_unless_it_may_be_abandoned() -> None:
    async def main(*, abandon: bool) -> float:
        with anyio.move_on_after(1):
            await anyio.to_thread.run_sync(job, 5.0, abandon_on_cancel=abandon)
        return time.monotonic()

    assert simulate.run(lambda: main(abandon=False)) == 5
    assert simulate.run(lambda: main(abandon=True)) == 1


def test_outside_of_a_run_there_are_threads() -> None:
    def main() -> None:
        assert anyio.run(anyio.to_thread.run_sync, time.monotonic) > 0

    main()
    assert simulate.run(two_jobs) is None
    main()


def test_a_job_has_no_running_loop() -> None:
    async def main() -> object:
        return await anyio.to_thread.run_sync(asyncio._get_running_loop)

    assert simulate.run(main) is None

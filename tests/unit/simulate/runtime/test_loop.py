"""The simulated loop keeps what asyncio promises, skips time, and ends each run as ``asyncio.run`` would."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import datetime
import gc
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ordeal import simulate


def test_calls_that_are_ready_run_in_the_order_in_which_they_were_asked_for() -> None:
    async def main() -> None:
        loop, seen = asyncio.get_running_loop(), list[int]()
        for number in range(5):
            loop.call_soon(seen.append, number)
        await asyncio.sleep(0.01)
        assert seen == [0, 1, 2, 3, 4]

    simulate.explore(main, runs=100)


def test_timers_with_one_deadline_fire_in_any_order() -> None:
    orders = set()

    async def main() -> None:
        order = list[int]()

        async def sleep(number: int) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(*map(sleep, range(3)))
        orders.add(tuple(order))

    simulate.explore(main, runs=200)
    assert len(orders) == 6


def test_time_is_skipped() -> None:
    async def main() -> tuple[float, float, datetime.datetime, datetime.datetime]:
        loop = asyncio.get_running_loop()
        before, began = datetime.datetime.now(datetime.UTC), loop.time()
        await asyncio.sleep(3600)
        assert time.monotonic() == loop.time()
        return began, loop.time(), before, datetime.datetime.now(datetime.UTC)

    began, ended, before, after = simulate.run(main)
    assert (began, ended) == (0.0, 3600.0)
    assert before == datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert after - before == datetime.timedelta(hours=1)


def test_a_stall_makes_a_time_out_meet_what_it_guards() -> None:
    async def main() -> None:
        future = asyncio.get_running_loop().create_future()

        async def answer() -> None:
            await asyncio.sleep(0.9)
            future.set_result(None)

        task = asyncio.create_task(answer())
        async with asyncio.timeout(1):
            await future
        await task

    simulate.explore(main, runs=100)
    with pytest.raises(TimeoutError) as caught:
        simulate.explore(main, runs=500, faults=[simulate.stall()])
    assert "Needed: 1 stall" in caught.value.__notes__[0]


def test_a_job_of_an_executor_runs_at_any_time_after_it_was_submitted() -> None:
    seen = set()

    async def main() -> None:
        order = list[str]()

        async def other() -> None:
            await asyncio.sleep(0.005)
            order.append("task")

        task = asyncio.create_task(other())
        await asyncio.to_thread(order.append, "job")
        await task
        seen.add(tuple(order))

    simulate.explore(main, runs=200)
    assert seen == {("job", "task"), ("task", "job")}


def test_a_job_has_no_running_loop_and_its_errors_arrive() -> None:
    def job() -> None:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        time.sleep(3)
        raise ValueError("from the job")

    async def main() -> float:
        with pytest.raises(ValueError, match="from the job"):
            await asyncio.to_thread(job)
        return asyncio.get_running_loop().time()

    assert simulate.run(main) == 3.0


def test_nothing_sleeps_in_real_time_whoever_calls_sleep() -> None:
    async def main() -> float:
        asyncio.get_running_loop().call_later(1, time.sleep, 1000)
        await asyncio.to_thread(time.sleep, 1000)
        await asyncio.sleep(2)
        return time.monotonic()

    assert simulate.run(main, allow=["time.sleep"]) == 1003.0


def test_tasks_that_are_left_are_cancelled_and_generators_closed() -> None:
    closed = list[str]()

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append("generator")

    async def server() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("server")

    kept = list[Any]()

    async def main() -> None:
        kept.append(asyncio.create_task(server()))
        kept.append(numbers())
        await anext(kept[1])
        await asyncio.sleep(1)

    simulate.run(main)
    assert closed == ["server", "generator"]


def test_a_task_that_ignores_the_end_is_a_leak() -> None:
    async def stubborn() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        assert not task.done()

    with pytest.raises(simulate.LeakedTask, match=r"stubborn#0 +waits for Event.wait"):
        simulate.run(main)


def test_an_error_that_nobody_awaits_is_a_failure() -> None:
    async def fails() -> None:
        raise ValueError("lost")

    async def main() -> None:
        task = asyncio.create_task(fails())
        await asyncio.sleep(1)
        assert task.done()

    with pytest.raises(
        simulate.UnhandledTaskError, match=r"the task fails#0 ended with ValueError: lost, at .*test_loop.py:"
    ) as caught:
        simulate.explore(main)
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_error_in_a_callback_is_a_failure_unless_the_program_takes_it() -> None:
    taken = list[Any]()

    async def main() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    async def takes() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: taken.append(context["exception"]))
        await main()

    with pytest.raises(simulate.UnhandledTaskError, match="ZeroDivisionError"):
        simulate.run(main)
    simulate.run(takes)
    assert [type(error) for error in taken] == [ZeroDivisionError]


def test_a_blocking_sleep_is_a_failure_unless_it_is_allowed() -> None:
    async def main() -> float:
        time.sleep(1)
        return time.monotonic()

    with pytest.raises(simulate.BlockedLoop, match=r"main#0 blocks the loop for 1 s with time.sleep"):
        simulate.run(main)
    assert simulate.run(main, allow=["time.sleep"]) == 1.0


def test_a_program_that_never_lets_time_pass_is_a_livelock() -> None:
    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(simulate.Livelock, match="no time passes"):
        simulate.run(main)


def test_time_goes_on_though_timers_are_set_for_now() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while loop.time() == begin:
            now = loop.create_future()
            loop.call_at(begin, now.set_result, None)
            await now
        return loop.time() - begin

    assert simulate.run(main) == pytest.approx(1e-6)


def test_a_program_that_never_ends_is_a_livelock() -> None:
    async def main() -> None:
        async def beat() -> None:
            while not over.is_set():
                await asyncio.sleep(60)

        over = asyncio.Event()
        task = asyncio.create_task(beat())
        await over.wait()
        await task

    with pytest.raises(simulate.Livelock, match=r"not over at 3600 s(.|\n)*main#0 +waits for Event.wait"):
        simulate.run(main, time_limit=3600)


def test_eager_tasks_and_other_factories_work() -> None:
    async def child(number: int) -> int:
        await asyncio.sleep(number)
        return number

    async def main() -> list[int]:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.eager_task_factory)
        found = [await asyncio.create_task(child(1), name="named")]
        loop.set_task_factory(lambda loop, coro, **options: asyncio.Task(coro, loop=loop, **options))
        return [*found, await asyncio.create_task(child(2))]

    assert simulate.run(main) == [1, 2]


def test_task_groups_and_sets_of_tasks_have_one_order() -> None:
    orders = set()

    async def main() -> None:
        order = list[int]()

        async def end(number: int) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                order.append(number)

        async def end_all() -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(20):
                    group.create_task(end(number))
                await asyncio.sleep(1)
                raise ValueError

        with pytest.raises(ExceptionGroup):
            await end_all()
        orders.add(tuple(order))

    simulate.explore(main, runs=20)
    assert orders == {tuple(range(20))}


def test_asyncio_runs_no_second_loop_inside() -> None:
    async def main() -> None:
        coroutine = asyncio.sleep(1)
        with pytest.raises(RuntimeError, match="cannot be called from a running event loop"):
            asyncio.run(coroutine)
        coroutine.close()

    simulate.run(main)


def test_an_error_in_a_clean_up_at_the_end_is_found() -> None:
    async def main() -> None:
        async def work() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                raise ValueError("the clean-up is broken")

        asyncio.create_task(work(), name="left")  # noqa: RUF006
        await asyncio.sleep(1)

    with pytest.raises(
        simulate.UnhandledTaskError, match="the task left ended with ValueError: the clean-up is broken"
    ):
        simulate.run(main)


def test_a_task_that_cleans_up_already_is_left_to_it_for_some_time() -> None:
    cleaned = list[str]()

    async def main() -> None:
        async def clean_up(name: str, seconds: float) -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                try:
                    await asyncio.sleep(seconds)
                except asyncio.CancelledError:
                    raise RuntimeError("it was cancelled twice") from None
                cleaned.append(name)

        tasks = [asyncio.create_task(clean_up(*each)) for each in (("short", 1), ("long", 3600))]
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()

    simulate.run(main)
    assert cleaned == ["short"]


def test_a_run_forgets_tasks_that_have_ended_unless_there_is_something_to_tell() -> None:
    async def nothing() -> None:
        pass

    async def fails() -> None:
        raise ValueError("nobody asks")

    async def main() -> int:
        lost = asyncio.create_task(fails())
        for _ in range(1_000):
            await asyncio.create_task(nothing())
        assert lost.done()
        loop: Any = asyncio.get_running_loop()
        return len(loop.records)

    report = simulate.explore(main, runs=1, check=False)
    assert report.failure is not None
    assert "nobody asks" in str(report.failure.error)

    async def quiet() -> int:
        for _ in range(1_000):
            await asyncio.create_task(nothing())
        loop: Any = asyncio.get_running_loop()
        return len(loop.records)

    assert simulate.run(quiet) < 300


def test_a_mistake_of_who_is_told_of_errors_is_a_failure() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: 1 // 0)
        loop.call_soon([].pop)

    with pytest.raises(simulate.UnhandledTaskError, match="ZeroDivisionError"):
        simulate.run(main)


def test_what_ends_the_program_goes_through_a_callback() -> None:
    def leave() -> None:
        raise SystemExit(3)

    async def main() -> None:
        asyncio.get_running_loop().call_soon(leave)
        await asyncio.sleep(0)

    with pytest.raises(SystemExit):
        simulate.run(main)


def test_callbacks_and_timers_are_set_with_arguments_by_name() -> None:
    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        ran: list[int] = []
        loop.call_soon(callback=lambda: ran.append(1))
        loop.call_later(delay=1, callback=lambda: ran.append(2))
        loop.call_at(when=2, callback=lambda: ran.append(3), context=contextvars.copy_context())
        await asyncio.sleep(3)
        assert ran == [1, 2, 3]
        for method, told in ((loop.call_later, "delay must not be None"), (loop.call_at, "when cannot be None")):
            with pytest.raises(TypeError, match=told):
                method(None, print)
            with pytest.raises(TypeError, match="callback"):
                method(1)
            with pytest.raises(TypeError, match="surprise"):
                method(1, print, surprise=1)

    simulate.run(main)


def test_the_program_itself_may_take_unhandled_errors_of_tasks() -> None:
    handled = list[object]()

    async def fails() -> None:
        raise ValueError("lost")

    async def main(*, is_passed_on: bool = False) -> None:
        def handle(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
            handled.append(context["exception"])
            if is_passed_on:
                loop.default_exception_handler(context)

        asyncio.get_running_loop().set_exception_handler(handle)
        tasks = [asyncio.create_task(fails()) for _ in range(2)]
        await asyncio.wait(tasks)

    simulate.run(main)
    assert list(map(str, handled)) == ["lost", "lost"]
    with pytest.raises(simulate.UnhandledTaskError, match="fails#0 ended with ValueError: lost"):
        simulate.run(lambda: main(is_passed_on=True))


def test_a_task_that_refuses_to_end_is_not_reported_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stubborn() -> None:
        queue = asyncio.Queue[int]()
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await queue.get()

    async def main() -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(1)
        task.cancel()
        await task

    unraisable = list[object]()
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(simulate.Deadlock):
        simulate.run(main)
    gc.collect()
    assert unraisable == []

"""A search finds what a schedule breaks, confirms it, names what it needs, and says how far it reached."""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
import uuid
from typing import Any

import pytest

from ordeal import simulate
from ordeal.errors import OrdealError
from ordeal.simulate.runtime import exploring

from ...samples.waiters import keep, lose

CANCEL = [simulate.cancel()]


def failure_of(main: Any, **options: Any) -> simulate.ScheduleFailure:
    report = simulate.explore(main, check=False, **options)
    assert report.failure is not None
    return report.failure


@pytest.mark.parametrize("options", [{}, {"cancel": "each"}], ids=["random", "each"])
def test_a_cancellation_after_the_wake_up_is_found_and_shrunk(options: dict[str, Any]) -> None:
    failure = failure_of(lose, faults=CANCEL, **options)
    assert isinstance(failure.error, simulate.Deadlock)
    assert [(each.kind, each.value) for each in failure.decided] == [("cancel", 1)]
    assert not failure.is_flaky
    with pytest.raises(simulate.Deadlock):
        simulate.run(lose, faults=CANCEL, decisions=failure.decisions)


@pytest.mark.parametrize("options", [{"runs": 300}, {"cancel": "each"}], ids=["random", "each"])
def test_a_correct_program_passes(options: dict[str, Any]) -> None:
    report = simulate.explore(keep, faults=CANCEL, **options)
    assert report.failure is None
    assert report.disturbed["cancel"] > 10
    assert report.struck["CarefulPool.wait_for: await turn"] > 0


def test_the_error_is_that_of_the_program_with_a_note() -> None:
    async def main() -> None:
        order = list[int]()

        async def sleep(number: int) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(*map(sleep, range(3)))
        assert order == sorted(order)

    with pytest.raises(AssertionError) as caught:
        simulate.explore(main)
    (note,) = caught.value.__notes__
    assert "Needed: 1 change of order" in note
    assert "the timer of sleep#1 at " in note
    assert "comes before the timer of sleep#0 at " in note
    assert "Replay: simulate.run(main, decisions={" in note
    assert caught.traceback[-1].name == "main"


def test_what_fails_without_any_schedule_needs_nothing() -> None:
    async def main() -> None:
        raise ValueError("always")

    failure = failure_of(main)
    assert (failure.run, failure.decided) == (1, ())
    assert "Needed: nothing special" in str(failure)


def test_a_seed_repeats_its_run() -> None:
    async def main() -> list[Any]:
        order = list[Any]()

        async def sleep(number: int) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(*map(sleep, range(5)))
        return [*order, random.random(), secrets.token_hex(4), str(uuid.uuid4())]

    runs = [simulate.run(main, seed=seed) for seed in range(20)]
    assert [simulate.run(main, seed=seed) for seed in range(20)] == runs
    assert len({str(run) for run in runs}) == 20
    assert runs[0][:5] == [0, 1, 2, 3, 4]


def test_a_simulation_leaves_the_generators_of_the_process_alone() -> None:
    async def main() -> float:
        return random.random()

    random.seed(4)
    simulate.run(main)
    drawn = random.random()
    random.seed(4)
    assert random.random() == drawn


async def _lock_of_five_turns() -> None:
    """Fails if, five times in a row, the second of two timers with one deadline fires first."""
    turns = 0
    while turns < 5:
        order = list[int]()

        async def wait(number: int, order: list[int] = order) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(wait(1), wait(2), wait(3))
        if order[:2] != [3, 1]:
            return
        turns += 1
    raise RuntimeError("opened")


def test_runs_follow_those_that_got_far() -> None:
    found = failure_of(_lock_of_five_turns, runs=3000)
    assert found.is_steered
    assert "steered by earlier runs: no seed alone repeats it" in str(found)
    assert len(found.decided) == 5
    with pytest.raises(RuntimeError, match="opened"):
        simulate.run(_lock_of_five_turns, decisions=found.decisions)
    again = failure_of(_lock_of_five_turns, runs=3000)
    assert (again.run, again.decisions) == (found.run, found.decisions)
    assert simulate.explore(_lock_of_five_turns, runs=found.run, policy="random").failure is None


def test_searches_with_two_seeds_have_no_run_in_common() -> None:
    drawn = list[float]()

    async def main() -> None:
        drawn.append(random.random())
        await asyncio.gather(asyncio.sleep(1), asyncio.sleep(1))

    for seed in (0, 1, 2, 2**64 - 1):
        simulate.explore(main, runs=50, seed=seed, policy="random", check=False)
    assert len(set(drawn)) == 200


def test_without_steering_a_seed_repeats_a_failure() -> None:
    found = failure_of(_ten_sleepers, policy="random")
    assert not found.is_steered
    with pytest.raises(AssertionError):
        simulate.run(_ten_sleepers, seed=found.seed)


@pytest.mark.parametrize("policy", ["best", None])
def test_a_policy_that_is_none_is_refused(policy: Any) -> None:
    with pytest.raises(simulate.SimulationError, match="policy is") as caught:
        simulate.explore(nothing, policy=policy)
    assert caught.value.hint == 'write one of "auto", "random", "sparse"'


def test_runs_that_end_early_are_counted() -> None:
    async def child() -> None:
        await asyncio.sleep(1)

    async def main() -> None:
        await asyncio.create_task(child())

    report = simulate.explore(main, runs=200, faults=CANCEL)
    assert report.cut_short > 0
    assert "ended early" in str(report)


def test_only_the_tasks_that_a_fault_names_are_cancelled() -> None:
    cancelled = set()

    async def wait(name: str) -> None:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            cancelled.add(name)
            raise

    async def child() -> None:
        await asyncio.wait([asyncio.create_task(wait("grandchild"))])

    async def main() -> None:
        await asyncio.wait([asyncio.create_task(child()), asyncio.create_task(wait("child"), name="named")])

    for tasks, expected in (("clients", {"child"}), ("wait*", {"grandchild"}), ("named", {"child"})):
        cancelled.clear()
        simulate.explore(main, runs=200, faults=[simulate.cancel(tasks)])
        assert cancelled - {"grandchild"} == expected - {"grandchild"}
        assert tasks == "named" or "grandchild" in cancelled or tasks == "clients"


def test_a_run_that_differs_from_itself_is_noticed() -> None:
    runs = itertools.count()

    async def step() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        for _ in range(next(runs)):
            await asyncio.create_task(step())

    with pytest.warns(simulate.SimulationWarning, match=r"two runs with one seed differ: seed 0, .*#\d at 0\.0"):
        report = simulate.explore(main, runs=5)
    assert "NOT DETERMINISTIC" in str(report)


def test_a_failure_that_does_not_happen_again_is_flaky() -> None:
    runs = itertools.count()

    async def main() -> None:
        assert next(runs) != 3

    failure = failure_of(main)
    assert failure.is_flaky
    assert "did not fail again" in str(failure)


def test_an_edit_elsewhere_does_not_break_a_replay(make_module: Any) -> None:
    source = """
        import asyncio
        async def wait(order, number):
            await asyncio.sleep(1)
            order.append(number)
        async def main():
            {extra}
            order = []
            await asyncio.gather(wait(order, 1), wait(order, 2))
            assert order == [1, 2]
    """
    failure = failure_of(make_module(source.format(extra=""), "before").main)
    edited = make_module(source.format(extra="await asyncio.sleep(5); await asyncio.sleep(0)"), "after")
    with pytest.raises(AssertionError):
        simulate.run(edited.main, decisions=failure.decisions)


def test_it_ends_when_its_time_is_over() -> None:
    async def main() -> None:
        await asyncio.wait([asyncio.create_task(asyncio.sleep(1)) for _ in range(3)])

    assert simulate.explore(main, runs=10**6, seconds=0.05).runs < 10**6


def test_a_skip_is_no_failure() -> None:
    async def main() -> None:
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception):
        simulate.explore(main)


async def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: simulate.run(nothing()), "pass the function itself: write `nothing`"),  # type: ignore[arg-type]
        (lambda: simulate.run(5), "pass an `async def` function"),  # type: ignore[arg-type]
        (lambda: simulate.run(lambda: 5), "write it as `async def`"),  # type: ignore[arg-type,return-value]
        (lambda: simulate.run(nothing, seed=-1), "whole number from 0"),
        (lambda: simulate.run(nothing, decisions={"x": 1}), "copy the decisions"),
        (lambda: simulate.run(nothing, decisions={"cancel | a | b | 0": "1"}), "write a number"),  # type: ignore[dict-item]
        (lambda: simulate.run(nothing, faults=[5]), "simulate.cancel()"),
        (lambda: simulate.run(nothing, faults=simulate.cancel()), "write a list"),
        (lambda: simulate.run(nothing, allow="socket"), "write a list"),
        (lambda: simulate.run(nothing, allow=["sockets"]), "choose from"),
        (lambda: simulate.run(nothing, time_limit=0), "above 0"),
        (lambda: simulate.explore(nothing, runs=0), "whole number from 1"),
        (lambda: simulate.explore(nothing, seconds=-1), "above 0"),
        (lambda: simulate.explore(nothing, cancel="all", faults=CANCEL), 'write "each"'),
        (lambda: simulate.explore(nothing, cancel="each"), r"add `faults=\[simulate.cancel\(\)\]`"),
        (lambda: simulate.cancel(""), '"clients"'),
        (lambda: simulate.stall(-1), "above 0"),
    ],
)
def test_wrong_use_says_what_to_write(call: Any, hint: str) -> None:
    with pytest.raises(OrdealError, match=hint) as caught:
        call()
    assert caught.value.hint


def test_a_simulation_inside_of_one_is_refused() -> None:
    async def main() -> None:
        simulate.run(nothing)

    with pytest.raises(simulate.SimulationError, match="a simulation runs already"):
        simulate.run(main)
    simulate.run(nothing)


async def _ten_sleepers() -> None:
    order = list[int]()

    async def sleep(number: int) -> None:
        await asyncio.sleep(1)
        order.append(number)

    await asyncio.gather(*map(sleep, range(10)))
    assert order == sorted(order)


def test_a_shrink_that_ends_by_itself_has_no_limit() -> None:
    failure = failure_of(_ten_sleepers)
    assert len(failure.decided) == 1
    assert failure.shrink_limit == ""
    assert "Shrinking" not in str(failure)


async def _three_late_ones_or_the_first_two() -> None:
    released, gone = asyncio.Event(), set[int]()

    async def wait(number: int) -> None:
        try:
            await released.wait()
        except asyncio.CancelledError:
            gone.add(number)

    waiting = [asyncio.create_task(wait(number)) for number in range(8)]
    await asyncio.sleep(1)
    released.set()
    await asyncio.gather(*waiting)
    has_failed = gone == {0, 1} or len(gone - {0, 1}) > 2
    assert not has_failed


@pytest.mark.parametrize("seed", [1, 2])
def test_two_decisions_are_enough_where_they_strike_others(seed: int) -> None:
    failure = failure_of(_three_late_ones_or_the_first_two, faults=[simulate.cancel("wait*")], seed=seed)
    assert [each.actor for each in failure.decided] == ["wait#0", "wait#1"]


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [("SHRINK_RUNS_MAX", 0, "0 runs"), ("SHRINK_CPU_S", -1.0, "-1 s of processor time, 0 runs")],
)
def test_a_shrink_ends_at_its_limit_and_says_so(
    monkeypatch: pytest.MonkeyPatch, name: str, value: float, limit: str
) -> None:
    monkeypatch.setattr(exploring, name, value)
    failure = failure_of(_ten_sleepers)
    assert failure.shrink_limit == limit
    assert f"Shrinking ended at its limit, {limit}: fewer decisions may suffice." in str(failure)
    with pytest.raises(AssertionError):
        simulate.run(_ten_sleepers, decisions=failure.decisions)

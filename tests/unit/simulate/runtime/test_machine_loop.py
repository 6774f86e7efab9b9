"""Coroutine rules of a machine with ``simulated`` run in simulated time, and the tape decides what is open."""

from __future__ import annotations

import asyncio
import os
from typing import Any, ClassVar

import pytest
from hypothesis.stateful import run_state_machine_as_test

from ordeal import ChaosTest, Explorer, rule, simulate
from ordeal.errors import MachineError

from ...samples.waiters import CarefulPool, LosingPool, use


class PoolChaos(ChaosTest):
    simulated: ClassVar[Any] = [simulate.cancel()]
    make: Any = LosingPool

    def __init__(self) -> None:
        super().__init__()
        self.pool = self.make(1)

    @rule()  # type: ignore[arg-type]
    async def three_users(self) -> None:
        await asyncio.wait([asyncio.create_task(use(self.pool)) for _ in range(3)])

    @rule()  # type: ignore[arg-type]
    async def one_user(self) -> None:
        await use(self.pool)


class CarefulChaos(PoolChaos):
    make = CarefulPool


class SlowChaos(ChaosTest):
    simulated = True

    @rule()  # type: ignore[arg-type]
    async def wait(self) -> None:
        before = asyncio.get_running_loop().time()
        await asyncio.sleep(3600)
        assert asyncio.get_running_loop().time() == before + 3600

    @rule()  # type: ignore[arg-type]
    async def leave_a_task(self) -> None:
        self.kept = asyncio.create_task(asyncio.sleep(10**6))


class OrderChaos(ChaosTest):
    simulated = True

    @rule()  # type: ignore[arg-type]
    async def race(self) -> None:
        order = list[int]()

        async def wait(number: int) -> None:
            await asyncio.sleep(1)
            order.append(number)

        await asyncio.gather(*map(wait, range(3)))
        assert order == [0, 1, 2]


class LostErrorChaos(ChaosTest):
    simulated = True

    @rule()  # type: ignore[arg-type]
    async def lose_it(self) -> None:
        async def fails() -> None:
            raise ValueError

        self.kept = asyncio.create_task(fails())
        await asyncio.sleep(1)


class EscapingChaos(ChaosTest):
    simulated = True

    @rule()  # type: ignore[arg-type]
    async def escape(self) -> None:
        os.system("true")


def failure_of(machine: type[ChaosTest]) -> Any:
    (failure,) = Explorer(machine, seed=1).run(max_runs=5).failures
    return failure


def test_the_explorer_finds_a_lost_turn_and_replays_it() -> None:
    failure = failure_of(PoolChaos)
    assert type(failure.error).__name__ == "Deadlock"
    assert [step.name for step in failure.trace.steps if step.kind == "rule"] in (
        ["three_users"],
        ["three_users", "one_user"],
    )
    assert not failure.flaky


def test_a_correct_pool_passes_and_time_costs_nothing() -> None:
    for machine in (CarefulChaos, SlowChaos):
        result = Explorer(machine, seed=1).run(max_runs=10)
        assert result.failures == []


@pytest.mark.parametrize(
    ("machine", "error"),
    [
        (OrderChaos, "AssertionError"),
        (LostErrorChaos, "UnhandledTaskError"),
    ],
)
def test_what_else_a_simulated_run_can_end_with_is_a_failure(machine: type[ChaosTest], error: str) -> None:
    failure = failure_of(machine)
    assert type(failure.error).__name__ == error
    assert len([step for step in failure.trace.steps if step.kind == "rule"]) == 1


def test_an_escape_is_wrong_use() -> None:
    with pytest.raises(simulate.EscapedSimulation, match=r"os\.system"):
        Explorer(EscapingChaos, seed=1).run(max_runs=10)


def test_hypothesis_finds_it_as_well() -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(OrderChaos)


def test_other_values_are_refused() -> None:
    class Wrong(ChaosTest):
        simulated: ClassVar[Any] = [5]

        @rule()  # type: ignore[arg-type]
        async def go(self) -> None:
            pass

    with pytest.raises(MachineError, match="`simulated` of a ChaosTest is"):
        Wrong().run_coroutine(None)


class AuditChaos(ChaosTest):
    """Believes that callbacks run in the order in which they were asked for, as asyncio promises."""

    simulated = True

    @rule()  # type: ignore[arg-type]
    async def pay_and_audit(self) -> None:
        books = list[str]()
        loop, audited = asyncio.get_running_loop(), asyncio.Event()
        loop.call_soon(books.append, "paid")
        loop.call_soon(books.append, "audited")
        loop.call_soon(audited.set)
        await audited.wait()
        await asyncio.sleep(0)
        assert books == ["paid", "audited"]


class WorldAuditChaos(AuditChaos):
    simulated = False
    world = simulate.world(clients=1)


@pytest.mark.parametrize("machine", [AuditChaos, WorldAuditChaos])
def test_callbacks_keep_their_order(machine: type[ChaosTest]) -> None:
    assert not Explorer(machine, seed=1).run(max_runs=40, steps_per_run=4).failures

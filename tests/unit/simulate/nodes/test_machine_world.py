"""The coroutine rules of a machine with a world overlap, its faults are on the tape, and at its end all is calm."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import Bundle, run_state_machine_as_test

from ordeal import ChaosTest, Explorer, _native, initialize, invariant, precondition, rule, simulate
from ordeal.errors import MachineError

from ...samples.nodes import ask, echo


class CounterChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world(clients=2)

    def __init__(self) -> None:
        super().__init__()
        self.value = 0
        self.ended = 0

    @rule()  # type: ignore[arg-type]
    async def add(self) -> None:
        value = self.value
        await self.pause()
        self.value = value + 1
        self.ended += 1

    @staticmethod
    async def pause() -> None:
        await asyncio.sleep(1)

    def converged(self) -> bool:
        assert self.value == self.ended
        return True


def test_the_order_of_tasks_is_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    def checkpoints() -> int:
        result = Explorer(CounterChaos, seed=1, workers=1).run(max_runs=5, steps_per_run=4, shrink=False)
        return result.checkpoints or 0

    kept = checkpoints()
    off = ("task step", "task order", "decision")
    monkeypatch.setattr(_native, "Session", functools.partial(_native.Session, features_off=off))
    assert checkpoints() < kept


def test_a_failure_has_the_last_events_of_the_tasks_involved() -> None:
    (failure,) = Explorer(CounterChaos, seed=1, workers=1).run(max_runs=200).failures
    text = str(failure)
    events = text.partition("Last events:")[2].partition("Struck by:")[0]
    assert events.count("CounterChaos.add#0") >= 2
    assert "1.000 s  CounterChaos.add#1  goes on at `CounterChaos.pause: await asyncio.sleep(1)`" in events
    assert "unknown" not in events
    assert "Ended with an error" not in text


class CarefulChaos(CounterChaos):
    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()

    @rule()  # type: ignore[arg-type]
    async def add(self) -> None:
        async with self.lock:
            await asyncio.sleep(1)
            self.value += 1
            self.ended += 1


class NodeChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world(faults=[simulate.crash(longest=1), simulate.partition(longest=1)], settle=30)
    is_careful = True

    @initialize()  # type: ignore[arg-type]
    async def start(self) -> None:
        self.world.node("db", echo)
        await self.world.until(lambda: True)

    @rule()  # type: ignore[arg-type]
    async def question(self) -> None:
        while True:
            try:
                async with asyncio.timeout(2):
                    assert await ask("db", "x") == ["X"]
                    return
            except (OSError, TimeoutError, AssertionError):
                if not self.is_careful:
                    raise
                await asyncio.sleep(0.1)


class CarelessChaos(NodeChaos):
    is_careful = False


class BundleChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world()
    made: Bundle[Any] = Bundle("made")

    @rule(target=made)
    async def make(self) -> float:
        await asyncio.sleep(1)
        return float(self.world.time)

    @rule(value=made)
    def use(self, value: float) -> None:
        assert value >= 1


class StuckChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world(clients=3, settle=5)

    @rule()  # type: ignore[arg-type]
    async def wait(self) -> None:
        await asyncio.Event().wait()


class ForgetfulChaos(ChaosTest):
    """Who waits for the only turn is forgotten, while a node goes on."""

    world: ClassVar[Any] = simulate.world(clients=2, settle=5)

    @initialize()  # type: ignore[arg-type]
    async def start(self) -> None:
        async def beat() -> None:
            while True:
                await asyncio.sleep(100)

        self.world.node("beats", beat)

    @rule()  # type: ignore[arg-type]
    async def wait(self) -> None:
        waiting = [asyncio.get_running_loop().create_future()]
        await waiting.pop()


class LeftoverChaos(ChaosTest):
    world: ClassVar[Any] = simulate.world()

    @rule()  # type: ignore[arg-type]
    async def leave(self) -> None:
        async def clean_up() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise ValueError("broken clean-up")

        self.kept = asyncio.create_task(clean_up())
        await asyncio.sleep(1)


def failure_of(machine: type[ChaosTest], runs: int = 60) -> Any:
    return Explorer(machine, seed=1).run(max_runs=runs, max_time=600).failures[0]


def rules(failure: Any) -> list[str]:
    return [step.name for step in failure.trace.steps if step.kind == "rule"]


def test_the_program_of_a_failure_says_what_the_world_decided() -> None:
    (failure, *_) = Explorer(CarelessChaos, seed=1, workers=1).run(max_runs=10, shrink=False).failures
    assert any(text in failure.program for text in ("db: crash after ", "db: partition after ", "client: partition"))
    assert "chance acts at call" not in failure.program


async def _a_turn() -> None:
    await asyncio.sleep(0)


async def _a_while() -> None:
    await asyncio.sleep(1)


async def _a_job() -> None:
    await asyncio.to_thread(int)


async def _an_event() -> None:
    ready = asyncio.Event()
    asyncio.get_running_loop().call_soon(ready.set)
    await ready.wait()


@pytest.mark.parametrize("pause", [_a_turn, _a_while, _a_job, _an_event])
def test_operations_overlap_and_are_told_to(pause: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CounterChaos, "pause", staticmethod(pause))
    failure = failure_of(CounterChaos)
    assert type(failure.error).__name__ == "AssertionError"
    assert set(rules(failure)) == {"add"}
    assert not failure.flaky
    assert "overlap" in str(failure)
    assert "timers" not in f"{failure}{failure.program}"


def test_correct_machines_pass() -> None:
    for machine in (CarefulChaos, NodeChaos, BundleChaos):
        assert Explorer(machine, seed=1).run(max_runs=10).failures == []


def test_a_crash_strikes_an_operation() -> None:
    failure = Explorer(CarelessChaos, seed=1).run(max_runs=10, shrink=False).failures[0]
    assert type(failure.error).__name__ in (
        "AssertionError",
        "ConnectionResetError",
        "ConnectionRefusedError",
        "TimeoutError",
    )
    assert not failure.flaky


@pytest.mark.parametrize(
    ("machine", "error"),
    [
        (StuckChaos, "Deadlock NotReached"),
        (ForgetfulChaos, "OrphanedWait"),
        (LeftoverChaos, "UnhandledTaskError"),
    ],
)
def test_what_never_ends_and_what_fails_late_is_found(machine: type[ChaosTest], error: str) -> None:
    failure = failure_of(machine, 1)
    assert type(failure.error).__name__ in error.split()
    assert len(rules(failure)) <= 3


def test_hypothesis_finds_it_as_well() -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(CounterChaos, settings=settings(phases=[Phase.generate], database=None))


def test_the_class_has_the_settings_and_the_machine_the_world() -> None:
    machine = NodeChaos()
    assert isinstance(machine.world, simulate.World)
    assert machine.world is machine.world
    assert NodeChaos.world.clients == 3
    machine.teardown()


def test_wrong_worlds_are_refused() -> None:
    for members in ({"world": 5}, {"simulated": True}):
        with pytest.raises(MachineError, match="world"):
            type("Wrong", (CounterChaos,), members)().run_coroutine(asyncio.sleep(0))
    for arguments in ({"clients": 0}, {"settle": 0}, {"faults": [5]}):
        with pytest.raises(simulate.SimulationError):
            simulate.world(**arguments)


@pytest.mark.parametrize("isolate", [False, True])
def test_the_report_says_what_struck(isolate: bool) -> None:
    class Struck(NodeChaos):
        world: ClassVar[Any] = simulate.world(
            faults=[simulate.crash(longest=1), simulate.pause("nobody"), simulate.cancel()], settle=30
        )
        is_careful = False

    Explorer(Struck, seed=3, isolate=isolate, workers=1).run(max_runs=2, shrink=False)
    result = Explorer(Struck, seed=3, isolate=isolate, workers=1).run(max_runs=20)
    uses = {use.name: use for use in result.faults}
    assert list(uses) == ["simulate.crash('*')", "simulate.pause('nobody')", "simulate.cancel('clients')"]
    assert uses["simulate.crash('*')"].runs == 20
    assert uses["simulate.crash('*')"].hits > 0
    assert (uses["simulate.pause('nobody')"].calls, uses["simulate.pause('nobody')"].hits) == (0, 0)
    assert any("simulate.pause('nobody') was part of 20 runs" in note for note in result.notes)
    failures = [failure for failure in result.failures if failure.struck]
    assert failures
    assert "Active faults" not in str(failures[0])
    assert "\n  Struck by: 1 " in str(failures[0])


def test_only_strikes_that_came_about_are_told() -> None:
    class Late(ChaosTest):
        world: ClassVar[Any] = simulate.world(faults=[simulate.crash()])

        @rule()  # type: ignore[arg-type]
        async def fail(self) -> None:
            self.world.node(f"db{len(self.world.nodes)}", echo)
            raise ValueError

    (failure,) = Explorer(Late, seed=2, isolate=False).run(max_runs=5, shrink=False).failures
    assert failure.struck == {}
    assert "  Struck by: nothing\n" in str(failure)


def test_what_is_awaited_is_not_cancelled_but_what_it_starts_is() -> None:
    cancelled = list[str]()

    class Awaited(ChaosTest):
        world: ClassVar[Any] = simulate.world(faults=[simulate.cancel()])
        made: Bundle[Any] = Bundle("made")

        @initialize()  # type: ignore[arg-type]
        async def start(self) -> None:
            self.helper = asyncio.create_task(self.wait("helper"))
            await self.wait("start")

        @rule(target=made)
        async def make(self) -> int:
            await self.wait("make")
            return 1

        @rule()  # type: ignore[arg-type]
        async def operate(self) -> None:
            await self.wait("operation")

        async def wait(self, name: str) -> None:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                cancelled.append(name)
                raise

    result = Explorer(Awaited, seed=1, isolate=False).run(max_runs=40)
    assert not result.failures
    assert set(cancelled) == {"helper", "operation"}


def test_invariants_hold_between_events() -> None:
    class Exclusive(ChaosTest):
        world: ClassVar[Any] = simulate.world(clients=2)

        def __init__(self) -> None:
            super().__init__()
            self.inside = self.asked = 0

        @rule()  # type: ignore[arg-type]
        async def enter(self) -> None:
            await asyncio.sleep(0)
            self.inside += 1
            await asyncio.sleep(0)
            self.inside -= 1

        @invariant()
        def nobody_is_inside(self) -> None:
            assert not self.inside

        @precondition(lambda self: self.inside > 5)
        @invariant()
        def is_never_asked(self) -> None:
            self.asked += 1

    (failure,) = Explorer(Exclusive, seed=1, isolate=False).run(max_runs=3).failures
    assert isinstance(failure.error, AssertionError)
    assert failure.place is not None
    assert (failure.place.kind, failure.place.name) == ("invariant", "nobody_is_inside")
    assert len(failure.trace.steps) == 1 if failure.trace is not None else False

"""Machines whose world has ticks: what time, commands, restarts and restores find, and which classes are refused."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis.stateful import invariant

from ordeal import ChaosTest, Explorer, rule, simulate
from ordeal.errors import MachineError
from ordeal.simulate import EscapedSimulation, NotReached, NotRestored, SimulationError
from ordeal.swarm import ops_of

from ...samples.machines import run

LEASE_S = 10


@dataclass(frozen=True)
class Pay:
    order: int
    cents: int


@dataclass(frozen=True)
class Take:
    order: int
    worker: int


class Desk:
    """Pays orders once each, keeps them in a file, and leases each to one worker for a while."""

    def __init__(self, broken: str, disk_path: str = "/paid.json") -> None:
        self.broken = broken
        self.path = Path(disk_path)
        self.paid: dict[int, int] = dict(json.loads(self.path.read_text())) if self.path.exists() else {}
        self.leases: dict[int, tuple[int, float]] = {}
        self.reminders: dict[int, float] = {}
        self.reminded = 0
        self.now = 0.0

    def pay(self, order: int, cents: int) -> None:
        if order in self.paid and self.broken != "dedupe":
            return
        self.paid[order] = self.paid.get(order, 0) + cents % 100
        self.reminders[order] = self.now + 5
        new = self.path.with_suffix(".new")
        with new.open("w") as file:
            file.write(json.dumps(list(self.paid.items())))
            file.flush()
            if self.broken != "write":
                os.fsync(file.fileno())
        new.replace(self.path)
        if self.broken != "rename":
            folder = os.open("/", os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def take(self, order: int, worker: int) -> bool:
        holder, until = self.leases.get(order, (worker, 0.0))
        if holder != worker and until > self.now:
            return False
        self.leases[order] = worker, self.now + LEASE_S
        return True

    def step(self, now: float) -> None:
        self.now = now
        for order, at in list(self.reminders.items()):
            if at <= now:
                del self.reminders[order]
                self.reminded += 1
        if self.broken != "lease":
            self.leases = {order: each for order, each in self.leases.items() if each[1] > now}

    def dump(self) -> bytes:
        rows = [sorted(each.items()) for each in (self.paid, self.leases, self.reminders)]
        if self.broken == "timer":
            rows[2] = []
        return json.dumps([*rows, self.reminded, self.now]).encode()

    def load(self, blob: bytes) -> None:
        paid, leases, reminders, self.reminded, self.now = json.loads(blob)
        if self.broken == "twice":
            for order, cents in paid:
                self.paid[order] = self.paid.get(order, 0) + cents
        else:
            self.paid = dict(paid)
        self.leases = {order: (worker, until) for order, (worker, until) in leases}
        self.reminders = dict(reminders)


class DeskDST(ChaosTest):
    world: ClassVar[Any] = simulate.world(ticks=1_000, settle=50, faults=[simulate.crash()])
    commands: ClassVar[Any] = [Pay, Take]
    broken = ""

    def start(self) -> None:
        self.desk = Desk(self.broken)
        self.paid: dict[int, int] = getattr(self, "paid", {})

    def tick(self, now: float) -> None:
        assert self.world.clock.time() == now
        self.desk.step(now)

    def perform(self, command: Pay | Take) -> None:
        if isinstance(command, Pay):
            self.desk.pay(command.order, command.cents)
            self.paid.setdefault(command.order, command.cents % 100)
        else:
            self.desk.take(command.order, command.worker)

    def live_ids(self) -> dict[str, list[int]]:
        return {"order": [*self.paid, *self.desk.leases], "worker": [1, 2]}

    def snapshot(self) -> bytes:
        return self.desk.dump()

    def restore(self, blob: bytes) -> None:
        self.desk.load(blob)

    @invariant()
    def paid_once(self) -> None:
        if hasattr(self, "desk"):
            assert self.desk.paid == self.paid

    def converged(self) -> bool:
        return not self.desk.leases


def broken_desk(mistake: str) -> type[ChaosTest]:
    return type("BrokenDesk", (DeskDST,), {"broken": mistake, "__module__": __name__})


def test_a_right_program_is_left_alone() -> None:
    assert Explorer(DeskDST, seed=1, workers=1).run(max_runs=40).failures == []


@pytest.mark.parametrize(
    ("mistake", "error"),
    [
        ("write", json.JSONDecodeError),
        ("rename", AssertionError),
        ("dedupe", AssertionError),
        ("twice", NotRestored),
        ("timer", NotRestored),
        ("lease", NotReached),
    ],
)
def test_a_mistake_is_found(mistake: str, error: type[Exception]) -> None:
    result = Explorer(broken_desk(mistake), seed=1, workers=1).run(max_runs=25, shrink=False)
    assert error in {type(failure.error) for failure in result.failures}


class Counter(ChaosTest):
    """The least that a machine with ticks has."""

    world: ClassVar[Any] = simulate.world(ticks=100)

    def start(self) -> None:
        self.seen: list[float] = []

    def tick(self, now: float) -> None:
        self.seen.append(now)


def test_the_rules_are_those_that_the_machine_has_methods_for() -> None:
    assert ops_of(Counter) == ["tick"]
    assert sorted(ops_of(DeskDST)) == ["pay", "restart", "restore", "take", "tick"]
    assert DeskDST.swarm == "sizes"
    assert DeskDST.weight_caps["restart"] == 5
    assert "tick" in DeskDST.always_on


def begun(cls: type[ChaosTest]) -> Any:
    machine: Any = cls()
    machine.world.run(machine.start)
    return machine


def test_a_tick_moves_the_clock_of_the_program() -> None:
    class Watch(Counter):
        world: ClassVar[Any] = simulate.world(ticks=100, tick_length=0.5)

        def tick(self, now: float) -> None:
            self.seen.append(time.monotonic())

    machine = begun(Watch)
    machine.tick(ticks=3)
    assert machine.seen == [0.5, 1.0, 1.5]
    machine.tick(2.5)
    assert machine.world.ticks == 3


def test_a_run_has_no_more_ticks_than_it_drew() -> None:
    machine = begun(Counter)
    machine.world.limit = 5
    machine.tick(ticks=20)
    assert machine.world.ticks == len(machine.seen) == 5


def test_files_of_the_program_are_on_its_disk_and_lose_what_was_not_synced(tmp_path: Path) -> None:
    class Writer(Counter):
        def tick(self, now: float) -> None:
            Path(tmp_path / "log").parent.mkdir(parents=True, exist_ok=True)
            Path(tmp_path / "log").write_text("x")

    machine = begun(Writer)
    machine.tick(ticks=1)
    assert machine.world.disk.read_text(tmp_path / "log") == "x"
    assert not (tmp_path / "log").exists()
    machine.world.disk.crash()
    assert not machine.world.disk.exists(tmp_path / "log")


def test_leaving_the_simulation_is_refused_at_the_line() -> None:
    class Caller(Counter):
        def tick(self, now: float) -> None:
            os.system("true")

    machine = begun(Caller)
    with pytest.raises(EscapedSimulation, match=r"starts a process.*test_machine.py:\d+"):
        machine.tick(ticks=1)


def test_what_must_hold_is_asked_between_the_ticks_of_one_step() -> None:
    class Spike(Counter):
        @invariant()
        def is_never_three(self) -> None:
            assert len(getattr(self, "seen", [])) != 3

    with pytest.raises(AssertionError):
        begun(Spike).tick(ticks=20)
    machine = begun(Counter)
    machine.world.always("few ticks", lambda: len(machine.seen) < 4)
    with pytest.raises(simulate.BrokenProperty, match="few ticks: it does not hold at tick 4"):
        machine.tick(ticks=20)


def test_a_clock_that_is_set_wrong_changes_dates_alone() -> None:
    class Dated(Counter):
        world: ClassVar[Any] = simulate.world(ticks=100, faults=[simulate.skew(longest=30)])

        def tick(self, now: float) -> None:
            self.seen.append(time.time() - time.monotonic())

    assert ops_of(Dated) == ["tick", "skew"]
    machine = begun(Dated)
    machine.tick(ticks=1)
    machine.skew(seconds=-30.0)
    machine.tick(ticks=1)
    assert machine.seen[1] == machine.seen[0] - 30


class Kept(Counter):
    """Takes snapshots of how many ticks it has seen."""

    def tick(self, now: float) -> None:
        self.seen.append(now)
        if self.fails_after is not None and len(self.seen) > self.fails_after:
            raise KeyError(now)

    fails_after: int | None = None

    def snapshot(self) -> Any:
        return json.dumps(self.seen).encode()

    def restore(self, blob: bytes) -> None:
        self.seen = json.loads(blob)

    def state(self) -> Any:
        return len(self.seen)


def test_snapshots_are_taken_in_the_rhythm_of_the_run() -> None:
    machine = begun(Kept)
    machine.world.snapshot_every = 4
    machine.tick(ticks=3)
    assert machine.world.last_snapshot is None
    machine.tick(ticks=6)
    assert machine.world.last_snapshot == json.dumps([1.0 + each for each in range(8)]).encode()


def test_a_restored_program_is_compared_for_ten_steps() -> None:
    machine = begun(Kept)
    machine.tick(ticks=2)
    machine.restore()
    assert machine.world.original is not None
    machine.tick(ticks=9)
    assert machine.world.original.steps_left == 1
    machine.tick(ticks=2)
    assert machine.world.original is None
    assert len(machine.seen) == 13


class LosesState(Kept):
    def restore(self, blob: bytes) -> None:
        self.seen = json.loads(blob)[1:]


class OtherBytes(Kept):
    def restore(self, blob: bytes) -> None:
        self.seen = [each + 1 for each in json.loads(blob)]


class OtherFuture(Kept):
    is_restored = False

    def restore(self, blob: bytes) -> None:
        super().restore(blob)
        self.is_restored = True

    def tick(self, now: float) -> None:
        super().tick(now + self.is_restored)


class OtherEnd(Kept):
    def restore(self, blob: bytes) -> None:
        super().restore(blob)
        self.fails_after = 3


@pytest.mark.parametrize(
    ("cls", "text"),
    [
        (LosesState, r"a restore changes the state\n  before: 2\n  after:  1"),
        (OtherBytes, r"the snapshot after a restore is another one\n  they differ from byte 1"),
        (OtherFuture, "after a restore, tick leads to another snapshot than without it"),
        (OtherEnd, "after a restore, tick ends with KeyError: 4.0; without the restore, it does not"),
    ],
)
def test_what_a_restore_owes(cls: type[ChaosTest], text: str) -> None:
    machine = begun(cls)
    machine.tick(ticks=2)

    def restored() -> None:
        machine.restore()
        machine.tick(ticks=5)

    with pytest.raises(NotRestored, match=text):
        restored()


def test_an_error_that_both_raise_is_that_of_the_program() -> None:
    class Ends(Kept):
        fails_after = 3

    machine = begun(Ends)
    machine.tick(ticks=2)
    machine.restore()
    with pytest.raises(KeyError):
        machine.tick(ticks=5)


def test_what_cannot_be_copied_is_compared_once_and_told() -> None:
    class Open(Kept):
        def start(self) -> None:
            super().start()
            self.numbers = (number for number in range(3))

    machine = begun(Open)
    with pytest.warns(simulate.SimulationWarning, match="the future of a restored program is not compared"):
        machine.restore()
    assert machine.world.original is None


def test_a_snapshot_is_bytes() -> None:
    class Text(Kept):
        def snapshot(self) -> Any:
            return "text"

    with pytest.raises(SimulationError, match="return bytes"):
        begun(Text).restore()


def test_rules_of_the_machine_are_code_of_the_program_too() -> None:
    class Own(Counter):
        @rule()
        def look(self) -> None:
            assert time.monotonic() == self.world.clock.time()

    run(Own)


def test_hypothesis_runs_it() -> None:
    run(DeskDST, max_examples=10)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"commands": [Pay]}, "write `def perform"),
        ({"commands": "Pay"}, "write a list of classes"),
        ({"commands": [int], "perform": print}, "write a dataclass"),
        ({"commands": [Pay, Pay], "perform": print}, "rename the class, or the other pay"),
        ({"commands": [Pay], "perform": print, "pay": print}, "rename the class, or the other pay"),
        ({"snapshot": lambda self: b""}, "write both"),
    ],
)
def test_refused(body: dict[str, Any], text: str) -> None:
    with pytest.raises(MachineError, match=text):
        type("Refused", (Counter,), body)


def test_refused_coroutines() -> None:
    with pytest.raises(MachineError, match="tick is `async def`"):

        class Late(Counter):
            async def tick(self, now: float) -> None: ...  # type: ignore[override]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ticks": 0}, "ticks is 0"),
        ({"ticks": 5, "tick_length": 0}, "tick_length is 0"),
        ({"ticks": 5, "faults": [simulate.partition()]}, "no network"),
        ({"ticks": 5, "faults": [simulate.cancel()]}, "no network"),
    ],
)
def test_refused_settings(options: dict[str, Any], text: str) -> None:
    with pytest.raises(SimulationError, match=text):
        simulate.world(**options)

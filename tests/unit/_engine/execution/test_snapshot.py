"""A machine made from a snapshot is the machine that was copied, and shares nothing with it."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from ordeal import ChaosTest, _native
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.execution.snapshot import SnapshotError, Snapshots
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal.explore import Explorer
from ordeal.faults import LambdaFault


class Box(ChaosTest):
    """A machine with aliases, a bundle and a fault."""

    faults = [LambdaFault("lamp", lambda: None, lambda: None)]  # noqa: RUF012 - as users write it
    things: Bundle[list[int]] = Bundle("things")

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []
        self.alias = self.log
        self.me = self
        self.hook = self.note

    def note(self, text: str) -> None:
        self.log.append(text)

    @rule(target=things)
    def make(self) -> list[int]:
        return [1]


@pytest.fixture
def randoms() -> Iterator[GlobalRandoms]:
    with GlobalRandoms().managed() as managed:
        managed.reseed()
        yield managed


def run_of(machine: Any) -> RunContext:
    run = RunContext(_native.Replay(_native.Tape()).source)
    run.use_machine(machine)
    return run


def snapshots_of(cls: type[RuleBasedStateMachine], randoms: GlobalRandoms) -> Snapshots:
    driver = make_driver(cls)
    return Snapshots(cls, driver.factory, driver.faults, randoms)


def copied(machine: Any, randoms: GlobalRandoms, change: Callable[[], object] = lambda: None) -> Any:
    """Take a snapshot of ``machine``, ``change`` something, and restore."""
    snapshots = snapshots_of(type(machine), randoms)
    snapshot = snapshots.take(run_of(machine))
    change()
    return snapshots.restore(snapshot, RunContext(_native.Replay(_native.Tape()).source))


def test_aliases_stay_aliases_and_nothing_is_shared(randoms: GlobalRandoms) -> None:
    box = Box()
    box.log.append("before")
    twin = copied(box, randoms, lambda: box.log.append("after"))
    assert twin.log == ["before"]
    assert twin.alias is twin.log
    assert twin.me is twin
    twin.hook("more")
    assert twin.log == ["before", "more"]
    assert box.log == ["before", "after"]


def test_values_of_bundles_keep_their_identity_with_the_state(randoms: GlobalRandoms) -> None:
    box: Any = Box()
    thing = [7]
    box.names_to_values["things_0"] = thing
    box.bundles["things"] = ["reference"]
    box.log = thing
    twin = copied(box, randoms, box.bundles["things"].clear)
    assert twin.names_to_values["things_0"] is twin.log
    assert twin.log is not thing
    assert twin.bundles == {"things": ["reference"]}


def test_random_generators_and_counted_hits_come_back(randoms: GlobalRandoms) -> None:
    box = Box()
    random.random()
    fault = Box.faults[0]
    fault.observe()
    wanted = random.Random()
    wanted.setstate(random.getstate())
    twin = copied(box, randoms, random.random)
    assert random.random() == wanted.random()
    assert fault.observation_hits == 1
    twin.teardown()


def test_values_of_shared_strategies_come_back(randoms: GlobalRandoms) -> None:
    box = Box()
    snapshots = snapshots_of(Box, randoms)
    run = run_of(box)
    strategy = st.shared(st.just(1), key="k")
    run.share({"k": (box.log, strategy)})
    snapshot = snapshots.take(run)
    later = run_of(Box())
    twin: Any = snapshots.restore(snapshot, later)
    value, kept = later.shared["k"]
    assert value is twin.log
    assert kept is strategy


class Locked(RuleBasedStateMachine):
    """State that cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (number for number in [0])

    @rule()
    def act(self) -> None:
        """Act."""


class Slotted(RuleBasedStateMachine):
    """State outside of the machine's dictionary."""

    __slots__ = ("count",)

    @rule()
    def act(self) -> None:
        """Act."""


@pytest.mark.parametrize(("cls", "said"), [(Locked, "generator"), (Slotted, "Slotted has __slots__")])
def test_what_cannot_be_copied_is_said(cls: type[RuleBasedStateMachine], said: str, randoms: GlobalRandoms) -> None:
    with pytest.raises(SnapshotError, match=said):
        snapshots_of(cls, randoms).take(run_of(cls()))


class Filtered(ChaosTest):
    """A machine that leaves its connection out of snapshots."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.connection = threading.Lock()
        self.rows: list[int] = []
        self.restored: list[str] = []

    @rule()
    def act(self) -> None:
        """Act."""

    def checkpoint_snapshot_filter(self, name: str, value: Any) -> bool:
        del value
        return name != "connection"

    def restore_snapshot(self, state: dict[str, Any]) -> None:
        self.restored = sorted(name for name in state if name in {"rows", "connection"})


def test_what_a_filter_leaves_out_comes_from_a_fresh_machine(randoms: GlobalRandoms) -> None:
    machine = Filtered()
    machine.rows.append(1)
    made = Filtered.made
    twin = copied(machine, randoms)
    assert Filtered.made == made + 1
    assert twin.rows == [1]
    assert twin.connection is not machine.connection
    assert twin.restored == ["rows"]


class Cloning(ChaosTest):
    """A machine that copies itself."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (number for number in [0])
        self.rows: tuple[int, ...] = (0,)

    @rule()
    def act(self) -> None:
        """Act."""

    def clone_checkpoint_state(self) -> dict[str, Any]:
        return {"rows": self.rows}

    def restore_checkpoint_state(self, state: dict[str, Any]) -> None:
        self.rows = state["rows"]


def test_a_machine_may_copy_itself(randoms: GlobalRandoms) -> None:
    machine = Cloning()
    machine.rows = (1, 2)
    twin = copied(machine, randoms)
    assert twin.rows == (1, 2)
    assert twin.numbers is not machine.numbers


class Handling(RuleBasedStateMachine):
    """Its constructor sets the handler of a signal, which its rule sends."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0
        self._found = signal.signal(signal.SIGUSR1, self._receive)

    def _receive(self, *_ignored: object) -> None:
        self.received += 1

    @rule()
    def send(self) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)

    def teardown(self) -> None:
        signal.signal(signal.SIGUSR1, self._found)


MADE: set[int] = set()


class Copied(RuleBasedStateMachine):
    """Ends its process if its constructor did not run."""

    def __init__(self) -> None:
        super().__init__()
        MADE.add(id(self))
        self.values: list[int] = []

    @rule(value=st.integers(0, 100))
    def act(self, value: int) -> None:
        self.values.append(value)
        if id(self) not in MADE:
            os._exit(5)

    def teardown(self) -> None:
        MADE.discard(id(self))


@pytest.mark.parametrize(
    ("cls", "isolate", "why"),
    [
        (Handling, False, "its state cannot be copied (it has set a handler of a signal)"),
        pytest.param(
            Copied,
            True,
            "a failure from a copy (ProcessExitError(5) at act) did not happen from a fresh machine",
            marks=pytest.mark.supervised,
        ),
    ],
)
def test_what_only_a_copy_does_is_no_failure_and_ends_copying(
    cls: type[RuleBasedStateMachine], isolate: bool, why: str
) -> None:
    result = Explorer(cls, workers=1, isolate=isolate, seed=1).run(max_runs=200)
    assert (result.failures, result.inconclusive) == ([], None)
    assert result.notes == (f"Checkpoints of {cls.__name__} are reached by running their steps again: {why}.",)

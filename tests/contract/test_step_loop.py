"""The step loop in C++ and the driver in Python are one: the same tapes, the same outcomes, the same report."""

from __future__ import annotations

import dataclasses
import importlib
import random
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import assume, currently_in_test_context, event, note, target
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from msgspec import structs

from ordeal import buggify
from ordeal._engine.execution.driver import Driver
from ordeal._engine.search.search import Search
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import Fault, LambdaFault
from ordeal.result import ExplorationResult

from .drawn.machines import random_machine

PUZZLES = (
    *("busy_desk.BusyDesk", "dead_ends.DeadEnds", "deep_chain.DeepChain", "far_limit.FarLimit", "full_shelf.FullShelf"),
    *("handed_out.HandedOut", "hidden_progress.HiddenProgress", "magic_header.MagicHeader", "secret_key.SecretKey"),
    *("secret_number.SecretNumber", "shifted_code.ShiftedCode", "two_faults.TwoFaults"),
)


class Everything(ChaosTest):
    """One of each kind of what a machine can have."""

    faults: ClassVar[list[Fault]] = [LambdaFault("power", int, int), LambdaFault("network", int, int)]
    boxes = Bundle("boxes")
    lids = Bundle("lids")

    def __init__(self) -> None:
        super().__init__()
        assert currently_in_test_context()
        self.log: list[Any] = []

    @initialize(target=boxes, size=st.integers(0, 5))
    def begin(self, size: int) -> int:
        return size

    @initialize()
    def begin_again(self) -> None:
        self.log.append(len(self.bundle("boxes")))

    @rule(target=boxes, weight=st.integers(0, 100), label=st.text(max_size=3))
    def place(self, weight: int, label: str) -> Any:
        event(f"label of {len(label)}")
        return (weight, label)

    @rule(targets=(boxes, lids), count=st.integers(0, 3))
    def place_many(self, count: int) -> Any:
        return multiple(*range(count))

    @rule(box=boxes, lid=consumes(lids))
    def close(self, box: Any, lid: int) -> None:
        self.log.append((box, lid))

    @rule(some=st.lists(boxes, max_size=3), flag=st.booleans(), one=st.just("one"), kind=st.sampled_from("abc"))
    def look(self, some: list[Any], flag: bool, one: str, kind: str) -> None:
        assume(len(some) < 3 or flag)
        self.log.append((some, one, kind, list(self.names_to_values), random.random()))

    @precondition(lambda self: len(self.log) > 3)
    @rule(data=st.data())
    def draw(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, 50))
        note(f"number {number}")
        target(number, label="number")
        if buggify():
            self.log.append("buggy")

    @rule(number=st.integers(0, 1000))  # type: ignore[arg-type]
    async def wait(self, number: int) -> None:
        assert number != 999, "the number"

    @invariant()
    def all_is_well(self) -> None:
        assert len(self.log) < 40, "too long"

    @precondition(lambda self: len(self.active_faults) == 2)
    @invariant(check_during_init=True)
    def both_faults(self) -> None:
        assert len(self.bundle("lids")) < 6, "too many lids"

    def state_hash(self) -> int:
        return len(self.log) + 100 * len(self.active_faults)


class Returns(RuleBasedStateMachine):
    """Gives something back where nothing is asked for."""

    @rule(number=st.integers(0, 9))  # type: ignore[arg-type]
    def give(self, number: int) -> int | None:
        return number or None


class Checks(RuleBasedStateMachine):
    """An invariant that says what it should assert."""

    @rule()
    def nothing(self) -> None: ...

    @invariant()
    def is_fine(self) -> bool:
        return True


class Raises(ChaosTest):
    """Fails in its constructor or teardown now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    @rule(number=st.integers(0, 9))
    def call(self, number: int) -> None:
        self.calls += number

    def teardown(self) -> None:
        super().teardown()
        assert self.calls < 60, "too many calls"


@dataclasses.dataclass
class Explored:
    """What an exploration did, run by run, and what it came to."""

    tapes: list[Any]
    result: ExplorationResult

    @property
    def report(self) -> dict[str, Any]:
        """All of the result that time has no part in."""
        found = structs.asdict(self.result)
        for timed in ("duration_seconds", "failures", "traces", "seed_replays"):
            found.pop(timed, None)
        return found

    @property
    def failures(self) -> list[Any]:
        """Where each failure was found, and its trace."""
        return [
            (f.bucket, f.count, f.run_id, f.flaky, f.trace and f.trace.to_dict()) if hasattr(f, "bucket") else repr(f)
            for f in self.result.failures
        ]


def explore(
    monkeypatch: pytest.MonkeyPatch, given: Callable[[], Any], *, in_cpp: bool, runs: int, **options: Any
) -> Explored:
    tapes: list[Any] = []
    one_run = Search._one_run

    def recorded(self: Search) -> None:
        one_run(self)
        # As text: a NaN is like itself there.
        tapes.append(repr(self.session.tape.steps()))

    with monkeypatch.context() as patch:
        patch.setattr(Driver, "in_cpp", in_cpp)
        patch.setattr(Search, "_one_run", recorded)
        options = {"max_time": 600, "max_runs": runs, "confirm_fresh": False, **options}
        split = {name: options.pop(name) for name in ("target_modules", "seed", "rule_swarm") if name in options}
        result = Explorer(given(), **split).run(**options)
    return Explored(tapes, result)


def check_same(monkeypatch: pytest.MonkeyPatch, given: Callable[[], Any], **options: Any) -> Explored:
    python = explore(monkeypatch, given, in_cpp=False, **options)
    cpp = explore(monkeypatch, given, in_cpp=True, **options)
    assert cpp.tapes == python.tapes
    assert cpp.report == python.report
    assert cpp.failures == python.failures
    return cpp


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_a_machine_of_everything(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    explored = check_same(monkeypatch, lambda: Everything, runs=150, seed=seed)
    assert explored.failures


@pytest.mark.parametrize("machine", [Returns, Checks, Raises])
def test_machines_that_fail_in_odd_places(monkeypatch: pytest.MonkeyPatch, machine: Any) -> None:
    assert check_same(monkeypatch, lambda: machine, runs=60).failures


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_puzzles(monkeypatch: pytest.MonkeyPatch, puzzle: str) -> None:
    module, _, name = f"puzzles.{puzzle}".rpartition(".")
    machine = getattr(importlib.import_module(module), name)
    check_same(monkeypatch, lambda: machine, runs=60, target_modules=[module], record_traces=True)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(8, 20))])
def test_random_machines(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    # What shrinking replays is what these runs are made of, and there is far more of it.
    check_same(monkeypatch, lambda: random_machine(seed), runs=40, seed=seed, shrink=False)

"""Numbers of the state: where they are found, and that a search climbs to what only a large one shows."""

from __future__ import annotations

import functools
from collections import deque
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._engine.search.state_numbers import PATHS_MAX, number_paths
from ordeal.explore import Explorer

LIMIT = 400


class Slotted:
    __slots__ = ("size", "unset")

    def __init__(self) -> None:
        self.size = 3


class Hostile:
    """Nothing of it may run: what it stores is read around it."""

    def __init__(self) -> None:
        self.stored = 1

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    @property
    def computed(self) -> int:
        raise AssertionError


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.items: dict[str, int] = {}
        self.slotted = Slotted()
        self.hostile = Hostile()
        self.itself = self
        self.function = len
        self.nothing = None
        self.queue: deque[int] = deque()

    @rule(amount=st.integers(0, 5))
    def add(self, amount: int) -> None:
        self.count += amount
        assert self.count < LIMIT

    @rule()
    def reset(self) -> None:
        self.count = 0


def test_numbers_and_collections_are_found_also_in_what_the_machine_holds() -> None:
    assert number_paths(Machine()) == ["count", "items", "queue", "slotted.size", "hostile.stored"]


def test_a_state_of_any_size_is_read_in_part() -> None:
    machine = Machine()
    vars(machine).update({f"number_{i}": i for i in range(1_000)})
    assert len(number_paths(machine)) == PATHS_MAX


@pytest.mark.parametrize("targets", [[], ["tests.unit._engine.search.test_state_numbers"]])
def test_a_search_climbs_to_a_number_that_no_run_reaches_at_once(
    targets: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failures() -> int:
        explorer = Explorer(Machine, target_modules=targets, workers=1, seed=1)
        return len(explorer.run(max_runs=3_000, shrink=False).failures)

    assert failures() == 1
    session = functools.partial(_native.Session, features_off=("magnitude",))
    monkeypatch.setattr(_native, "Session", session)
    assert failures() == 0


def test_a_search_that_only_climbs_runs_out_of_patience() -> None:
    class Endless(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        @rule(amount=st.integers(0, 5))
        def add(self, amount: int) -> None:
            self.count += amount

        @rule()
        def reset(self) -> None:
            self.count = 0

    result = Explorer(Endless, workers=1, seed=1).run(max_runs=20_000, patience=500)
    assert result.total_runs < 10_000

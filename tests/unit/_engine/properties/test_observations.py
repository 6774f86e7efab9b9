"""Events, targets and sizes of bundles reach the session, once each, whichever driver runs the steps."""

import functools
from typing import Any

import pytest
from hypothesis import event, target
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

import ordeal._native as _native
from ordeal import Explorer
from ordeal._engine.execution.driver import Driver
from ordeal.result import ExplorationResult


class Silent(RuleBasedStateMachine):
    """Counts to five, and says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @rule(number=st.integers(0, 3))
    def add(self, number: int) -> None:
        self.count = min(5, self.count + number)


class Speaking(Silent):
    """Says how far it is."""

    @rule(number=st.integers(0, 3))
    def add(self, number: int) -> None:
        super().add(number)
        event(f"at {self.count}")
        event("payload", "high" if self.count > 3 else "low")


class Aiming(Silent):
    """Says at the end how far it came."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(number=st.integers(0, 3))
    def add(self, number: int) -> None:
        super().add(number)
        self.total += number

    def teardown(self) -> None:
        target(self.total, label="total")
        target(-float(self.total))


class Filling(RuleBasedStateMachine):
    """Two bundles, one of which is taken from."""

    boxes: Bundle[int] = Bundle("boxes")
    bags: Bundle[int] = Bundle("bags")

    @rule(target=boxes)
    def make(self) -> int:
        return 1

    @rule(target=bags, box=consumes(boxes))
    def move(self, box: int) -> int:
        return box


def explored(cls: type[RuleBasedStateMachine], **options: Any) -> ExplorationResult:
    return Explorer(cls, seed=3, **options).run(max_runs=60, shrink=False)


@pytest.mark.parametrize("cls", [Speaking, Aiming])
def test_what_is_told_is_worth_a_checkpoint(cls: type[RuleBasedStateMachine]) -> None:
    assert explored(cls).checkpoints_saved > explored(Silent).checkpoints_saved + 3


@pytest.mark.parametrize("cls", [Speaking, Aiming, Filling])
def test_both_drivers_tell_the_same(cls: type[RuleBasedStateMachine], monkeypatch: pytest.MonkeyPatch) -> None:
    native = explored(cls, record_traces=True)
    with_loop = Driver.__init__

    def without_loop(self: Any, *arguments: Any, **options: Any) -> None:
        with_loop(self, *arguments, **options)
        self.in_cpp = False

    monkeypatch.setattr(Driver, "__init__", without_loop)
    plain = explored(cls, record_traces=True)
    assert (plain.checkpoints_saved, plain.total_steps) == (native.checkpoints_saved, native.total_steps)


def test_events_of_hypothesis_itself_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The count of both machines is a number that runs climb by, and they draw differently.
    monkeypatch.setattr(_native, "Session", functools.partial(_native.Session, features_off=("magnitude",)))

    class Picky(Silent):
        @rule(number=st.integers(0, 3).filter(lambda number: number % 2 == 0))
        def add(self, number: int) -> None:
            super().add(number)

    assert explored(Picky).checkpoints_saved <= explored(Silent).checkpoints_saved + 1

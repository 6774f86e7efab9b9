"""Reading the state of a machine: by paths, in bounded time and size, whatever its objects do."""

from __future__ import annotations

import dataclasses
import enum
import time
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from ordeal._engine.trace_view import values
from ordeal._engine.trace_view.values import StateReader
from ordeal._engine.trace_view.view import Change, changes_between
from ordeal.chaos import ChaosTest


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Order:
    status: Colour
    lines: list[Any]


class Slotted:
    __slots__ = ("filled", "left_empty")

    def __init__(self) -> None:
        self.filled = 3


class Machine(RuleBasedStateMachine):
    things = Bundle("things")

    @rule(target=things, thing=st.integers())
    def make(self, thing: int) -> int:
        return thing


class Chaotic(ChaosTest):
    @rule()
    def nothing(self) -> None:
        """Do nothing."""


def state_of(**attributes: Any) -> dict[str, str]:
    machine = Machine()
    vars(machine).update(attributes)
    return StateReader(Machine).read(machine)


def test_only_what_the_author_added_is_shown() -> None:
    assert state_of() == {}
    machine = Chaotic()
    machine.count = 1  # type: ignore[attr-defined]
    assert StateReader(Chaotic).read(machine) == {"count": "1"}


def test_parts_have_paths() -> None:
    orders = {"A1": Order(Colour.RED, [Slotted(), 2])}
    assert state_of(orders=orders, total=1.5) == {
        "orders['A1'].status": "Colour.RED",
        "orders['A1'].lines[0].filled": "3",
        "orders['A1'].lines[1]": "2",
        "total": "1.5",
    }


def test_short_collections_are_one_row_and_sets_are_sorted() -> None:
    assert state_of(numbers=[1, 2], names={"b", "a"}, nothing={}, pair=(1, "x")) == {
        "numbers": "[1, 2]",
        "names": "{'a', 'b'}",
        "nothing": "{}",
        "pair": "(1, 'x')",
    }


def test_bundles_come_last_by_their_names() -> None:
    machine = Machine()
    machine.names_to_values["things_0"] = 7
    reference = type("Reference", (), {"name": "things_0"})()
    machine.bundles["things"] = [reference]
    assert StateReader(Machine).read(machine) == {"bundle things": "[7]"}


def test_what_two_paths_lead_to_is_shown_once() -> None:
    order = Order(Colour.RED, [])
    order.lines.append(order)
    assert state_of(first=order, second=order) == {
        "first.status": "Colour.RED",
        "first.lines[0]": "the same as first",
        "second": "the same as first",
    }


def test_a_machine_may_say_itself_what_there_is_to_see() -> None:
    machine = Machine()
    machine.secret = 1  # type: ignore[attr-defined]
    machine.view_state = lambda: {"shown": [Colour.RED]}  # type: ignore[attr-defined]
    assert StateReader(Machine).read(machine) == {"shown": "[<Colour.RED: 1>]"}


class RaisingRepr:
    __slots__ = ()

    def __repr__(self) -> str:
        raise ValueError("no")


class Exits:
    __slots__ = ()

    def __repr__(self) -> str:
        raise SystemExit(3)


class Long:
    __slots__ = ()

    def __repr__(self) -> str:
        return "\x1b[31m" * 1_000_000


class Dishonest(dict[str, int]):
    def items(self) -> Any:
        raise ValueError("no")

    def __iter__(self) -> Any:
        raise ValueError("no")

    def __len__(self) -> int:
        raise ValueError("no")


class Asking:
    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(name)


class Claiming:
    __class__ = dict  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [RaisingRepr, Exits, Long, Dishonest, Asking, Claiming])
def test_hostile_objects_are_contained(kind: type) -> None:
    state = state_of(before=1, hostile=kind(), after=2)
    assert (state["before"], state["after"]) == ("1", "2")
    assert all(len(text) < 400 and text.isprintable() for text in state.values())


def test_size_and_depth_are_bounded() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    state = state_of(deep=deep, wide=list(range(10_000)), texts=["x" * 1_000] * 10_000)
    assert len(state) < 1_000
    assert sum(map(len, state.values())) < 2 * values.CHARS_MAX
    assert "wide[...]" in state


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        __slots__ = ()

        def __repr__(self) -> str:
            time.sleep(0.002)
            return "slow"

    monkeypatch.setattr(values, "SECONDS_MAX", 0.01)
    state = state_of(many=[[Slow()] for _ in range(100)])
    assert "..." in state


def test_changes_name_what_came_and_went() -> None:
    assert changes_between({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == [
        Change("b", "2", "3"),
        Change("c", None, "4"),
        Change("a", "1", None),
    ]

"""Two states have one number exactly where they are alike."""

from __future__ import annotations

import datetime
import enum
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.trace_view import values as module
from ordeal._engine.trace_view.values import PARTS_MAX, StateReader, sketch


class Light(enum.Enum):
    RED = 1
    GREEN = 2


@dataclass
class Point:
    x: Any


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class Cache(dict[str, int]):
    def __init__(self, hits: int) -> None:
        super().__init__(a=1)
        self.hits = hits


class Machine(RuleBasedStateMachine):
    value: Any = None

    @rule()
    def nothing(self) -> None: ...


def number(value: Any) -> int:
    machine = Machine()
    machine.value = value
    return sketch(StateReader(Machine), machine)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (-1, -2),
        (1, True),
        (1, 1.0),
        (1, "1"),
        (0.0, -0.0),
        ("a", b"a"),
        ([1, 2], [2, 1]),
        ([1], (1,)),
        ([[], 1], [[1]]),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (Counter(a=0), Counter()),
        (Cache(1), Cache(2)),
        ({1, -1}, {1, -2}),
        (deque([1]), deque([2])),
        (Light.RED, Light.GREEN),
        (Point(1), Point(2)),
        (Slotted(1), Slotted(2)),
        (Slotted(1), Point(1)),
        (Point(Point(-1)), Point(Point(-2))),
        (datetime.date(2000, 1, 1), datetime.date(2000, 1, 2)),
        (set(range(1_000)), {*range(999), 2_000}),
        pytest.param(10**5000, 10**5000 + 1, id="huge"),
    ],
)
def test_what_differs_has_another_number(one: Any, other: Any) -> None:
    assert number(one) != number(other)


def test_what_is_alike_has_the_same_number() -> None:
    def made() -> Any:
        loop = Point({"a": {3, 1, 2}, "b": [Light.RED, datetime.date(2000, 1, 1), object()]})
        loop.x["self"] = loop
        return loop

    assert number(made()) == number(made())


class Shown(Machine):
    def view_state(self) -> dict[str, Any]:
        return {"value": self.value}


class Changing(Machine):
    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("kind", "value", "is_limited"),
    [
        (Machine, {"a": [1, Point({2})]}, False),
        (Machine, deque(range(PARTS_MAX + 1)), False),
        (Shown, 1, True),
        (Changing, 1, True),
    ],
)
def test_the_time_is_limited_where_code_of_the_program_runs(
    kind: type[Machine], value: Any, is_limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def limited(call: Callable[[], None], fallback: object) -> None:
        del fallback
        calls.append("limited")
        call()

    monkeypatch.setattr(module, "bounded_call", limited)
    machine = kind()
    machine.value = value
    sketch(StateReader(kind), machine)
    assert bool(calls) == is_limited

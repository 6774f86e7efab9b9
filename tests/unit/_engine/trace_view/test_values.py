"""Reading the state of a machine: by paths, in bounded time and size, whatever its objects do."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from ordeal._base import untrusted
from ordeal._base.limits import PARTS_MAX, TEXT_CHARS_MAX
from ordeal._engine.trace_view import values
from ordeal._engine.trace_view import values as module
from ordeal._engine.trace_view.values import StateReader, sketch
from ordeal._engine.trace_view.view import PartChange, changes_between
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


class Cache(dict[str, int]):
    def __init__(self, hits: int) -> None:
        super().__init__(a=1)
        self.hits = hits


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


def test_a_mapping_of_the_program_has_items_and_attributes() -> None:
    assert state_of(cache=Cache(3)) == {"cache['a']": "1", "cache.hits": "3"}


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


@pytest.mark.parametrize("kind", [Dishonest, Asking, Claiming])
def test_hostile_objects_are_contained(kind: type) -> None:
    state = state_of(before=1, hostile=kind(), after=2)
    assert (state["before"], state["after"]) == ("1", "2")
    assert all(len(text) < 400 and text.isprintable() for text in state.values())


class HostileText(str):
    """A text whose methods do harm."""

    __slots__ = ()

    def __len__(self) -> int:
        raise SystemExit(1)

    def __getitem__(self, key: Any) -> Any:
        raise SystemExit(2)

    def __str__(self) -> str:
        raise SystemExit(3)


def _raises(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


def _hangs() -> Any:
    while True:
        time.sleep(0.01)


def _recurses() -> Any:
    return _recurses() + ""


#: What a method of an object may do when it is asked for a text, a length or its items.
ACTS: dict[str, Callable[[], Any]] = {
    "raises": _raises(ValueError("no")),
    "exits": _raises(SystemExit(3)),
    "closes": _raises(GeneratorExit()),
    "hangs": _hangs,
    "recurses": _recurses,
    "is long": lambda: "x" * 2**26,
    "is ANSI": lambda: "\x1b[31m\x1b]0;title\x07\r\n" * 100,
    "is not text": lambda: 7,
    "is odd": lambda: "\ud800\u202e\x00</script>",
    "is a hostile text": lambda: HostileText("x" * 1_000),
}
_ASKED = ("__repr__", "__str__", "__len__", "__iter__", "__bool__", "__eq__", "items", "keys", "values", "__format__")


def hostile_object(base: type, act: Callable[[], Any]) -> Any:
    methods: dict[str, Any] = {name: lambda self, *_arguments: act() for name in _ASKED}
    return type("Hostile", (base,), {**methods, "__hash__": lambda _self: 1})()


@pytest.mark.parametrize("base", [object, dict, list, set, Exception])
def test_fifty_hostile_objects_are_contained(base: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "SECONDS_MAX", 0.05)
    assert len(ACTS) == 10
    for name, act in ACTS.items():
        state = state_of(before=1, hostile=hostile_object(base, act), held=[hostile_object(base, act)], after=2)
        assert state["before"] == "1", name
        assert "after" in state or "..." in state, name
        assert all(len(text) < 400 and text.isprintable() for text in state.values()), name


def test_size_and_depth_are_bounded() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    state = state_of(deep=deep, wide=list(range(10_000)), texts=["x" * 1_000] * 10_000)
    assert len(state) < 1_000
    assert sum(map(len, state.values())) < 2 * TEXT_CHARS_MAX
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
        PartChange("b", "2", "3"),
        PartChange("c", None, "4"),
        PartChange("a", "1", None),
    ]


class Light(enum.Enum):
    RED = 1
    GREEN = 2


@dataclass
class Point:
    x: Any


class SketchedSlots:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class SketchedCache(dict[str, int]):
    def __init__(self, hits: int) -> None:
        super().__init__(a=1)
        self.hits = hits


class SketchedMachine(RuleBasedStateMachine):
    value: Any = None

    @rule()
    def nothing(self) -> None: ...


def number(value: Any) -> int:
    machine = SketchedMachine()
    machine.value = value
    return sketch(StateReader(SketchedMachine), machine)


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
        (SketchedCache(1), SketchedCache(2)),
        ({1, -1}, {1, -2}),
        (deque([1]), deque([2])),
        (Light.RED, Light.GREEN),
        (Point(1), Point(2)),
        (SketchedSlots(1), SketchedSlots(2)),
        (SketchedSlots(1), Point(1)),
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


class Shown(SketchedMachine):
    def view_state(self) -> dict[str, Any]:
        return {"value": self.value}


class Changing(SketchedMachine):
    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("kind", "value", "is_limited"),
    [
        (SketchedMachine, {"a": [1, Point({2})]}, False),
        (SketchedMachine, deque(range(PARTS_MAX + 1)), False),
        (Shown, 1, True),
        (Changing, 1, True),
    ],
)
def test_the_time_is_limited_where_code_of_the_program_runs(
    kind: type[SketchedMachine], value: Any, is_limited: bool, monkeypatch: pytest.MonkeyPatch
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


def test_a_container_that_is_emptied_was_there_before() -> None:
    assert changes_between({"d[1]": "2"}, {"d": "{}"}) == [PartChange("d", "…", "{}"), PartChange("d[1]", "2", None)]
    assert changes_between({"d": "{}"}, {"d.a": "2"}) == [PartChange("d.a", None, "2"), PartChange("d", "{}", "…")]

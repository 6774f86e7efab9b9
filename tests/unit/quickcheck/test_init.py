"""Quickcheck: arguments from type hints, biased towards boundaries, with errors that say what to write."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, NewType, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import ordeal.quickcheck
from ordeal.errors import ConfigError
from ordeal.quickcheck import biased, quickcheck, strategy_for_type

pytestmark = pytest.mark.slow

# Nothing here asks for the smallest of what is found, and to look for it takes most of the time.
QUICK = settings(
    max_examples=2000,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)

UserId = NewType("UserId", int)
type Row = tuple[int, str]
type Json = int | list[Json] | dict[str, Json]
type Chain[Item] = tuple[Item, Chain[Item]] | None
Value = TypeVar("Value")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Tree:
    value: int
    label: str = "x"
    children: list[Tree] = field(default_factory=list)
    size: int = field(default=0, init=False)


@dataclass
class Box[Item]:
    item: Item
    more: list[Item]
    inner: Box[Item] | None


@dataclass
class OldBox(Generic[Value]):  # noqa: UP046 - the older way to write it
    item: dict[str, Value]
    box: Box[Value]


class Unmakeable:
    def __init__(self, socket) -> None:  # type: ignore[no-untyped-def]
        self.socket = socket


def found(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool]) -> Any:
    return find(strategy, wanted, settings=QUICK)


# -- the decorator ----------------------------------------------------------------------------------------------------


def test_arguments_are_of_their_types_and_it_runs_as_often_as_it_says() -> None:
    seen: list[Any] = []

    @quickcheck(max_examples=17)
    def check(number: int, texts: list[str], flag: bool | None, plain=3) -> None:  # type: ignore[no-untyped-def]
        assert type(number) is int
        assert all(type(text) is str for text in texts)
        assert flag in (True, False, None)
        assert plain == 3
        seen.append(number)

    check()
    assert len(seen) == 17


def test_a_failure_is_shrunk() -> None:
    seen: list[list[int]] = []

    @quickcheck
    def check(xs: list[int]) -> None:
        seen.append(xs)
        assert sorted(xs) == xs

    with pytest.raises(AssertionError):
        check()
    assert sorted(map(abs, seen[-1])) == [0, 1]


def test_overrides_replace_hints_and_stand_for_missing_ones() -> None:
    @quickcheck(port=st.just(80), host=st.just("h"))
    def check(port: int, host) -> None:  # type: ignore[no-untyped-def]
        assert (port, host) == (80, "h")

    check()


class TestMethods:
    @quickcheck(max_examples=5)
    def test_self_is_left_alone(self, number: int) -> None:
        assert isinstance(self, TestMethods)
        assert type(number) is int


def test_the_module_is_the_function() -> None:
    @ordeal.quickcheck(max_examples=3)
    def check(number: int) -> None:
        assert type(number) is int

    check()
    assert ordeal.quickcheck.quickcheck is quickcheck


def unhinted(value):  # type: ignore[no-untyped-def]
    """Has no hints."""


def without_parameters() -> None:
    """Has nothing to draw."""


def hinted(value: int) -> None:
    """Is as it should be."""


def opaque(value: Unmakeable) -> None:
    """Asks for what cannot be made."""


async def coroutine(value: int) -> None:
    """Is no plain function."""


def unreadable(value: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Has a hint that names nothing."""


@pytest.mark.parametrize(
    ("use", "message", "hint"),
    [
        (
            lambda: quickcheck(unhinted),
            "unhinted: the parameter 'value' has no type hint",
            "give it one, or a strategy: @quickcheck(value=st.integers())",
        ),
        (
            lambda: quickcheck(without_parameters),
            "without_parameters has no parameter to make values for",
            "write for example `def test_sum(xs: list[int]) -> None:`",
        ),
        (
            lambda: quickcheck(valeu=st.integers())(hinted),
            "hinted has no parameter 'valeu'",
            "its parameters: value",
        ),
        (
            lambda: quickcheck(value=3)(hinted),  # type: ignore[call-overload]
            "hinted: value=3 is no strategy",
            "write value=st.just(3)",
        ),
        (
            lambda: quickcheck(opaque),
            "opaque: the parameter 'value': no values can be made of the type 'Unmakeable'",
            "give a strategy: @quickcheck(value=st.builds(...))",
        ),
        (
            lambda: quickcheck(coroutine),  # type: ignore[arg-type]
            "coroutine is a coroutine function",
            "call asyncio.run(...) in a plain test",
        ),
        (
            lambda: quickcheck(unreadable),
            "unreadable: a type hint cannot be read: name 'Missing' is not defined",
            "import what it names",
        ),
        (
            lambda: quickcheck(max_examples=0),
            "quickcheck(max_examples=0)",
            "write a whole number from 1",
        ),
        (
            lambda: quickcheck(3),  # type: ignore[call-overload]
            "@quickcheck needs a function, got 3",
            "write @quickcheck above a test",
        ),
    ],
)
def test_wrong_use(use: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        use()
    assert (caught.value.message, caught.value.hint) == (message, hint)


# -- types ------------------------------------------------------------------------------------------------------------


def is_json(value: Any) -> bool:
    inner = value.values() if type(value) is dict else value if type(value) is list else []
    return type(value) in (int, list, dict) and all(map(is_json, inner))


def is_chain(value: Any) -> bool:
    return value is None or (type(value[0]) is int and is_chain(value[1]))


def is_box(kind: type, value: Any) -> bool:
    items = [value.item, *value.more]
    return type(value) is Box and all(type(i) is kind for i in items) and (not value.inner or is_box(kind, value.inner))


def is_tree(value: Any) -> bool:
    return type(value) is Tree and value.size == 0 and all(map(is_tree, value.children))


@pytest.mark.parametrize(
    ("tp", "is_one"),
    [
        (int, lambda v: type(v) is int),
        (bool, lambda v: type(v) is bool),
        (float, lambda v: type(v) is float and math.isfinite(v)),
        (str, lambda v: type(v) is str),
        (bytes, lambda v: type(v) is bytes),
        (None, lambda v: v is None),
        (Any, lambda v: True),
        (list, lambda v: type(v) is list),
        (list[int], lambda v: type(v) is list and all(type(i) is int for i in v)),
        (tuple[int, str], lambda v: type(v) is tuple and [type(i) for i in v] == [int, str]),
        (tuple[int, ...], lambda v: type(v) is tuple and all(type(i) is int for i in v)),
        (tuple[()], lambda v: v == ()),
        (set[int], lambda v: type(v) is set),
        (frozenset[str], lambda v: type(v) is frozenset),
        (dict[str, list[int]], lambda v: type(v) is dict and all(type(i) is list for i in v.values())),
        (int | None, lambda v: v is None or type(v) is int),
        (Literal["a", 1], lambda v: v in ("a", 1)),
        (UserId, lambda v: type(v) is int),
        (Row, lambda v: type(v) is tuple and len(v) == 2),
        (Colour, lambda v: isinstance(v, Colour)),
        (complex, lambda v: type(v) is complex),
        (Tree, is_tree),
        (list[list[list[int]]], lambda v: type(v) is list),
        (Json, is_json),
        (Chain[int], is_chain),
        (Box[str], partial(is_box, str)),
        (Box[Box[int]], lambda v: is_box(int, v.item)),
        (OldBox[int], lambda v: is_box(int, v.box) and all(type(i) is int for i in v.item.values())),
        (tuple[int, *tuple[str, ...]], lambda v: [type(i) for i in v] == [int, *[str] * (len(v) - 1)]),
        (dict[Any, int], lambda v: all(type(i) is int for i in v.values())),
    ],
)
def test_values_are_of_the_type(tp: Any, is_one: Callable[[Any], bool]) -> None:
    @given(value=strategy_for_type(tp))
    @settings(max_examples=60, database=None, derandomize=True)
    def check(value: Any) -> None:
        assert is_one(value)

    check()


def test_recursive_types_nest() -> None:
    assert found(strategy_for_type(Tree), lambda tree: any(child.children for child in tree.children))
    assert found(strategy_for_type(Json), lambda value: type(value) is list and [] in value)
    assert found(strategy_for_type(Chain[int]), lambda value: value and value[1] and value[1][1])


@pytest.mark.parametrize("tp", [list, tuple, set, frozenset, dict, tuple[int, *tuple[str, ...]]], ids=repr)
def test_collections_without_their_items_types_have_items(tp: Any) -> None:
    assert found(strategy_for_type(tp), lambda value: len(value) > 1)


def has_length(wanted: int, value: Any) -> bool:
    return len(value) == wanted


# -- bias -------------------------------------------------------------------------------------------------------------

INTEGERS = [0, 1, -1, 2, -2, 10, -10, 100, -100, 255, 256, 2**15, -(2**15), 2**31, -(2**31), 2**63, -(2**63)]


def frequent(strategy: st.SearchStrategy[Any], count: int = 2000) -> list[str]:
    """What is drawn in so many draws, as texts, since NaN and -0.0 do not compare."""
    drawn: list[str] = []

    @given(value=strategy)
    @settings(QUICK, max_examples=count)
    def draw(value: Any) -> None:
        drawn.append(repr(value))

    draw()
    return drawn


def test_integers_are_often_boundaries() -> None:
    drawn = frequent(biased.integers())
    assert {repr(value) for value in INTEGERS} <= set(drawn)


def test_integers_keep_their_range_and_have_its_ends() -> None:
    drawn = set(map(int, frequent(biased.integers(17, 1000), 500)))
    assert {17, 18, 999, 1000, 100, 255, 256} <= drawn
    assert all(17 <= value <= 1000 for value in drawn)
    assert set(map(int, frequent(biased.integers(5, 5), 10))) == {5}


def test_floats_are_often_boundaries_and_finite_unless_allowed() -> None:
    drawn = set(frequent(biased.floats()))
    assert {repr(v) for v in (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-10, -1e-10, 1e10, -1e10)} <= drawn
    assert not {"nan", "inf", "-inf"} & drawn
    assert {"nan", "inf"} <= set(frequent(biased.floats(allow_nan=True, allow_infinity=True)))
    assert all(2.5 <= float(value) <= 3.5 for value in frequent(biased.floats(2.5, 3.5), 300))


def test_texts_bytes_and_lists_have_the_shortest_and_the_longest() -> None:
    for strategy in (biased.strings(2, 9), biased.bytes_(2, 9), biased.lists(biased.integers(), 2, 9)):
        for wanted in (2, 3, 9):
            assert found(strategy, partial(has_length, wanted))
    assert found(biased.strings(), lambda text: len(text) == 100)
    assert found(biased.lists(st.integers()), lambda xs: len(xs) == 50)


def test_items_of_a_repeated_list_are_their_own() -> None:
    rows = found(biased.lists(st.lists(st.integers(), min_size=1)), lambda rows: len(rows) == 50)
    assert len({id(row) for row in rows}) == 50


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (
            lambda: biased.integers(3, 1),
            "integers(3, 1): the lower bound is above the upper bound",
            "write integers(1, 3)",
        ),
        (
            lambda: biased.integers(0.5),  # type: ignore[arg-type]
            "integers(0.5, None): 0.5 is no bound",
            "write numbers, or leave a bound out",
        ),
        (
            lambda: biased.floats(math.nan),
            "floats(nan, None): nan is no bound",
            "write numbers, or leave a bound out",
        ),
        (
            lambda: biased.strings(3, 1),
            "strings: the smallest size, 3, is above the largest, 1",
            "swap the two",
        ),
        (lambda: biased.bytes_(-1), "bytes_: -1 is no size", "write whole numbers from 0"),
        (
            lambda: biased.lists(int),  # type: ignore[arg-type]
            "lists(<class 'int'>): the elements are no strategy",
            "write lists(integers())",
        ),
    ],
)
def test_wrong_bounds(make: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert (caught.value.message, caught.value.hint) == (message, hint)

"""Strategies that are made anew for each draw are recognized, unless they may differ."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from hypothesis.strategies import SearchStrategy

from ordeal import Explorer
from ordeal._base.limits import CACHED_MAX
from ordeal._hypothesis import tape_data
from ordeal._hypothesis.same_strategies import same_strategy

Make = Callable[[], SearchStrategy[Any]]


@st.composite
def pairs(draw: st.DrawFn, low: int) -> tuple[int, int]:
    return draw(st.integers(low, 9)), draw(st.integers(low, 9))


@st.composite
def choices(draw: st.DrawFn, values: list[int]) -> list[int]:
    draw(st.none())
    return values


def above(limit: int) -> Callable[[int], bool]:
    return lambda value: value > limit


SAME: dict[str, Make] = {
    "integers": lambda: st.integers(0, 5),
    "lists": lambda: st.lists(st.text("ab"), max_size=3, unique=True),
    "sampled": lambda: st.sampled_from(["a", "b"]),
    "just": lambda: st.just(5),
    "one_of": lambda: st.none() | st.floats(0.0, 1.0),
    "mapped": lambda: st.integers().map(str),
    "mapped one_of": lambda: (st.none() | st.integers()).map(str),
    "closure": lambda: st.integers().filter(above(3)),
    "flatmap": lambda: st.integers(0, 3).flatmap(lambda size: st.lists(st.none(), min_size=size)),
    "builds": lambda: st.builds(complex, st.integers(0, 9)),
    "composite": lambda: pairs(3),
    "recursive": lambda: st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2)),
    "method": lambda: st.lists(st.sampled_from("ab")).map("/".join),
    "unwrapped": lambda: st.lists(st.integers(), unique=True).wrapped_strategy,  # type: ignore[attr-defined]
    "characters": lambda: st.text(st.characters(categories=["L", "N"])),
    "dictionary": lambda: st.fixed_dictionaries({"a": st.none()}),
}

OTHERS: dict[str, tuple[Make, Make]] = {
    "bounds": (lambda: st.integers(0, 5), lambda: st.integers(0, 6)),
    "types": (lambda: st.just(1), lambda: st.just(True)),
    "zeros": (lambda: st.just(0.0), lambda: st.just(-0.0)),
    "closures": (lambda: st.integers().filter(above(3)), lambda: st.integers().filter(above(4))),
    "order": (lambda: st.sampled_from("ab"), lambda: st.sampled_from("ba")),
    "transformations": (lambda: st.integers().map(abs), lambda: st.integers().filter(abs)),
    "character of an alphabet": (
        lambda: st.text(st.sampled_from([chr(40 + i) for i in range(200)])),
        lambda: st.text(st.sampled_from([chr(41 + i) for i in range(200)])),
    ),
    "leaves": (
        lambda: st.recursive(st.none(), st.lists, max_leaves=3),
        lambda: st.recursive(st.none(), st.lists, max_leaves=4),
    ),
}

UNKNOWN: dict[str, Make] = {
    "object that may change": lambda: st.just([]),
    "closure of one": lambda: (lambda known: st.integers().filter(lambda value: value not in known))([1]),
    "shared": lambda: st.shared(st.integers()),
    "data": st.data,
    "deferred": lambda: st.deferred(st.none),
    "in another one": lambda: st.lists(st.shared(st.none())),
    "an object's method": lambda: st.integers().map(Counter().add),
    "composite of one": lambda: choices([1, 2]),
    "alphabet too long": lambda: st.sampled_from([chr(40 + i) for i in range(257)]),
    "long": lambda: st.sampled_from([*range(1_000)]),
}


class Counter:
    """Has a state."""

    def add(self, value: int) -> int:
        return value


@pytest.mark.parametrize("name", SAME)
def test_what_is_made_in_the_same_way_is_the_same(name: str) -> None:
    first, second = SAME[name](), SAME[name]()
    known = same_strategy(first)
    assert known is not None
    assert same_strategy(second) is known
    assert known.is_recursive == (name == "recursive")


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_in_anything_is_another_one(name: str) -> None:
    first, second = OTHERS[name]
    known = same_strategy(first())
    assert known is not None
    assert same_strategy(second()) not in (None, known)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_change_is_not_recognized(name: str) -> None:
    assert same_strategy(UNKNOWN[name]()) is None


def test_the_list_that_was_given_may_change_afterwards() -> None:
    elements = ["a", "b"]
    first = same_strategy(st.sampled_from(elements))
    elements.append("c")
    assert same_strategy(st.sampled_from(elements)) is not first
    assert same_strategy(st.sampled_from(["a", "b"])) is first


def test_strategies_are_not_kept_without_end() -> None:
    first = same_strategy(st.integers(0, 77))
    for number in range(CACHED_MAX):
        same_strategy(st.just(number))
    assert same_strategy(st.integers(0, 77)) is not first


@st.composite
def trees(draw: st.DrawFn) -> object:
    """A tree whose leaves may be trees that are drawn by the same recursive strategy."""
    return draw(st.recursive(st.booleans(), lambda inner: st.lists(inner, max_size=3), max_leaves=4))


def test_a_recursive_strategy_may_be_drawn_while_its_like_draws() -> None:
    class Trees(RuleBasedStateMachine):
        @rule(data=st.data())
        def grow(self, data: st.DataObject) -> None:
            leaves = st.integers(0, 3).flatmap(lambda size: trees() if size == 3 else st.none())
            data.draw(st.recursive(leaves, lambda inner: st.lists(inner, max_size=2), max_leaves=3))

    result = Explorer(Trees, workers=1, seed=1).run(max_runs=10, steps_per_run=10, shrink=False)
    assert not result.failures
    assert result.total_steps > 10


def test_draws_are_those_of_strategies_that_are_not_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []

    class Sizes(RuleBasedStateMachine):
        @rule(data=st.data())
        def draw(self, data: st.DataObject) -> None:
            size = data.draw(st.integers(0, 4))
            drawn.append(data.draw(st.lists(st.sampled_from(["a", "b"]) | st.just(size), max_size=size)))
            drawn.append(data.draw(st.text("xyz", max_size=size).filter(lambda text: len(text) != size)))

    def explore() -> list[object]:
        drawn.clear()
        Explorer(Sizes, workers=1, seed=3).run(max_runs=20, shrink=False)
        return drawn[:]

    first = explore()
    assert explore() == first
    monkeypatch.setattr(tape_data, "same_strategy", lambda _strategy: None)
    assert explore() == first


def test_what_a_flatmap_makes_anew_is_drawn_by_the_plan_of_its_like(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    strategy_compiler = importlib.import_module("ordeal._hypothesis.strategy_compiler")
    compile_one = strategy_compiler.compile_strategy

    def counted(strategy: Any) -> Any:
        compiled.append(repr(strategy))
        return compile_one(strategy)

    monkeypatch.setattr(strategy_compiler, "compile_strategy", counted)

    class Drawing(RuleBasedStateMachine):
        @rule(value=st.integers(3, 4).flatmap(lambda size: st.lists(st.booleans(), min_size=size, max_size=size)))
        def draw(self, value: list[bool]) -> None:
            assert 3 <= len(value) <= 4

    Explorer(Drawing, seed=1, workers=1).run(max_runs=20)
    lists = [text for text in compiled if text.startswith("lists(")]
    assert len(lists) == len(set(lists)) == 2


def test_strategies_whose_addresses_are_a_multiple_of_a_power_of_two_apart_both_get_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[Any] = []
    strategy_compiler = importlib.import_module("ordeal._hypothesis.strategy_compiler")
    compile_one = strategy_compiler.compile_strategy

    def noted(strategy: Any) -> Any:
        compiled.append(strategy)
        return compile_one(strategy)

    monkeypatch.setattr(strategy_compiler, "compile_strategy", noted)
    made = [st.lists(st.booleans(), max_size=size) for size in range(3_000)]
    at: dict[int, SearchStrategy[Any]] = {}
    pair = next((at[key], each) for each in made if at.setdefault(key := id(each) >> 4 & 1023, each) is not each)

    class Drawing(RuleBasedStateMachine):
        @rule(value=st.integers(0, 1).flatmap(pair.__getitem__))
        def draw(self, value: list[bool]) -> None:
            assert all(item in (True, False) for item in value)

    Explorer(Drawing, seed=1, workers=1).run(max_runs=20)
    assert all(any(each is strategy for strategy in compiled) for each in pair)

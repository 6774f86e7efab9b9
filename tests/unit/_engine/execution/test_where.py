"""Where failures happened: the line of the machine, the last line beyond it, and the values of an assertion."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ordeal.explore import Explorer
from ordeal.model import Pair, op
from ordeal.result import FailurePlace

from ...samples import asserting

HERE = Path(__file__).name


class Base(RuleBasedStateMachine):
    """One rule, which does what a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 3
        self.items = [1, 2]
        self.calls = 0

    def counted(self) -> int:
        self.calls += 1
        return self.calls


def place_of(machine: type[RuleBasedStateMachine]) -> FailurePlace:
    (failure,) = Explorer(machine, workers=1).run(max_runs=20).failures
    assert failure.place is not None
    assert failure.place.at.file.endswith(HERE)
    return failure.place


def asserted(body: Callable[[Any], None]) -> list[str]:
    class Machine(Base):
        @rule()
        def go(self) -> None:
            body(self)

    return list(place_of(Machine).asserted)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            asserting.compares,
            [
                "assert 3 == 5",
                " +  where 3 = machine.total",
                " +  where 5 = sum(machine.items) + len(machine.items)",
            ],
        ),
        (asserting.chains, ["assert 0 < 3 < 3", " +  where 3 = machine.total"]),
        (asserting.contains, ["assert 7 in [1, 2]", " +  where [1, 2] = machine.items"]),
        (asserting.denies, ["assert not [1, 2]", " +  where [1, 2] = machine.items"]),
        (asserting.calls, ["assert False", " +  where False = all((item > 1 for item in machine.items))"]),
        (asserting.joins, ["assert 3 == 4", " +  where 3 = machine.total"]),
        (asserting.changes, []),  # it holds when it is evaluated again, so these values are not those that failed
    ],
)
def test_an_assertion_is_shown_with_its_values(body: Callable[[Any], None], lines: list[str]) -> None:
    assert asserted(body) == lines


def test_an_invariant_is_named_with_the_line_that_failed() -> None:
    class Machine(Base):
        @rule(by=st.integers(1, 3))
        def add(self, by: int) -> None:
            self.total += by

        @invariant()
        def is_small(self) -> None:
            assert self.total < 5

    place = place_of(Machine)
    assert (place.kind, place.name, place.raised_at) == ("invariant", "is_small", None)
    assert place.at.code == "assert self.total < 5"
    assert place.asserted[0].startswith("assert ")


def test_what_a_library_raises_has_its_last_line() -> None:
    class Machine(Base):
        @rule()
        def read(self) -> None:
            json.loads("{")

    place = place_of(Machine)
    assert (place.kind, place.at.code) == ("rule", 'json.loads("{")')
    assert place.raised_at is not None
    assert place.raised_at.file == "json/decoder.py"
    assert place.asserted == ()


def test_a_recursion_without_end_has_a_place_that_does_not_depend_on_its_depth() -> None:
    class Machine(Base):
        depth = 0

        @rule()
        def go(self) -> None:
            self.below(self.depth)

        def below(self, depth: int) -> int:
            return self.below(depth - 1) if depth else self.there(0)

        def there(self, number: int) -> int:
            return self.back(number + 1)

        def back(self, number: int) -> int:
            return self.there(abs(number))

    class Deeper(Machine):
        depth = 1

    places = [place_of(each) for each in (Machine, Deeper)]
    assert {(place.name, place.at.code, place.raised_at) for place in places} == {
        ("go", "return self.there(abs(number))", None)
    }


def test_initialize_rules_constructors_and_teardowns_are_told_apart() -> None:
    class First(Base):
        @initialize()
        def begin(self) -> None:
            raise ValueError

        @rule()
        def go(self) -> None: ...

    class Made(Base):
        def __init__(self) -> None:
            raise ValueError

        @rule()
        def go(self) -> None: ...

    class Ended(Base):
        @rule()
        def go(self) -> None: ...

        def teardown(self) -> None:
            raise ValueError

    kinds = [(place.kind, place.name) for place in map(place_of, (First, Made, Ended))]
    assert kinds == [("initialize", "begin"), ("constructor", "__init__"), ("teardown", "teardown")]


def test_a_view_that_differs_is_placed_at_its_operation() -> None:
    class Doubled(Pair):
        impl: Any = list
        model: Any = list

        @op(x=st.integers(0, 3))
        def add(self, x: int) -> None:
            self.impl.extend([x, x])
            self.model.append(x)

        def view(self) -> tuple[Any, Any]:
            return self.impl, self.model

    place = place_of(Doubled)
    assert (place.kind, place.name) == ("rule", "add")

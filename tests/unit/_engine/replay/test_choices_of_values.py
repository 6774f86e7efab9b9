"""The choices behind a value: found for the usual strategies, never wrong, and refused with the reason."""

from __future__ import annotations

import enum
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle

from ordeal._base.trace_file import Trace, TraceStep
from ordeal._engine.replay.choices_of_values import NoChoicesError, as_public, find_choices, rebuilt_steps
from ordeal._hypothesis import define_machine
from ordeal.errors import OutdatedTraceError, TraceError

from ...samples.traced import Counter, Everything


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


small = st.integers(0, 9)

FOUND: list[tuple[st.SearchStrategy[Any], Any, list[Any]]] = [
    (st.integers(), -5, [-5]),
    (st.integers(0, 10**40), 10**39, [10**39]),
    (st.booleans(), True, [True]),
    (st.floats(), -0.0, [-0.0]),
    (st.floats(), math.inf, [math.inf]),
    (st.text(), "é\ud800"[:1], ["é"]),
    (st.characters(), "x", ["x"]),
    (st.binary(), {"__bytes__": "AP8="}, [b"\x00\xff"]),
    (st.none(), None, []),
    (st.just("x"), "x", []),
    (st.sampled_from([3, True, 1, "x"]), 1, [2]),
    (st.sampled_from(Colour), {"__repr__": "<Colour.BLUE: 2>"}, [1]),
    (st.sampled_from([1, 2, 3]).map(lambda x: x * 2), 6, [2]),
    (st.sampled_from([1, 2, 3]).filter(lambda x: x > 1), 2, [1]),
    (st.integers(0, 5) | st.integers(10, 20) | st.none(), 15, [1, 15]),
    (st.integers(0, 5) | st.none(), None, [1]),
    (st.tuples(small, st.text()), [1, "a"], [1, "a"]),
    (st.lists(small), [1, 2], [True, 1, True, 2, False]),
    (st.lists(small, min_size=1, max_size=2), [1, 2], [1, True, 2]),
    (st.lists(small, min_size=2, max_size=2), [1, 2], [1, 2]),
    (st.lists(st.lists(small, max_size=1)), [[1], []], [True, True, 1, True, False, False]),
    (st.lists(small, unique=True), [2, 1], [True, 2, True, 1, False]),
    (st.sets(small), {"__set__": [2, 1]}, [True, 2, True, 1, False]),
    (st.sets(st.sampled_from("abc")), {"__set__": ["a", "b", "c"]}, [True, 0, True, 0, True, 0]),
    (st.sets(st.sampled_from("abc")), {"__set__": ["c", "b"]}, [True, 2, True, 1, False]),
    (st.dictionaries(st.text(), small), {"b": 1, "a": 2}, [True, "b", 1, True, "a", 2, False]),
    (st.dictionaries(small, small), {"1": 2}, [True, 1, 2, False]),
    (st.dictionaries(st.sampled_from("ab"), small), {"b": 2}, [True, 1, 2, False]),
    (st.lists(small).map(tuple), [1], [True, 1, False]),
    (small.filter(lambda x: x % 2 == 0), 4, [4]),
]

REFUSED: list[tuple[st.SearchStrategy[Any], Any, str]] = [
    (small, -5, r"integers\(min_value=0, max_value=9\) does not make -5"),
    (small, True, "does not make true"),
    (st.booleans(), 1, "does not make 1"),
    (st.floats(), 3, "does not make 3"),
    (st.floats(0, 1), math.nan, "does not make NaN"),
    (st.text("ab"), "abc", 'does not make "c"'),
    (st.binary(), {"__bytes__": "A"}, '{"__bytes__": "A"} is not base64'),
    (st.just(3), 4, "does not make 4"),
    (st.sampled_from([1, 2]), 3, "does not make 3"),
    (st.sampled_from([Mute()]), {"__repr__": "x"}, "does not make"),
    (st.sets(st.sampled_from("ab")), {"__set__": ["z"]}, '"z" is not among'),
    (st.tuples(small), [1, 2], r"does not make \[1, 2\]"),
    (st.lists(small, max_size=1), [1, 2], r"does not make \[1, 2\]"),
    (st.lists(st.integers(), unique=True), [1, 1], r"does not make \[1, 1\]"),
    (st.lists(small), {"a": 1}, 'does not make {"a": 1}'),
    (st.fixed_dictionaries({"a": small}), {"b": 1}, 'does not make {"b": 1}'),
    (small | st.text(), None, "does not make null"),
    (small.filter(bool), 0, "does not make 0"),
    (small.map(lambda x: x + 1), 4, "what its `map` did cannot be undone"),
    (small.map(lambda x: x // 0), 4, "raises ZeroDivisionError"),
    (st.dates(), {"__repr__": "datetime.date(2000, 1, 1)"}, r"its text alone: 'datetime.date\(2000, 1, 1\)'"),
    (st.dates(), "2000-01-01", r"it is not known how dates\(\) makes a value"),
    (st.data(), None, r"it is not known how data\(\) makes a value"),
    (Bundle("coins"), 3, "it is not known how"),
    (st.builds(complex, st.floats()), 1, "it is not known how"),
]


@pytest.mark.parametrize(("strategy", "value", "choices"), FOUND)
def test_choices_are_found(strategy: Any, value: Any, choices: list[Any]) -> None:
    found = find_choices(strategy, value)
    assert [(type(choice), choice) for choice in found] == [(type(choice), choice) for choice in choices]


def test_not_a_number_is_found() -> None:
    (found,) = find_choices(st.floats(), math.nan)
    assert isinstance(found, float)
    assert math.isnan(found)


def test_the_fields_of_a_dictionary_are_found() -> None:
    strategy = st.fixed_dictionaries({"a": small, 5: st.text(), "c": st.none()})
    assert find_choices(strategy, {"a": 1, "5": "x", "c": None})[:2] == [1, "x"]


@pytest.mark.parametrize(("strategy", "value", "reason"), REFUSED)
def test_what_cannot_be_found_says_why(strategy: Any, value: Any, reason: str) -> None:
    with pytest.raises(NoChoicesError, match=reason):
        find_choices(strategy, value)


@pytest.mark.parametrize(
    "strategy",
    [
        st.integers() | st.floats() | st.none() | st.text() | st.binary(),
        st.lists(st.tuples(st.booleans(), st.lists(small, max_size=2)) | st.characters(), max_size=3),
        st.dictionaries(st.text(max_size=3), st.sets(st.integers()) | st.floats(), max_size=3),
        st.dictionaries(st.sampled_from("abc"), small),
        st.fixed_dictionaries({"a": st.sampled_from(Colour), "b": st.frozensets(st.sampled_from([1, 2, 3]))}),
        st.text(st.sampled_from("ab").map(str)) | st.nothing(),
        st.lists(small, unique=True, min_size=2).map(tuple).filter(lambda pair: pair[0] < pair[1]),
    ],
)
def test_what_a_strategy_makes_it_makes_again(strategy: st.SearchStrategy[Any]) -> None:
    made: list[Any] = []

    @settings(max_examples=60, derandomize=True, database=None, deadline=None)
    @given(strategy)
    def collect(value: Any) -> None:
        made.append(json.loads(json.dumps(as_public(value))))

    collect()
    assert len(made) > 20
    for value in made:
        find_choices(strategy, value)


def test_a_strategy_that_holds_itself_ends() -> None:
    endless: st.SearchStrategy[Any] = st.deferred(lambda: st.tuples(endless) | st.none())
    value: Any = None
    for _ in range(100):
        value = [value]
    with pytest.raises(NoChoicesError, match=r"does not make|nested too deeply"):
        find_choices(endless, value)


def test_values_are_written_as_the_public_project_writes_them() -> None:
    value = {1: (2, b"\x00"), None: {3}, "x": Colour.RED, (4,): [frozenset()], "mute": Mute()}
    assert as_public(value) == {
        "1": [2, {"__bytes__": "AA=="}],
        "null": {"__set__": [3]},
        "x": {"__repr__": "<Colour.RED: 1>"},
        "(4,)": [{"__set__": []}],
        "mute": {"__repr__": "<Mute whose repr raises RuntimeError>"},
    }


def public(name: str, params: dict[str, Any], *, checkpoint: int | None = None) -> Trace:
    step = TraceStep("rule", name, params=params)
    return Trace(7, 42, "x:Y", from_checkpoint=checkpoint, steps=[step], has_choices=False)


def test_steps_get_their_choices() -> None:
    swarm, toggle, gone = (
        TraceStep("rule_swarm", "[swarm]"),
        TraceStep("fault_toggle", "+one(a)"),
        TraceStep("rule", "gone"),
    )
    trace = public("add", {"by": 4})
    trace.steps = [swarm, toggle, *trace.steps, gone, TraceStep("rule", "rest")]
    steps = rebuilt_steps(trace, define_machine(Counter))
    assert [(step.name, step.choices) for step in steps] == [
        ("+one(a)", {}),
        ("add", {"by": [4]}),
        ("gone", {}),
        ("rest", {}),
    ]


@pytest.mark.parametrize(
    ("trace", "machine", "error", "message"),
    [
        (
            public("add", {"by": 99}),
            Counter,
            TraceError,
            "step 1, rule `add`: argument `by` cannot be rebuilt, because",
        ),
        (
            public("add", {}),
            Counter,
            TraceError,
            "argument `by` cannot be .*, because the trace does not hold its value",
        ),
        (public("ask", {"words": {"__set__": []}}), Everything, TraceError, "argument `data` cannot be rebuilt"),
        (public("rest", {"how": 1}), Counter, OutdatedTraceError, "no longer applies: in step 1, .* no argument 'how'"),
        (
            public("rest", {}, checkpoint=3),
            Counter,
            TraceError,
            "run 7 begins at checkpoint 3, and what happened before",
        ),
    ],
)
def test_what_cannot_be_rebuilt_is_named(trace: Trace, machine: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rebuilt_steps(trace, define_machine(machine))

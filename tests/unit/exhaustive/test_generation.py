"""Exhaustive generation: every combination once, in order; its replays, errors and what pytest sees of it."""

from __future__ import annotations

import itertools
import math
import unittest
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from ordeal import exhaustive
from ordeal.exhaustive import Gen, GenerationError, Incomplete, NonDeterministicGeneration

pytest_plugins = ["pytester"]


def values(draw: Callable[[Gen], Any], **options: Any) -> list[Any]:
    """What ``draw`` gives in each case."""
    return run(Gen(**options), draw)


def run(gen: Gen, draw: Callable[[Gen], Any]) -> list[Any]:
    return [draw(g) for g in gen]


class Colour(Enum):
    RED = 1
    GREEN = 2


# -- every combination ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(9))
def test_shuffle_gives_each_order_once(size: int) -> None:
    def order(g: Gen) -> tuple[int, ...]:
        items = list(range(size))
        g.shuffle(items)
        return tuple(items)

    orders = values(order)
    assert orders == list(itertools.permutations(range(size)))
    assert len(orders) == math.factorial(size)


def test_the_archetype_shape_has_73_728_cases() -> None:
    count = 0
    for g in Gen():
        g.index(64)
        g.index(64)
        source_size = g.range(1, 3)
        g.range(0, 2)
        g.index(source_size)
        count += 1
    assert count == 73_728


def test_choices_are_gone_through_in_order() -> None:
    assert values(lambda g: (g.bool(), g.range(-1, 1))) == list(itertools.product([False, True], [-1, 0, 1]))
    assert values(lambda g: g.range(3, 3)) == [3]
    assert values(lambda g: g.pick("abc")) == ["a", "b", "c"]
    assert values(lambda g: g.pick(range(5, 7))) == [5, 6]
    assert values(lambda g: g.choose(x * x for x in range(3))) == [0, 1, 4]
    assert values(lambda g: g.choose({"a": 1, "b": 2})) == ["a", "b"]
    assert values(lambda g: g.subset("ab")) == [[], ["b"], ["a"], ["a", "b"]]
    assert values(lambda g: None) == [None]


def test_bounds_may_depend_on_choices() -> None:
    lists = values(lambda g: [g.range(0, 1) for _ in range(g.index(3))])
    assert lists == [[], [0], [1], [0, 0], [0, 1], [1, 0], [1, 1]]


def test_a_loop_over_the_same_gen_starts_anew() -> None:
    gen = Gen()
    assert [g.index(2) for g in gen] == [g.index(2) for g in gen] == [0, 1]
    assert (gen.cases, gen.rejected) == (2, 0)


def test_the_path_of_a_case() -> None:
    assert [(g.index(2), g.index(2), g.path) for g in Gen()] == [
        (one, other, [one, other]) for one, other in itertools.product([0, 1], repeat=2)
    ]


# -- strategies -------------------------------------------------------------------------------------------------------


@st.composite
def ordered_pairs(draw: st.DrawFn) -> tuple[int, int]:
    low, high = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    assume(low < high)
    return low, high


FINITE: list[tuple[st.SearchStrategy[Any], list[Any]]] = [
    (st.just(7), [7]),
    (st.none(), [None]),
    (st.booleans(), [False, True]),
    (st.integers(-2, 3), [0, 1, -1, 2, -2, 3]),
    (st.integers(5, 7), [5, 6, 7]),
    (st.sampled_from("abc"), ["a", "b", "c"]),
    (st.sampled_from(Colour), list(Colour)),
    (st.sampled_from(range(9)).filter(lambda x: x % 4 == 3).map(str), ["3", "7"]),
    (st.none() | st.booleans(), [None, False, True]),
    (st.tuples(st.booleans(), st.just(1)), [(False, 1), (True, 1)]),
    (st.lists(st.booleans(), max_size=1), [[], [False], [True]]),
    (st.lists(st.sampled_from("ab"), min_size=2, max_size=2, unique=True), [["a", "b"], ["b", "a"]]),
    (st.fixed_dictionaries({"k": st.booleans()}), [{"k": False}, {"k": True}]),
    (st.builds(complex, st.integers(0, 1)), [0j, 1 + 0j]),
    (st.integers(0, 9).filter(lambda x: x % 5 == 2), [2, 7]),
    (st.integers(0, 2).flatmap(lambda n: st.tuples(*[st.booleans()] * (n // 2))), [(), (), (False,), (True,)]),
    (ordered_pairs(), [(0, 1), (0, 2), (1, 2)]),
    (st.permutations("ab"), [["a", "b"], ["b", "a"]]),
    (st.text("ab", max_size=1), ["", "a", "b"]),
    (st.binary(min_size=1, max_size=1).filter(lambda b: b[0] > 253), [b"\xfe", b"\xff"]),
    (st.integers(0, 1000).filter(lambda x: x > 998), [999, 1000]),
    (st.shared(st.booleans(), key="k"), [False, True]),
]


@pytest.mark.parametrize(("strategy", "expected"), FINITE, ids=lambda value: None)
def test_of_gives_each_value_of_a_strategy(strategy: st.SearchStrategy[Any], expected: list[Any]) -> None:
    assert values(lambda g: g.of(strategy)) == expected
    pairs = values(lambda g: (g.of(strategy), g.bool()))
    assert pairs == list(itertools.product(expected, [False, True]))


INFINITE = {
    "st.floats()": st.floats(),
    "integers()": st.integers(),
    "a lower bound alone": st.integers(min_value=0),
    "lists()": st.lists(st.booleans()),
    "text()": st.text(),
    "binary()": st.binary(),
    "recursive()": st.recursive(st.booleans(), st.lists),
    "inside": st.tuples(st.booleans(), st.none() | st.floats()),
}


@pytest.mark.parametrize("name", INFINITE)
def test_a_strategy_without_an_end_is_refused(name: str) -> None:
    with pytest.raises(GenerationError, match="which are infinitely many\nhint: give it bounds"):
        values(lambda g: g.of(INFINITE[name]))


def test_a_filter_that_refuses_everything_is_named() -> None:
    with pytest.raises(GenerationError, match=r"no value of integers\(.*\) passes its filters"):
        values(lambda g: g.of(st.integers(0, 3).filter(lambda x: x > 3)))


def test_a_strategy_of_many_words_is_cut() -> None:
    with pytest.raises(GenerationError) as raised:
        values(lambda g: g.of(st.one_of(st.text(), st.sampled_from([str(number) for number in range(1_000)]))))
    assert len(raised.value.message) < 400


def test_of_wants_a_strategy() -> None:
    with pytest.raises(GenerationError, match=r"of\(3\) is not a strategy"):
        values(lambda g: g.of(3))  # type: ignore[arg-type]


# -- the limit -----------------------------------------------------------------------------------------------------


def test_the_limit_is_never_a_silent_pass() -> None:
    seen: list[int] = []
    with pytest.raises(Incomplete, match="3 cases ran, and more exist"):
        values(lambda g: seen.append(g.index(4)), limit=3)
    assert seen == [0, 1, 2]
    assert values(lambda g: g.index(4), limit=4) == [0, 1, 2, 3]


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, 2**64])
def test_a_limit_is_a_positive_number(limit: Any) -> None:
    with pytest.raises(GenerationError, match="limit is"):
        Gen(limit=limit)


# -- failures, replay, tests that change their mind -------------------------------------------------------------------


def failing(gen: Gen) -> None:
    for g in gen:
        first, second = g.range(0, 3), g.range(0, 3)
        assert first + second < 5
        g.bool()


def test_a_failure_bears_its_choices() -> None:
    with pytest.raises(AssertionError) as caught:
        failing(Gen())
    assert caught.value.__notes__ == ["choices [2, 3]; replay with Gen.replay([2, 3])"]


def test_a_replay_runs_the_failing_case_alone() -> None:
    with pytest.raises(AssertionError):
        failing(Gen.replay([2, 3]))
    cases = [(g.range(0, 3), g.range(0, 3), g.bool()) for g in Gen.replay([1, 2])]
    assert cases == [(1, 2, False)]


def test_a_loop_that_is_left_or_handles_its_errors_adds_no_note() -> None:
    handled = ValueError()
    for g in Gen():
        g.index(2)
        try:
            raise handled
        except ValueError:
            break
    assert not hasattr(handled, "__notes__")


@pytest.mark.parametrize(("path", "message"), [([9], "choice 0 of the path is 9"), ([0, 0, 0], "ended after 1 of 3")])
def test_a_path_of_another_test_is_told(path: list[int], message: str) -> None:
    with pytest.raises(GenerationError, match=message):
        run(Gen.replay(path), lambda g: g.index(3))


def test_a_changed_bound_is_told_with_both_places() -> None:
    sizes = iter([2, 3])
    with pytest.raises(NonDeterministicGeneration) as caught:
        values(lambda g: g.index(next(sizes)))
    message = str(caught.value)
    assert message.startswith("choice 0 was one of 0..1 and is now one of 0..2 (first in ")
    assert message.count("test_generation.py:") == 2


def test_fewer_choices_are_told() -> None:
    counts = iter([2, 2, 0])
    with pytest.raises(NonDeterministicGeneration, match=r"the case ended after 0 choices.*first in .*test_generation"):
        values(lambda g: [g.index(2) for _ in range(next(counts))])


REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    *[("index", (0,)), ("index", (-1,)), ("index", (1.5,)), ("index", ()), ("index", (2**70,))],
    *[("range", (2, 1)), ("range", (1,)), ("range", ("a", "b"))],
    *[("pick", ([],)), ("pick", ({1},)), ("pick", (3,)), ("choose", ([],)), ("choose", ({1},)), ("choose", (3,))],
    *[("subset", ({1},)), ("subset", (3,)), ("shuffle", ((1, 2),)), ("shuffle", ())],
]


@pytest.mark.parametrize(("method", "arguments"), REFUSED)
def test_a_choice_of_nothing_is_refused_with_a_hint(method: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=rf"{method}\(.*\) leaves nothing to choose from\nhint: write `g\.{method}"):
        values(lambda g: getattr(g, method)(*arguments))


def test_choices_belong_into_the_loop() -> None:
    with pytest.raises(GenerationError, match="outside of a case"):
        Gen().index(3)
    gen = Gen()
    assert [g.index(2) for g in gen] == [0, 1]
    with pytest.raises(GenerationError, match="outside of a case"):
        gen.bool()


# -- test functions ---------------------------------------------------------------------------------------------------


def test_a_function_runs_once_for_each_case() -> None:
    seen = []

    @exhaustive.test
    def pairs(g: Gen) -> None:
        seen.append((g.bool(), g.index(2)))

    pairs()
    assert seen == list(itertools.product([False, True], [0, 1]))


def test_rejected_cases_do_not_count() -> None:
    seen = []

    @exhaustive.test(limit=20)
    def small(g: Gen) -> None:
        value = g.of(st.integers(0, 9).filter(lambda x: x % 2))
        if value > 5:
            g.assume(False)
        seen.append(value)

    small()
    assert seen == [1, 3, 5]


def test_a_loop_cannot_assume() -> None:
    with pytest.raises(GenerationError, match="hint: write `continue`"):
        values(lambda g: g.assume(g.bool()))


class TestInAClass(unittest.TestCase):
    seen: list[int] = []  # noqa: RUF012

    @exhaustive.test
    def test_method(self, g: Gen) -> None:
        assert isinstance(self, unittest.TestCase)
        self.seen.append(g.index(3))

    def test_zz_ran(self) -> None:
        self.test_method()
        assert self.seen[-3:] == [0, 1, 2]


@pytest.fixture
def size() -> int:
    return 3


@exhaustive.test
@pytest.mark.parametrize("low", [0, 5])
def test_works_with_fixtures_and_parameters(size: int, g: Gen, low: int, request: pytest.FixtureRequest) -> None:
    assert g.range(low, low + size) >= low
    assert request.node.name.startswith("test_works")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(x): ...", "takes no argument `g`"),
        ("async def f(g): ...", "coroutine"),
        ("def f(g): yield", "generator"),
    ],
)
def test_a_function_that_cannot_be_run_is_refused(source: str, message: str) -> None:
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(GenerationError, match=message):
        exhaustive.test(names["f"])


PROJECT = """
from ordeal import exhaustive

@exhaustive.test
def test_all(g):
    g.index(100); g.index(50)

@exhaustive.test
def test_some(g):
    assert g.range(0, 9) < 7

@exhaustive.test(limit=5)
def test_many(g):
    g.index(10)

@exhaustive.test
def test_nothing(g):
    g.assume(False)
"""


@pytest.mark.slow
def test_pytest_sees_one_test_with_its_number_of_cases(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROJECT)
    result = pytester.runpytest_subprocess("-rA", "-p", "no:cacheprovider", "--junitxml=out.xml")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["*5,000/5,000 cases"])
    result.stdout.fnmatch_lines(["*choices [[]7]; replay with @ordeal.exhaustive.test(path=[[]7])"])
    result.stdout.fnmatch_lines(["*Incomplete: 5 cases ran, and more exist*"])
    result.stdout.fnmatch_lines(["*all 1 cases were rejected*"])
    assert 'name="ordeal_cases" value="5,000/5,000 cases"' in (pytester.path / "out.xml").read_text("utf-8")

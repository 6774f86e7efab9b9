"""How arguments are drawn: at once where the strategy is plain, else through Hypothesis, with the same choices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.internal.conjecture.data import Status
from hypothesis.stateful import Bundle, VarReference, consumes

import ordeal._native as _native
from ordeal._hypothesis.draws import compile_argument, compile_draw, describe_strategy
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData

JARS: Bundle[int] = Bundle("jars")


class Run:
    """What a draw asks of a run that is live."""

    def __init__(self, seed: int, references: int = 0) -> None:
        self.live = _native.Redraw(seed)
        self.source = self.live.source
        self.data = TapeData(TapeProvider(self.source))
        jars = [VarReference(f"jars_{number}") for number in range(references)]
        self.machine = SimpleNamespace(bundles={"jars": jars})
        self.draw_context = None


@pytest.mark.parametrize(
    ("strategy", "through_hypothesis"),
    [
        (st.integers(0, 9), False),
        (st.integers(-(2**63), 2**63 - 1), False),
        (st.integers(0, 2**63), True),
        (st.integers(0), True),
        (st.booleans(), False),
        (st.just([1]), False),
        (st.sampled_from("abc"), False),
        (JARS, False),
        (consumes(JARS), False),
        (st.integers(0, 9).map(str), True),
        (st.just(1).map(str), True),
        (st.sampled_from("abc").filter(bool), True),
        (JARS.map(str), True),
        (st.text(), True),
        (st.deferred(st.booleans), False),
    ],
    ids=repr,
)
def test_only_plain_strategies_are_drawn_without_hypothesis(strategy: Any, through_hypothesis: bool) -> None:
    assert compile_draw(strategy)[1] is through_hypothesis
    assert compile_argument(strategy)[1] is through_hypothesis


def test_a_constant_is_the_same_object() -> None:
    value = [1]
    assert compile_draw(st.just(value))[0](Run(1)) is value


def test_a_bundle_gives_its_references_and_loses_those_that_are_consumed() -> None:
    run = Run(1, references=4)
    references = list(run.machine.bundles["jars"])
    draw, _ = compile_draw(JARS)
    drawn = {draw(run).name for _ in range(100)}
    assert drawn == {reference.name for reference in references}
    assert run.machine.bundles["jars"] == references
    take, _ = compile_draw(consumes(JARS))
    assert {take(run).name for _ in range(4)} == drawn
    assert run.machine.bundles["jars"] == []


@pytest.mark.parametrize("bundle", [JARS, consumes(JARS)])
def test_an_empty_bundle_ends_the_run(bundle: Any) -> None:
    never_filled = Run(1)
    never_filled.machine.bundles.clear()
    for run in (Run(1), never_filled):
        with pytest.raises(StopTest):
            compile_draw(bundle)[0](run)
        assert run.data.status is Status.INVALID


@pytest.mark.parametrize(
    ("strategy", "kind", "parts"),
    [
        (st.lists(st.none(), max_size=3), "ListStrategy", {"min_size": 0, "max_size": 3}),
        (st.sampled_from("ab").map(ord), "SampledFromStrategy", {"elements": ("a", "b")}),
        (st.deferred(st.booleans), "BooleansStrategy", {"elements": None}),
    ],
)
def test_a_strategy_says_what_draws_and_what_of(strategy: Any, kind: str, parts: dict[str, Any]) -> None:
    found, of = describe_strategy(strategy)
    assert found == kind
    assert {name: of[name] if name != "elements" or of[name] is None else tuple(of[name]) for name in parts} == parts
    assert not any(name.startswith("_") for name in of)

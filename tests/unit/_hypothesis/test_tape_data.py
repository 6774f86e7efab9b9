"""What strategies draw through keeps to the limits of Hypothesis, and says what was drawn when that fails."""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import strategies as st
from hypothesis.errors import Frozen, HypothesisDeprecationWarning, InvalidArgument, StopTest
from hypothesis.internal.conjecture.data import Status
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import DataDraws, TapeData
from ordeal._native import Redraw
from ordeal.explore import Explorer


def test_a_run_that_takes_too_much_ends() -> None:
    live = Redraw(1)
    data = TapeData(TapeProvider(live.source))
    data.length = data.max_length - 1
    with pytest.raises(StopTest):
        data.draw(st.integers(1000, 2000))
    assert data.status is Status.OVERRUN
    with pytest.raises(Frozen):
        data.start_span(1)


def test_an_error_says_what_was_drawn() -> None:
    live = Redraw(1)
    data = TapeData(TapeProvider(live.source))
    with pytest.raises(ZeroDivisionError) as caught:
        data.draw(st.integers(0, 0).map(lambda number: 1 // number), observe_as="generate:number")
    assert caught.value.__notes__[0].startswith("while generating 'number' from integers(")


def test_no_nan_is_another() -> None:
    live = Redraw(1)
    data = TapeData(TapeProvider(live.source))
    nan = float("nan")
    first, second = (data.draw_float(forced=nan) for _ in range(2))
    assert first is not second
    assert not [first].count(second)


def explored(draws: st.SearchStrategy[object]) -> tuple[list[object], list[str]]:
    """What a rule draws in a few runs, and what was warned of."""
    drawn: list[object] = []

    class Drawing(RuleBasedStateMachine):
        @rule(data=st.data())
        def go(self, data: st.DataObject) -> None:
            assert isinstance(data, DataDraws)
            drawn.append(data.draw(draws, label="thing"))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = Explorer(Drawing, seed=5, workers=1).run(max_runs=3, steps_per_run=5)
    assert not result.failures
    return drawn, [str(each.message) for each in caught if issubclass(each.category, HypothesisDeprecationWarning)]


def test_a_strategy_that_uses_random_is_told_of_once() -> None:
    drawn, warned = explored(st.builds(random.random))
    assert len(drawn) > 1
    assert len(warned) == 1
    assert "Draw 1 (thing)from builds(" in warned[0]


def test_others_are_drawn_in_silence_and_alike_each_time() -> None:
    first, again = (explored(st.lists(st.integers(0, 9))) for _ in range(2))
    assert first == again
    assert first[1] == []


def test_an_error_names_the_draw() -> None:
    fails = st.integers(0, 0).map(lambda number: 1 // number)

    class Failing(RuleBasedStateMachine):
        @rule(data=st.data())
        def go(self, data: st.DataObject) -> None:
            data.draw(st.booleans())
            data.draw(fails, label="again")

    (failure,) = Explorer(Failing, seed=5, workers=1, isolate=False).run(max_runs=3).failures
    (note,) = [note for note in failure.error.__notes__ if note.startswith("while generating")]
    assert note.startswith("while generating 'Draw 2 (again)' from integers(")


def test_what_is_no_strategy_is_refused() -> None:
    data = TapeData(TapeProvider(Redraw(1).source)).draw(st.data())
    with pytest.raises(InvalidArgument, match="strategy"):
        data.draw(3)

"""What strategies draw through keeps to the limits of Hypothesis, and says what was drawn when that fails."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import Frozen, HypothesisDeprecationWarning, StopTest
from hypothesis.internal.conjecture.data import Status
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.run_context import RunContext
from ordeal._hypothesis.tape_data import DataDraws, TapeData
from ordeal._native import DrawContext, Redraw
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


#: More than a strategy is drawn before it gets a plan.
MANY = 25


class _Many(RuleBasedStateMachine):
    """Draws from a strategy so often that its plan draws the rest, and keeps what it got."""

    drawn: list[object]

    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        for size in range(MANY):
            type(self).drawn.append(data.draw(st.lists(st.integers(0, 99) | st.text("xyz"), max_size=size % 3)))
            type(self).drawn.append(data.draw(_PAIRS))


_PAIRS = st.tuples(st.sampled_from(["a", "b"]), st.floats(0, 1)).filter(lambda pair: pair[0] == "a" or pair[1] < 0.5)


def _explore() -> tuple[list[object], list[object]]:
    _Many.drawn = []
    lengths: list[object] = []
    leave = RunContext.__exit__

    def left(run: RunContext, *exc_info: object) -> None:
        leave(run, *exc_info)
        lengths.append(run.length)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunContext, "__exit__", left)
        Explorer(_Many, seed=3, workers=1, isolate=False).run(max_runs=6, steps_per_run=4, shrink=False)
    return _Many.drawn, lengths


def test_plans_draw_what_hypothesis_would_and_count_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    by_plan = _explore()
    assert len(by_plan[0]) > 4 * MANY
    through_hypothesis = []
    draw = TapeData.draw

    def counted(data: TapeData, *arguments: Any, **keywords: Any) -> Any:
        through_hypothesis.append(1)
        return draw(data, *arguments, **keywords)

    monkeypatch.setattr(TapeData, "draw", counted)
    assert _explore() == by_plan
    with_plans = len(through_hypothesis)
    monkeypatch.setattr(TapeData, "known", lambda _data, _strategy: None)
    assert _explore() == by_plan
    assert with_plans < len(through_hypothesis) / 4


def test_a_plan_that_fails_names_the_draw_and_the_run_goes_on() -> None:
    caught: list[Any] = []
    fails = st.integers(0, 9).map(lambda number: 1 // (number % 3))

    class Failing(RuleBasedStateMachine):
        @rule(data=st.data())
        def go(self, data: st.DataObject) -> None:
            for _ in range(MANY):
                try:
                    data.draw(fails, label="share")
                except ZeroDivisionError as error:
                    caught.append(error)
            assert isinstance(data.draw(st.integers(0, 9)), int)

    assert not Explorer(Failing, seed=5, workers=1).run(max_runs=5, steps_per_run=3).failures
    assert len(caught) > MANY
    assert all(len(error.__notes__) == 1 and "(share)' from integers(" in error.__notes__[0] for error in caught)


def test_a_run_that_has_ended_draws_nothing_for_the_next() -> None:
    kept: list[Any] = []
    numbers = st.integers(0, 9)

    class Keeping(RuleBasedStateMachine):
        @rule(data=st.data())
        def go(self, data: Any) -> None:
            for _ in range(MANY):
                data.draw(numbers)
            if not kept:
                kept.append(data)
            if kept[0] is not data:
                old, length = kept[0].conjecture_data, data.conjecture_data.length
                assert old.context.draw(old, numbers, 10) is NotImplemented
                assert data.conjecture_data.length == length

    assert not Explorer(Keeping, seed=5, workers=1, isolate=False).run(max_runs=6, steps_per_run=2).failures
    context = DrawContext()
    data = TapeData(TapeProvider(Redraw(1).source), context)
    assert context.draw(data, numbers, 10) is NotImplemented
    with pytest.raises(TypeError, match="number of open spans"):
        context.draw(data, numbers, -1)
    with pytest.raises(TypeError, match="number of open spans"):
        context.draw(data, numbers)  # type: ignore[call-arg]


def test_a_failure_behind_plans_shrinks_as_far_and_replays() -> None:
    words = st.text("abcdef", max_size=9)

    class Words(RuleBasedStateMachine):
        @rule(data=st.data())
        def go(self, data: st.DataObject) -> None:
            for _ in range(MANY):
                data.draw(st.booleans())
            assert "f" not in data.draw(words, label="word")

    (failure,) = Explorer(Words, seed=2, workers=1).run(max_runs=10).failures
    assert failure.trace is not None
    assert len(failure.trace.steps) == 1
    assert "'f'" in str(failure.trace.steps[0].draws)

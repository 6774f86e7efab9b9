"""Hypothesis takes its choices from the tape, and says which strategies are no longer drawn compiled."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import PrimitiveProvider

from ordeal import _hypothesis
from ordeal._hypothesis import provider
from ordeal._hypothesis.provider import TapeProvider
from ordeal._native import Redraw

ANYTHING: st.SearchStrategy[Any] = st.lists(st.integers() | st.text() | st.floats() | st.booleans() | st.binary())


def test_strategies_draw_what_was_recorded() -> None:
    live = Redraw(7)
    data = ConjectureData(random=None, provider=TapeProvider(live.source))
    values = [data.draw(ANYTHING) for _ in range(10)]
    again = ConjectureData(random=None, provider=TapeProvider(Redraw(list(data.choices)).source))
    assert repr([again.draw(ANYTHING) for _ in range(10)]) == repr(values)
    assert repr(again.choices) == repr(data.choices)


def test_it_is_a_provider_for_one_test_case() -> None:
    live = Redraw(7)
    made = TapeProvider(live.source)
    assert isinstance(made, PrimitiveProvider)
    assert made.lifetime == "test_case"
    assert _hypothesis.given_up is provider.given_up, "all who report read one list"

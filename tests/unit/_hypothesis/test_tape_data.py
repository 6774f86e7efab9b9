"""What strategies draw through keeps to the limits of Hypothesis, and says what was drawn when that fails."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.errors import Frozen, StopTest
from hypothesis.internal.conjecture.data import Status

from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData
from ordeal._native import Redraw


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

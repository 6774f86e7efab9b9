"""How arguments are drawn: at once where the strategy is plain, else through Hypothesis, with the same choices."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes

from ordeal._hypothesis.draws import compile_argument, compile_draw

JARS: Bundle[int] = Bundle("jars")


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

"""What strategies draw through in the Explorer makes the choices that Hypothesis' own record makes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest
from hypothesis.internal.conjecture.data import ConjectureData, Status

from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData
from ordeal._native import Redraw

from .drawn.strategies import Table

STRATEGIES = 400


class Machine:
    """What ``st.runner()`` finds."""

    history = "abc"


def tape_data(live: Redraw) -> TapeData:
    """As a record of Hypothesis begins."""
    data = TapeData(TapeProvider(live.source))
    data.stand(0)
    return data


def drawn(data: ConjectureData, strategy: st.SearchStrategy[Any]) -> tuple[str, str, int, Status]:
    """Three values of a strategy, the choices that they took, their size and how it ended."""
    data.hypothesis_runner = Machine()
    values = []
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        try:
            values = [data.draw(strategy) for _ in range(3)]
        except StopTest:
            data.freeze()
    return repr(values), repr(data.choices), data.length, data.status


@pytest.mark.parametrize("part", range(4))
def test_it_draws_as_the_record_of_hypothesis_does(part: int) -> None:
    for number in range(part, STRATEGIES, 4):
        strategy = Table(random.Random(number), []).any()
        ours, theirs = (Redraw(number) for _ in range(2))
        assert drawn(tape_data(ours), strategy) == drawn(
            ConjectureData(random=None, provider=TapeProvider(theirs.source)), strategy
        ), strategy


def test_strategies_without_end_are_given_up_at_the_same_depth() -> None:
    endless: st.SearchStrategy[Any] = st.deferred(lambda: st.tuples(st.booleans(), endless))
    live = [Redraw(1) for _ in range(2)]
    ours, theirs = (
        tape_data(live[0]),
        ConjectureData(random=None, provider=TapeProvider(live[1].source)),
    )
    assert drawn(ours, endless) == drawn(theirs, endless)
    assert ours.status is Status.INVALID

"""Compiled strategies make the choices of Hypothesis: their tapes replay through the strategies to the same values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.engine import BUFFER_SIZE
from hypothesis.strategies import SearchStrategy

import ordeal._native as _native
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.strategy_compiler import Compiler, same
from ordeal._hypothesis.tape_data import TapeData

from .drawn.compiled_strategies import PLANNED, THROUGH_HYPOTHESIS

DRAWS = 300


class Run:
    """A run of its own: what a compiled strategy asks of its context."""

    machine = None

    def __init__(self, source: _native.ChoiceSource) -> None:
        self.data = TapeData(TapeProvider(source))


def _ending(draw: Any) -> Any:
    """What ``draw()`` returns, or how it ends the run."""
    try:
        return draw()
    except (StopTest, UnsatisfiedAssumption) as ending:
        return type(ending)


def _by_hypothesis(strategy: SearchStrategy[Any], source: _native.ChoiceSource) -> tuple[Any, int]:
    data = TapeData(TapeProvider(source))
    with BuildContext(data, is_final=False, wrapped_test=lambda: None):
        return _ending(lambda: data.draw(strategy)), data.length


def _by_node(node: _native.StrategyNode, source: _native.ChoiceSource) -> tuple[Any, int]:
    context = Run(source)
    run = _native.DrawContext()
    run.begin(source, context)
    with BuildContext(context.data, is_final=False, wrapped_test=lambda: None):
        return _ending(lambda: node.draw(run)), run.length


def _node_of(strategy: SearchStrategy[Any]) -> _native.StrategyNode | None:
    return Compiler().whole(strategy)


@pytest.mark.parametrize("name", PLANNED)
def test_what_a_node_draws_replays_through_hypothesis(name: str) -> None:
    strategy = PLANNED[name]
    node = _node_of(strategy)
    assert (node is None) == (name in THROUGH_HYPOTHESIS)
    if node is None:
        return
    for seed in range(DRAWS):
        redraw = _native.Redraw(seed)
        drawn, length = _by_node(node, redraw.source)
        redraw.repeat()
        repeated, length_repeated = _by_hypothesis(strategy, redraw.source)
        assert redraw.matches, seed
        assert same(drawn, repeated), (seed, drawn, repeated)
        assert length == length_repeated, seed


@pytest.mark.parametrize("name", PLANNED)
def test_what_hypothesis_draws_a_node_draws_too(name: str) -> None:
    strategy = PLANNED[name]
    node = _node_of(strategy)
    if node is None:
        return
    for seed in range(DRAWS // 3):
        by_hypothesis, by_node = _native.Redraw(seed), _native.Redraw(seed)
        expected, length = _by_hypothesis(strategy, by_hypothesis.source)
        drawn, length_drawn = _by_node(node, by_node.source)
        assert same(drawn, expected), (seed, drawn, expected)
        assert length_drawn == length, seed
        assert by_node.source.raw_bits() == by_hypothesis.source.raw_bits(), "both take the same random numbers"


def test_the_buffer_is_as_long_as_that_of_hypothesis() -> None:
    assert BUFFER_SIZE == _native.BUFFER_LENGTH_MAX


def test_a_node_overruns_where_hypothesis_does() -> None:
    strategy = PLANNED["binary long"]
    node = _node_of(strategy)
    assert node is not None
    redraw = _native.Redraw(1)
    context = Run(redraw.source)
    run = _native.DrawContext()
    run.begin(redraw.source, context)

    def draw_all() -> None:
        for _ in range(BUFFER_SIZE):
            node.draw(run)

    with pytest.raises(StopTest):
        draw_all()
    assert context.data.status.name == "OVERRUN"
    assert BUFFER_SIZE - 310 < context.data.length <= BUFFER_SIZE

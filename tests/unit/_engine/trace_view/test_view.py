"""The values of a recorded trace: what differs between two states, and the states that follow from it."""

from __future__ import annotations

from itertools import pairwise

from ordeal._engine.trace_view.view import PartChange, StepView, TraceView, changes_between


def test_the_states_follow_from_the_changes() -> None:
    states = [{"a": "1"}, {"a": "2", "b": "1"}, {"b": "1"}, {"b": "1"}]
    pairs = pairwise(states)
    steps = [StepView(kind="rule", name="r", changes=changes_between(*pair)) for pair in pairs]
    assert TraceView(start=states[0], steps=steps).states() == states[1:]


def test_a_change_says_what_is_there_no_more() -> None:
    assert changes_between({"a": "1"}, {}) == [PartChange("a", "1", None)]

"""The step loop of a class knows which arguments are plain bundles, and leaves the others to their strategies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

from ordeal._hypothesis.machines import define_machine
from ordeal._hypothesis.step_loop import _bundle_of, make_loop
from ordeal._native import StepLoop

JARS: Bundle[int] = Bundle("jars")


@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        (JARS, ("jars", False)),
        (consumes(JARS), ("jars", True)),
        (st.deferred(lambda: JARS), ("jars", False)),
        (JARS.map(str), None),
        (JARS.filter(bool), None),
        (JARS.flatmap(st.just), None),
        (st.one_of(JARS, st.none()), None),
        (st.lists(JARS), None),
        (st.integers(), None),
    ],
    ids=repr,
)
def test_only_a_bundle_as_it_is_is_drawn_by_the_loop(strategy: Any, found: Any) -> None:
    assert _bundle_of(strategy) == found


def test_a_loop_has_not_begun_anything() -> None:
    class Machine(RuleBasedStateMachine):
        @rule()
        def act(self) -> None: ...

    loop = make_loop(define_machine(Machine), [], [], hashes_state=False)
    assert isinstance(loop, StepLoop)
    assert (loop.begun, loop.current, loop.in_step) == (0, None, False)

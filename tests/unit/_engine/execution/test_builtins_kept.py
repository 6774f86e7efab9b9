"""Builtins that a run has replaced or deleted are there again afterwards; others stay as the program wants them."""

from __future__ import annotations

import builtins

from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal.explore import Explorer


class Replacing(RuleBasedStateMachine):
    @rule()
    def replace(self) -> None:
        vars(builtins).update(len=lambda _: 0, isinstance=lambda *_: False)


def test_a_run_leaves_the_search_as_it_was() -> None:
    before = len, isinstance
    assert Explorer(Replacing).run(max_runs=20).total_runs == 20
    assert (len, isinstance) == before

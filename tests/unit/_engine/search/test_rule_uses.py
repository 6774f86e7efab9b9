"""Each step of a rule is counted once without faults or under each that is on: alone, by workers, and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis.stateful import precondition

from ordeal._engine.search.rule_uses import add_counts, uses_of
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import LambdaFault
from ordeal.result import ExplorationResult, RuleUse, UnderFault
from ordeal.stateful import rule


class Desk(ChaosTest):
    faults: ClassVar = [LambdaFault("quiet", int, int)]

    @rule()
    def ask(self) -> None:
        pass

    @rule()
    def answer(self) -> None:
        assert not self.faults[0].active, "nobody answers"

    @precondition(lambda self: False)
    @rule()
    def never(self) -> None:
        raise NotImplementedError


def failures(result: ExplorationResult, name: str) -> list[int]:
    (use,) = [use for use in result.rules if use.name == name]
    return [cell.failures for cell in use.cells]


@pytest.mark.parametrize("isolate", [False, True], ids=["here", "apart"])
def test_a_rule_fails_under_the_fault_that_breaks_it(isolate: bool) -> None:
    result = Explorer(Desk, seed=3, workers=1, isolate=isolate).run(max_runs=600)
    by_name = {use.name: use for use in result.rules}
    assert list(by_name) == [rule.name for rule in result.rules]
    assert [cell.fault for cell in by_name["ask"].cells] == [None, "quiet"]
    assert failures(result, "ask") == [0, 0]
    without, under = failures(result, "answer")
    assert without == 0
    assert under > 0
    assert all(cell.steps == cell.failures for cell in by_name["answer"].cells if cell.fault == "quiet")
    assert not by_name["never"].ran
    assert any(note.startswith("Rule never never ran to the end in 600 runs") for note in result.notes)
    steps = sum(cell.steps - cell.failures for use in result.rules for cell in use.cells)
    # Steps that switch a fault are no steps of a rule.
    assert 0 < steps <= result.total_steps


def test_a_resumed_exploration_continues_the_counts(tmp_path: Path) -> None:
    whole = Explorer(Desk, seed=3, workers=1, isolate=False).run(max_runs=40, shrink=False)
    path = tmp_path / "state"
    Explorer(Desk, seed=3, workers=1, isolate=False).run(max_runs=25, shrink=False, save_state_to=path)
    resumed = Explorer(Desk, seed=3, workers=1, isolate=False).run(max_runs=40, shrink=False, resume_from=path)
    assert resumed.rules == whole.rules


def test_counts_of_several_processes_are_added() -> None:
    total = {"ask": [5, 0, 3, 1]}
    add_counts(total, {"ask": [1, 0, 1, 1], "answer": [2, 2, 0, 0]})
    assert uses_of(total, ["quiet"]) == [
        RuleUse("ask", (UnderFault(None, 6, 0), UnderFault("quiet", 4, 2))),
        RuleUse("answer", (UnderFault(None, 2, 2), UnderFault("quiet", 0, 0))),
    ]

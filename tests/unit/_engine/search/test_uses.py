"""What rules and faults do in a search is counted: alone, by workers, and resumed. What did nothing is reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition

from ordeal._report.exploration import json_report
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.faults import LambdaFault, numerical, timing
from ordeal.result import ExplorationResult
from ordeal.stateful import rule

from ...samples.shop import add_module, shop_app

SOURCE = "def price(): return 3\ndef name(): return 'x'\ndef never(): return 0\n"


def machine(*faults: Any, fails: bool = False) -> type[ChaosTest]:
    desk: Any = sys.modules["shop_app.desk"]
    made = list(faults)

    class Desk(ChaosTest):
        faults = made

        @rule(times=st.integers(1, 3))
        def ask(self, times: int) -> None:
            for _ in range(times):
                desk.name()
                assert desk.price() == 3 or not fails

    return Desk


@pytest.mark.parametrize("isolate", [False, True], ids=["here", "apart"])
def test_what_did_nothing_is_told(isolate: bool) -> None:
    with shop_app():
        add_module("desk", SOURCE)
        faults = [
            timing.slow("shop_app.desk.never", 1.0, "real"),
            numerical.nan_injection("shop_app.desk.name"),
            numerical.nan_injection("shop_app.desk.price"),
            LambdaFault("quiet", int, int),
        ]
        result = Explorer(machine(*faults), seed=3, workers=1, isolate=isolate).run(max_runs=60)
    never, name, price = result.faults
    assert never.runs > 0
    assert (never.calls, never.hits) == (0, 0)
    assert name.calls > 0
    assert name.hits == 0
    assert price.hits == price.calls > 0
    texts = [note for note in result.notes if note.startswith("Fault ")]
    assert texts == [
        f"Fault {never.name} was on in {never.runs} runs, met 0 calls: see that the rules call its target.",
        f"Fault {name.name} was on in {name.runs} runs, met {name.calls} calls and changed nothing in any of them.",
    ]
    (reported,) = json.loads(json_report([result]))["results"]
    assert reported["faults"][0] == {"name": never.name, "runs": never.runs, "calls": 0, "hits": 0}


def test_replays_are_not_counted() -> None:
    with shop_app():
        add_module("desk", SOURCE)
        fault = numerical.nan_injection("shop_app.desk.price")
        result = Explorer(machine(fault, fails=True), seed=3, workers=1).run(max_runs=40)
    assert result.failures
    assert result.faults[0].runs <= 40


class Answers(ChaosTest):
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
    result = Explorer(Answers, seed=3, workers=1, isolate=isolate).run(max_runs=600)
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
    whole = Explorer(Answers, seed=3, workers=1, isolate=False).run(max_runs=40, shrink=False)
    path = tmp_path / "state"
    Explorer(Answers, seed=3, workers=1, isolate=False).run(max_runs=25, shrink=False, save_state_to=path)
    resumed = Explorer(Answers, seed=3, workers=1, isolate=False).run(max_runs=40, shrink=False, resume_from=path)
    assert resumed.rules == whole.rules

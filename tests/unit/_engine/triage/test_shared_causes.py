"""One mistake that several rules reach is one failure, where no frame of the targets remains to say so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.triage.bare_failure import bare_failure
from ordeal._engine.triage.shared_causes import possibly_shared
from ordeal.explore import Explorer
from ordeal.result import Failure

from ...samples.one_place_machines import MODULES, Iterating, Shelving
from ...samples.triaged import finding_for, setup_for, tape_for

PUT, OTHER = ("put", {"key": [0], "value": [0]}), ("put", {"key": [1], "value": [0]})


def explored(machine: type[RuleBasedStateMachine], **options: Any) -> list[Failure]:
    arguments: dict[str, Any] = {"workers": 1, "isolate": False, "target_modules": MODULES} | options
    return Explorer(machine, seed=1, **arguments).run(max_runs=60).failures


def test_rules_that_reach_one_mistake_are_one_failure() -> None:
    (failure,) = explored(Iterating)
    assert failure.rule_log[:2] == ["put", "put"]
    assert {failure.rule_log[2], *failure.also_reached_by} == {"items", "values", "equal"}
    assert f"\n  Also reached by: {', '.join(failure.also_reached_by)}\n" in str(failure)


def test_rules_that_fail_after_the_same_steps_by_other_code_stay_apart() -> None:
    assert sorted(failure.rule_log for failure in explored(Shelving)) == [
        ["put", "put", "items"],
        ["put", "put", "settled_items"],
    ]


def test_without_targets_nothing_says_that_they_are_one() -> None:
    assert len(explored(Iterating, target_modules=[])) == 3


@pytest.mark.parametrize(
    ("last", "shared"),
    [(["items"], []), (["items", "items"], []), (["items", "values"], [(1, 0)])],
)
def test_only_other_rules_with_the_same_type_are_compared(last: list[str], shared: list[tuple[int, int]]) -> None:
    setup = setup_for(Iterating)
    findings = [finding_for(setup, tape_for(setup.driver, PUT, OTHER, rule)) for rule in last]
    judged = [(each, bare_failure(setup, each)) for each in findings]
    assert [(each.later, each.cause) for each in possibly_shared(judged)] == shared

"""Failures of one invariant: told apart by what breaks it, and joined again where they need the same."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine
from msgspec import structs

from ordeal._engine.replay.rerun import ReplayStatus, rerun
from ordeal._engine.triage.jobs import bare_failure
from ordeal._engine.triage.siblings import MANY, joined
from ordeal._report.exploration import json_report
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, Failure, ShrinkSnapshot

from ...samples.siblings import BothSides, BrokenByFault, Full, Turned, WaitsForCalm
from ...samples.triaged import finding_for, setup_for, tape_for

APPEND = ("append", {"x": [1]})
OTHER = ("append", {"x": [2]})
MOVE = ("move", {"by": [1]})


def explored(machine: type[RuleBasedStateMachine], seed: int = 1, **options: Any) -> ExplorationResult:
    options = {"max_runs": 300, **options}
    workers = options.pop("workers", 1)
    folder = options.pop("corpus_dir", None)
    explorer = Explorer(machine, seed=seed, workers=workers, isolate=workers > 1, corpus_dir=folder)
    return explorer.run(**options)


def by_step(result: ExplorationResult) -> dict[str, Failure]:
    return {" ".join(failure.broken_by): failure for failure in result.failures}


class TestExploration:
    @pytest.mark.parametrize("seed", range(5))
    def test_two_mistakes_behind_one_assertion_are_two_failures(self, seed: int) -> None:
        failures = by_step(explored(Turned, seed))
        assert set(failures) == {"turn", "move"}
        assert sorted(failures["turn"].rule_log) == ["append"] * 4 + ["turn"]
        assert failures["move"].rule_log[-1] == "move"
        assert len(failures["move"].rule_log) == 4
        for step, failure in failures.items():
            assert failure.bucket.endswith(f" in Turned.is_alike: assert self.row == self.model [after {step}]")

    def test_one_mistake_that_shows_after_two_rules_is_one_failure(self) -> None:
        (failure,) = explored(BothSides).failures
        assert sorted(failure.broken_by) == ["left", "right"]
        assert failure.broken_by[0] == failure.rule_log[-1]
        apart = explored(BothSides, shrink=False).failures
        assert [each.broken_by for each in apart] == [[step] for step in failure.broken_by]
        assert failure.count == sum(each.count for each in apart)

    @pytest.mark.parametrize("seed", range(3))
    def test_one_mistake_that_shows_after_all_rules_is_few_failures(self, seed: int) -> None:
        failures = explored(Full, seed).failures
        assert len(failures) < 6
        assert sum(len(failure.broken_by) for failure in failures) > MANY
        assert {len(failure.rule_log) for failure in failures} == {4}

    def test_the_many_of_one_mistake_cost_little(self) -> None:
        tried: dict[int, int] = {}

        def hear(now: ShrinkSnapshot) -> None:
            tried[now.number] = now.candidates

        explored(Full, seed=2, shrink_progress=hear)
        assert len(tried) > MANY
        assert sum(tried.values()) < 2 * MANY * max(tried.values())

    def test_the_switch_of_a_fault_is_not_named(self) -> None:
        (failure,) = explored(BrokenByFault).failures
        assert failure.broken_by == []

    def test_the_fault_that_goes_last_is_not_needed(self) -> None:
        (failure,) = explored(WaitsForCalm).failures
        assert failure.necessary_faults == {"one(a)": True}
        assert failure.rule_log == ["+one(a)", "lose", "-one(a)"]

    def test_the_reports_say_what_broke_the_invariant(self) -> None:
        result = explored(Turned)
        told = json.loads(json_report([result]))["results"][0]["failures"]
        assert [failure["broken_by"] for failure in told] == [failure.broken_by for failure in result.failures]
        assert "\n  Invariant broken by: turn\n" in str(by_step(result)["turn"])


class TestSeeds:
    """Seeds that were saved before buckets named the step."""

    def saved(self, folder: Path) -> dict[str, Path]:
        return {
            step: Path(failure.seed_path)
            for step, failure in by_step(explored(Turned, corpus_dir=folder)).items()
            if failure.seed_path is not None
        }

    def test_what_another_step_breaks_now_fails_differently(self) -> None:
        trace = by_step(explored(Turned))["turn"].trace
        assert trace is not None
        assert trace.failure is not None
        other = dataclasses.replace(trace.failure, bucket=trace.failure.bucket.replace("turn]", "move]"))
        assert rerun(dataclasses.replace(trace, failure=other), Turned).status is ReplayStatus.FAILS_DIFFERENTLY


class TestJoined:
    def judged(self, *tapes: Any, shrunk: bool = True) -> Any:
        setup = setup_for(Turned)
        found = [finding_for(setup, tape_for(setup.driver, *steps)) for steps in tapes]
        failures = [structs.replace(bare_failure(setup, each), shrunk=shrunk) for each in found]
        return list(zip(found, failures, strict=True))

    def test_the_one_with_a_seed_stands_for_all(self) -> None:
        steps = [APPEND, APPEND, OTHER, MOVE]
        judged = self.judged(steps, steps)
        judged[1][0].seed = Path("seed-1.json")
        ((finding, failure),) = joined(judged)
        assert finding is judged[1][0]
        assert (finding.count, failure.count) == (2, 2)

"""The result of an exploration: its figures, and a note of all that was odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

import ordeal
from ordeal._engine.coverage.targets import Target, resolve_targets
from ordeal._engine.execution.settings import Tally
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.result_builder import WARM_UP_RUNS, SearchReport, Totals, make_result, why_inconclusive
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult

from ...samples.monitored import MakeModule
from ...samples.traced import Counter
from ...samples.triaged import settings_for


def result_of(
    tally: Tally,
    targets: list[Target] | None = None,
    *,
    machine: type | None = None,
    edges: int = 0,
    swarm: dict[str, int] | None = None,
    **options: Any,
) -> ExplorationResult:
    return make_result(
        settings_for(Counter, **options),
        targets or [],
        Totals(tally=tally, report=SearchReport(swarm=swarm or {}), edges=edges),
        failures=[],
        known=[],
        traces=[],
        seeds=[],
        watch=PropertyWatch(),
        seconds=1.5,
        stopped="patience",
        machine=machine,
    )


class Waiting(ChaosTest):
    @ordeal.rule()  # type: ignore[arg-type]
    async def wait(self) -> None: ...


class Jumping(Waiting):
    simulated = True


@pytest.mark.parametrize(
    ("machine", "steps", "noted"),
    [(Waiting, 3, True), (Waiting, 3000, False), (Jumping, 3, False), (Counter, 3, False)],
)
def test_coroutines_that_wait_in_real_time_are_noted(machine: type, steps: int, noted: bool) -> None:
    notes = result_of(Tally(runs=1, steps=steps), machine=machine).notes
    assert any("`simulated = True`" in note for note in notes) == noted


@pytest.mark.parametrize(("runs", "rejected", "noted"), [
    (WARM_UP_RUNS, WARM_UP_RUNS // 2 + 1, True),
    (WARM_UP_RUNS, WARM_UP_RUNS // 2, False),
    (WARM_UP_RUNS - 1, WARM_UP_RUNS - 1, False),  # too few to tell
])  # fmt: skip
def test_too_many_rejected_runs_are_noted(runs: int, rejected: int, noted: bool) -> None:
    notes = result_of(Tally(runs=runs, rejected=rejected)).notes
    assert [note.startswith(f"{rejected} of {runs} runs were rejected") for note in notes] == [True] * noted


def test_runs_that_ended_early_are_noted() -> None:
    (note,) = result_of(Tally(runs=5, stuck=1)).notes
    assert note.startswith("1 of 5 runs ended early, in a state where no rule could run")


def test_targets_of_which_nothing_ran_are_noted_by_name(make_module: MakeModule) -> None:
    make_module("x = 1\n", "one")
    make_module("x = 1\n", "two")
    targets = resolve_targets(["one", "two"])
    (note,) = result_of(Tally(runs=5), targets).notes
    assert note == "No code of the target modules (one, two) ran: check that the rules call them."
    assert result_of(Tally(runs=5), targets, edges=1).notes == ()


def test_a_target_that_cannot_be_read_any_more_is_noted_with_its_path(make_module: MakeModule) -> None:
    module = make_module("x = 1\n", "one")
    targets = resolve_targets(["one"])
    Path(str(module.__file__)).write_text("def broken(:\n")
    (note,) = result_of(Tally(runs=5), targets, edges=1).notes
    assert note == f"{module.__file__} is not valid Python, or gone, so its coverage is not known."


@pytest.mark.parametrize(("swarm", "told"), [(True, True), (False, False), (None, False)])
def test_the_swarm_is_told_of_where_the_user_asked_for_one(swarm: bool | None, told: bool) -> None:
    counts = {"runs": 0}
    text = result_of(Tally(), swarm=counts, rule_swarm=swarm).swarm_summary
    assert bool(text) is told


def reason(
    tally: Tally,
    idle_workers: int = 0,
    unjudged: str = "",
    unreached: tuple[str, ...] = (),
    has_used_rules: bool = True,
) -> str | None:
    why = why_inconclusive(
        tally,
        max_time=3,
        idle_workers=idle_workers,
        unjudged=unjudged,
        unreached=unreached,
        has_used_rules=has_used_rules,
    )
    return None if why is None else why.reason


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        (Tally(), "no run finished in 3 s"),
        (Tally(runs=5), "no step was made in 5 runs"),
        (Tally(runs=5, steps=9, rejected=5), "all 5 runs were rejected by assume() or a filter"),
        (Tally(runs=5, steps=9, rejected=5, emptied=5), "all 5 runs drew from an empty bundle"),
        (Tally(runs=5, steps=9, rejected=5, overrun=5), "all 5 runs needed more data than Hypothesis allows"),
        (Tally(runs=5, steps=9, rejected=4), None),
    ],
)
def test_of_runs_and_steps(tally: Tally, expected: str | None) -> None:
    assert reason(tally) == expected


def test_of_workers_and_targets() -> None:
    good = Tally(runs=5, steps=9)
    assert reason(good, idle_workers=1) == "1 worker finished no run in 3 s"
    assert reason(good, unjudged="failed (why)") == "a worker failed (why) and left a run unjudged"
    assert reason(good, has_used_rules=False) == "no rule ran in 5 runs"
    assert reason(good, unreached=("shop", "till")) == "no code of shop, till ran"


class Either(RuleBasedStateMachine):
    a, b = Bundle("a"), Bundle("b")

    @rule(target=a)
    def make_a(self) -> int:
        return 1

    @rule(target=b)
    def make_b(self) -> int:
        return 2

    @rule(x=st.one_of(a, b), y=st.integers())
    def use(self, x: int, y: int) -> None: ...


class Nested(Either):
    @rule(data=st.data())
    def draw(self, data: st.DataObject) -> None:
        data.draw(Either.a)


def test_a_rule_for_one_of_several_bundles_waits_for_a_value() -> None:
    assert not Explorer(Either, workers=1).run(max_runs=100, steps_per_run=5).rejected_runs


@pytest.mark.parametrize("isolate", [False, True])
def test_runs_that_ended_at_an_empty_bundle_are_called_so(isolate: bool) -> None:
    result = Explorer(Nested, workers=1, isolate=isolate).run(max_runs=100, steps_per_run=5)
    (note,) = [note for note in result.notes if "empty bundle" in note]
    assert note.startswith(f"{result.rejected_runs} of 100 runs ended at a draw from an empty bundle: fill each bundle")

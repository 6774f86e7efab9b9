"""An exploration alone in its process: what its parts come to together, and what is told of it on the way."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.search.exploration import Exploration
from ordeal.errors import OrdealError
from ordeal.result import ExplorationResult, ProgressSnapshot, ShrinkSnapshot

from ...samples.traced import Counter
from ...samples.triaged import settings_for


def explored(machine: type[RuleBasedStateMachine] = Counter, **options: Any) -> ExplorationResult:
    return Exploration(settings_for(machine, **options), make_driver(machine), []).run()


def test_how_far_shrinking_is_is_told() -> None:
    told: list[ShrinkSnapshot] = []
    explored(max_runs=100, shrink_progress=told.append)
    assert {(each.number, each.total) for each in told} == {(1, 1)}
    assert [each.candidates for each in told] == list(range(1, len(told) + 1))
    assert told[-1].steps == 2 <= told[-1].steps_before
    assert [each.elapsed for each in told] == sorted(each.elapsed for each in told)


def test_how_far_it_is_is_told_after_runs() -> None:
    told: list[ProgressSnapshot] = []
    explored(max_runs=30, progress=told.append)
    assert [each.total_runs for each in told] == list(range(1, 31))
    assert told[-1].failures == 1
    assert all(each.runs_per_second > 0 for each in told)


def test_ctrl_c_while_shrinking_leaves_the_failure_and_says_so() -> None:
    def interrupt(_snapshot: ShrinkSnapshot) -> None:
        raise KeyboardInterrupt

    result = explored(max_runs=100, shrink_progress=interrupt)
    assert result.stopped_reason == "interrupted"
    assert len(result.failures) == 1
    assert "Shrinking was interrupted: some traces are longer than need be." in result.notes


class OpenIntegers(RuleBasedStateMachine):
    """Fails for integers far below zero, which have no opposite in their strategy."""

    @rule(number=st.integers(max_value=100))
    def lower(self, number: int) -> None:
        assert number > -(2**64) or number % 3

    @rule(number=st.integers(min_value=-100))
    def raise_(self, number: int) -> None:
        assert number < 2**64 or number % 3


def test_integers_that_are_open_to_one_side_shrink() -> None:
    result = explored(OpenIntegers, max_runs=200)
    assert len(result.failures) == 2
    assert all(failure.shrunk and failure.step == 1 for failure in result.failures)
    assert not [note for note in result.notes if "failed check" in note]


def test_a_failed_check_of_the_core_costs_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> NoReturn:
        raise _native.CheckError("core/x.cpp:1: no")

    monkeypatch.setattr(_native, "Shrinker", fail)
    (failure,) = (result := explored(max_runs=100)).failures
    assert (failure.shrunk, failure.flaky) == (False, False)
    assert [note for note in result.notes if "failed check of ordeal's own (core/x.cpp:1: no)" in note]


def test_a_failed_check_in_a_run_ends_the_exploration_with_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class BrokenSession(_native.Session):  # type: ignore[misc]
        def begin_run(self) -> _native.RunSpec:
            spec = super().begin_run()
            if spec.run_id == broken_in:
                raise _native.CheckError("core/x.cpp:1: no")
            return spec

    monkeypatch.setattr(_native, "Session", BrokenSession)
    broken_in = 90
    result = explored(max_runs=100)
    assert (result.total_runs, result.stopped_reason, len(result.failures)) == (89, "stuck", 1)
    assert [note for note in result.notes if note.startswith("Exploring in run 90 stopped at a failed check")]
    broken_in = 1
    with pytest.raises(OrdealError, match="Exploring in run 1 stopped at a failed check"):
        explored(max_runs=100)


def test_traces_are_recorded_where_they_are_wanted_those_of_failures_first() -> None:
    result = explored(max_runs=100, record_traces=True)
    assert result.traces[0] is result.failures[0].trace
    assert explored(max_runs=100).traces == []


def test_a_sample_has_runs_as_they_were_whether_they_reached_something_new_or_not() -> None:
    def sampled() -> list[Trace]:
        return [trace for trace in explored(max_runs=100, record_traces="sample").traces if trace.failure is None]

    traces = sampled()
    assert len(traces) == 4
    assert any(not trace.edges_discovered for trace in traces)
    assert max(len(trace.taken_steps()) for trace in traces) > 5, "nothing of them was shrunk away"
    assert traces == sampled()

"""Recording a trace: what each step did, in a separate process that may do anything."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest

from ordeal import ChaosTest, Explorer, rule
from ordeal._base.trace_file import SCHEDULE, Trace, TraceFailure, TraceStep
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.view import LaneEvent, PartChange, TraceView
from ordeal._engine.trace_view.watch import lanes_of

from ...samples.viewed import Till


@pytest.fixture(scope="module")
def trace() -> Trace:
    """The shrunk trace of the sample's failure."""
    result = Explorer(Till, target_modules=["unit.samples.viewed"], workers=1, seed=44).run(max_runs=400)
    failures = [failure for failure in result.failures if "script" in str(failure.error)]
    assert failures[0].trace is not None
    return failures[0].trace


@pytest.fixture(scope="module")
def view(trace: Trace) -> TraceView:
    return record_view(trace)


def step_named(view: TraceView, name: str) -> int:
    return next(number for number, step in enumerate(view.steps) if step.name == name)


def test_all_steps_are_there_with_what_they_did(view: TraceView) -> None:
    assert not view.reason
    opened, collected = step_named(view, "open_order"), step_named(view, "collect")
    assert view.steps[opened].result == "orders_0 = 'A1'"
    assert view.steps[opened].output == "<b>order A1</b>"
    assert PartChange("asked", "{}", "{'A1': 1}") in view.steps[opened].changes
    last = view.steps[collected]
    assert last is view.steps[-1]
    assert last.failed
    assert last.arguments == {"order": "orders_0"}
    assert PartChange("gateway.paid", "{}", "{'A1': 2}") in last.changes
    assert any("answer" in name for name in last.faults_on)
    assert last.fired == ["timeout(unit.samples.viewed.Gateway.answer, 30.0s), in 2 calls"]
    assert [each.error.partition(":")[0] for each in last.swallowed] == ["TimeoutError", "TimeoutError"]
    # Where the program called what the fault replaced, and not where ordeal raised it.
    assert {each.place.rpartition(":")[0] for each in last.swallowed} == {"tests/unit/samples/viewed.py"}


def test_lines_are_new_once(view: TraceView) -> None:
    places = [(spot.file, spot.line) for step in view.steps for spot in step.new_lines]
    assert places
    assert len(places) == len(set(places))
    assert any("self.paid[order] = " in spot.code for step in view.steps for spot in step.new_lines)


def test_the_states_follow_from_the_changes(view: TraceView) -> None:
    assert set(view.start) == {"asked", "gateway.paid"}
    assert view.states()[-1]["gateway.paid"] == "{'A1': 2}"
    assert view.states()[-1]["bundle orders"] == "['A1']"


def test_sources_are_those_of_the_rules_and_of_the_place(view: TraceView) -> None:
    names = [source.name for source in view.sources]
    assert {"open_order", "collect"} <= set(names)
    assert "remark" not in names
    (failed,) = [source for source in view.sources if source.failed]
    assert failed.text.split("\n")[failed.failed - failed.line].strip().startswith("assert cents <=")
    assert "AssertionError" in view.traceback


def test_it_says_when_the_failure_was_decided(view: TraceView) -> None:
    assert len(view.chances) == len(view.steps) + 1
    assert view.decided_at
    assert view.chances[-1].failed == view.chances[-1].runs


def test_what_cannot_be_recorded_has_a_reason(trace: Trace) -> None:
    assert record_view(dataclasses.replace(trace, failure=None)).reason == "the trace does not fail"
    assert record_view(dataclasses.replace(trace, test_class="nowhere_to_be_found:Machine")).reason


def test_a_machine_that_ends_its_process_or_hangs_is_contained(
    tmp_path: Path, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ends_when_imported.py").write_text("import os\nos._exit(7)\n")
    ended = record_view(dataclasses.replace(trace, test_class="ends_when_imported:Machine"))
    assert "importing `ends_when_imported` raised SystemExit: os._exit(7)" in ended.reason
    (tmp_path / "hangs_when_imported.py").write_text("import time\ntime.sleep(99)\n")
    monkeypatch.setattr("ordeal._engine.trace_view.recording.GRACE_SECONDS", 0.4)
    hung = record_view(dataclasses.replace(trace, test_class="hangs_when_imported:Machine"), likelihood=False)
    assert "ended without an answer" in hung.reason


def schedule(*labels: str, texts: tuple[str, ...] = ()) -> Trace:
    world: list[str | int] = [part for label in labels for part in (label, 1)]
    step = TraceStep(kind="rule", name="test", choices={SCHEDULE: [*world]}, draws=list(texts))
    return Trace(1, 42, "shop:test", steps=[step], failure=TraceFailure("E", "m", 1, "b"))


def test_each_decision_is_in_the_lane_of_its_task_or_node() -> None:
    trace = schedule("order | put 0 | timers | 0", "packet | b | put 0 | 3", texts=("number 2 fires first",))
    expected = [LaneEvent("put 0", "number 2 fires first"), LaneEvent("b", "put 0", "put 0")]
    assert lanes_of(trace) == expected
    view = record_view(trace)
    assert view.lanes == expected
    assert view.reason == "a schedule of tasks has no steps"


def test_damaged_labels_are_left_out() -> None:
    assert lanes_of(schedule("nothing", "order | a | b", "order | a\x1b | timers | 0")) == [
        LaneEvent("a\\x1b", "timers")
    ]


class Doors(ChaosTest):
    """Two tasks that wait for one moment; fails where the later one is first."""

    simulated = True

    @rule()  # type: ignore[arg-type]
    async def race(self) -> None:
        order: list[str] = []

        async def enter(name: str) -> None:
            await asyncio.sleep(1)
            order.append(name)

        await asyncio.gather(enter("early"), enter("late"))
        assert order == ["early", "late"]


def test_the_decisions_of_a_machine_are_in_lanes_with_their_steps() -> None:
    (failure,) = Explorer(Doors, workers=1).run(max_runs=20).failures
    assert failure.trace is not None
    view = record_view(failure.trace, likelihood=False)
    (event,) = view.lanes
    assert (view.steps[0].decided, view.steps[0].fired) == ([event.text], []), "no fault has struck"
    assert (event.step, event.text) == (1, failure.trace.steps[0].hits[0])
    assert event.lane in event.text

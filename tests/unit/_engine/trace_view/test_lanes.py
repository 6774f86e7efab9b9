"""The lanes of a schedule: one for each task or node that something was decided for."""

from __future__ import annotations

import asyncio

from ordeal import ChaosTest, Explorer, rule
from ordeal._base.trace_file import SCHEDULE, Trace, TraceFailure, TraceStep
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.view import LaneEvent
from ordeal._engine.trace_view.watch import lanes_of


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

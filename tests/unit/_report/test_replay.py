"""What a replay tells: its verdict and what may have caused it, steps, shrinking, ablation, and all of it as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._engine.replay.rerun import ReplayStatus, Rerun
from ordeal._report.replay import (
    replay_outcome,
    replay_steps,
)
from ordeal.trace import Trace, TraceFailure, TraceStep

STEPS = [TraceStep("rule_swarm", "[swarm]"), TraceStep("rule", "pay", text={"sum": "3"}), TraceStep("rule", "end")]
VERSIONS = {"ordeal": "1", "hypothesis": "6"}


def make_trace(failure: TraceFailure | None = None, **changes: Any) -> Trace:
    values: dict[str, Any] = {"steps": STEPS, "failure": failure, "versions": VERSIONS, "program": ["state = Till()"]}
    return Trace(7, 42, "shop:Till", **{**values, **changes})


def make_rerun(status: ReplayStatus, error: BaseException | None = None, **changes: Any) -> Rerun:
    values: dict[str, Any] = {"steps": STEPS[1:], "misfits": 0, "rejected": False, "versions": VERSIONS}
    return Rerun(status=status, error=error, **{**values, **changes})


EMPTY = TraceFailure("KeyError", "'till'\nempty", 2)
NOT_REPRODUCED = make_rerun(ReplayStatus.NOT_REPRODUCED)


def test_steps_are_numbered_in_a_column() -> None:
    steps = [TraceStep("rule", "pay", text={"sum": "3"}, result="a_0 = 1", draws=["5"])] * 10
    lines = replay_steps(steps).split("\n")
    assert lines[0] == "   1. pay(sum=3) -> a_0 = 1  # draws: 5"
    assert lines[9].startswith("  10. pay(")


@pytest.mark.parametrize(
    ("trace", "result", "text"),
    [
        (make_trace(), NOT_REPRODUCED, "No failure, as recorded."),
        (make_trace(EMPTY), NOT_REPRODUCED, "Failure did not reproduce.\n  recorded: KeyError: 'till'"),
        (
            make_trace(EMPTY),
            make_rerun(ReplayStatus.NOT_REPRODUCED, rejected=True),
            "Failure did not reproduce. An assume() in it rejects the run now.\n  recorded: KeyError: 'till'",
        ),
        (
            make_trace(EMPTY),
            make_rerun(ReplayStatus.REPRODUCED, KeyError("till")),
            "Failure reproduced: KeyError: 'till'",
        ),
        (
            make_trace(),
            make_rerun(ReplayStatus.FAILS_DIFFERENTLY, OSError("gone")),
            "The trace fails differently now:\n  recorded: no failure\n  now: OSError: gone",
        ),
        (
            make_trace(EMPTY),
            make_rerun(ReplayStatus.FAILS_DIFFERENTLY, KeyError("till")),
            (
                "The trace fails differently now:\n  recorded: KeyError: 'till'\n  now: KeyError: 'till'\n"
                "Note: the errors read the same, but another line raises it now, or that line was changed"
            ),
        ),
    ],
)
def test_the_verdict(trace: Trace, result: Rerun, text: str) -> None:
    assert replay_outcome(trace, result) == text


def notes(trace: Trace, result: Rerun, **options: Any) -> list[str]:
    return [line for line in replay_outcome(trace, result, **options).split("\n") if line.startswith("Note: ")]


def test_what_may_have_caused_it_is_noted() -> None:
    result = make_rerun(ReplayStatus.NOT_REPRODUCED, misfits=1, unused=2, changed="step 1 ran as\npay()")
    assert notes(make_trace(EMPTY), result, changed=[f"m{number}" for number in range(12)]) == [
        "Note: replaced 1 recorded choice that did not fit the strategies",
        "Note: 2 recorded choices stayed unused: what drew them draws less now",
        "Note: step 1 ran as\\npay()",
        "Note: since the trace was recorded these changed: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ... and 2 more",
    ]


def test_other_versions_are_noted_unless_it_failed_as_recorded() -> None:
    trace = make_trace(EMPTY, versions={"ordeal": "0", "hypothesis": "6"})
    assert notes(trace, NOT_REPRODUCED) == ["Note: recorded with ordeal 0; this is ordeal 1"]
    assert notes(trace, make_rerun(ReplayStatus.REPRODUCED, KeyError())) == []

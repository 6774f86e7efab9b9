"""What a replay tells: its verdict and what may have caused it, steps, shrinking, ablation, and all of it as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordeal._engine.replay.rerun import ReplayStatus, Rerun
from ordeal._report.pytest_lines import recorded_failure
from ordeal._report.replay import (
    ablation_text,
    outdated_json,
    recorded_error,
    replay_header,
    replay_json,
    replay_outcome,
    replay_steps,
    shrink_line,
    shrunk_text,
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


def test_the_header_counts_what_the_machine_does() -> None:
    assert replay_header(make_trace()) == "Replaying shop:Till (run 7, 2 steps)..."
    assert replay_header(make_trace(steps=[])).endswith("(run 7, 0 steps)...")


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
                "Note: both read alike. Another line raises it now, or one that reads in another way"
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
    assert notes(make_trace(EMPTY), result, changed=[f"m{number}" for number in range(7)]) == [
        "Note: 1 recorded choice fit the strategies no longer; others took their place",
        "Note: 2 recorded choices stayed unused: what drew them draws less now",
        "Note: step 1 ran as\\npay()",
        "Note: since the trace was recorded these changed: m0, m1, m2, m3, m4, ... and 2 more",
    ]


def test_other_versions_are_noted_unless_it_failed_as_recorded() -> None:
    trace = make_trace(EMPTY, versions={"ordeal": "0", "hypothesis": "6"})
    assert notes(trace, NOT_REPRODUCED) == ["Note: recorded with ordeal 0; this is ordeal 1"]
    assert notes(trace, make_rerun(ReplayStatus.REPRODUCED, KeyError())) == []


def test_a_recorded_failure_is_whole_or_a_line() -> None:
    assert recorded_error(EMPTY) == "KeyError: 'till'\nempty"
    assert recorded_error(TraceFailure("KeyError", "", 2)) == "KeyError"
    assert recorded_failure(make_trace(EMPTY)) == "KeyError: 'till'"
    assert recorded_failure(make_trace()) == ""


def test_shrinking_is_told_over_a_longer_line() -> None:
    assert shrink_line("chunks", 1, 30) == "  chunks: 1 step left, 30 tried" + " " * 12


def test_what_is_left_after_shrinking() -> None:
    small = make_trace(steps=STEPS[:2], program=["state = Till()", "state.pay(sum=3)"])
    assert shrunk_text(make_trace(), small) == (
        "Shrunk to 1 step (from 2)\n  from shop import Till\n  state = Till()\n  state.pay(sum=3)"
    )


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        ({}, "No fault toggles in trace."),
        ({"a": True, "b": True}, "Necessary faults: a, b"),
        ({"a": True, "b": False}, "Necessary faults: a\nUnnecessary faults: b"),
        ({"b": False}, "Bug reproduces without any faults.\nUnnecessary faults: b"),
    ],
)
def test_faults_that_a_failure_needs(faults: dict[str, bool], text: str) -> None:
    assert ablation_text(faults) == text


def test_json_of_a_replay() -> None:
    result = make_rerun(ReplayStatus.FAILS_DIFFERENTLY, OSError("x" * 2000), misfits=1, unused=2, changed="step 1")
    document = replay_json(
        make_trace(EMPTY),
        "traces/a.json",
        result,
        changed=["shop"],
        shrunk=make_trace(steps=STEPS[:2]),
        shrunk_path="traces/b.json",
        necessary_faults={"a": True},
    )
    assert document.endswith("}\n")
    found = json.loads(document)
    assert len(found.pop("error_message")) == 500
    assert found == {
        "schema_version": 1,
        "tool": "replay",
        "test_class": "shop:Till",
        "trace_path": "traces/a.json",
        "status": "fails_differently",
        "run_id": 7,
        "rng_seed": 42,
        "trace_steps": 2,
        "recorded_error": "KeyError: 'till'\nempty",
        "error_type": "OSError",
        "place": None,
        "misfit_choices": 1,
        "unused_choices": 2,
        "changed_step": "step 1",
        "changed_modules": ["shop"],
        "steps": ["pay(sum=3)", "end()"],
        "shrunk_steps": 1,
        "shrunk_path": "traces/b.json",
        "plain": None,
        "plain_refused": None,
        "shrunk_program": "from shop import Till\nstate = Till()",
        "necessary_faults": {"a": True},
    }


def test_json_says_null_where_there_is_nothing() -> None:
    found = json.loads(replay_json(make_trace(), "a.json", NOT_REPRODUCED))
    for name in ("error_type", "error_message", "changed_step", "shrunk_steps", "necessary_faults", "recorded_error"):
        assert found[name] is None, name


def test_json_of_a_trace_that_no_longer_applies() -> None:
    found = json.loads(outdated_json(make_trace(EMPTY), "a.json", "it has no rule 'pay'"))
    assert (found["status"], found["reason"]) == ("no_longer_applies", "it has no rule 'pay'")
    assert found["recorded_error"] == "KeyError: 'till'\nempty"

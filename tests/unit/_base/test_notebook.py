"""What a notebook shows of results, failures and traces: short, and every text escaped."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
from ordeal.result import CodeLine, ExplorationResult, Failure, FailurePlace

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def trace(text: str) -> Trace:
    steps = [TraceStep("rule", "pay", text={"cents": text}, active_faults=[text])]
    return Trace(1, 42, f"tests.shop:{text}", steps=steps, failure=TraceFailure("ValueError", text, 1))


def failure(text: str) -> Failure:
    return Failure(
        error=ValueError(text),
        step=1,
        run_id=1,
        active_faults=[text],
        rule_log=["pay"],
        trace=trace(text),
        bucket="bucket",
        count=3,
        trace_path="t.json",
        program=f"state = Shop()\nstate.pay({text!r})",
        place=FailurePlace("rule", text, CodeLine("shop.py", 3, text, text), None, (text,)),
    )


def result(text: str) -> ExplorationResult:
    return ExplorationResult(
        test_class=f"tests.shop:{text}",
        rng_seed=1,
        total_runs=1,
        total_steps=1,
        unique_edges=1,
        checkpoints_saved=1,
        duration_seconds=1.0,
        failures=[failure(text)],
    )


@pytest.mark.parametrize("make", [trace, failure, result])
def test_it_says_what_matters_and_escapes_it(make: Any) -> None:
    shown = make("plain")
    assert "ValueError" in shown._repr_html_()
    hostile = make(HOSTILE)._repr_html_()
    assert "<script" not in hostile
    assert "\x1b" not in hostile
    assert "&lt;script" in hostile


def test_a_failure_shows_where_and_how_to_replay_it() -> None:
    shown = failure("plain")._repr_html_()
    assert "shop.py:3 in plain" in shown
    assert "ordeal replay" in shown
    assert "state.pay(" in shown

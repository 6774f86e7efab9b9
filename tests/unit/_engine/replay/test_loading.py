"""From a trace to a tape and what runs it: names become numbers, and what is gone is named with what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ordeal._engine.replay.loading import load_for_replay
from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.trace import Trace, TraceStep

from ...samples.traced import Counter, Faulty

COUNTER = f"{Counter.__module__}:{Counter.__qualname__}"


def trace_of(*steps: TraceStep, machine: str = COUNTER, **changes: Any) -> Trace:
    return Trace(1, 42, machine, steps=list(steps), **changes)


@pytest.mark.parametrize(
    ("machine", "step", "gone", "hint"),
    [
        (Counter, TraceStep("rule", "pay"), "rule 'pay'", "it has: add, rest"),
        (Counter, TraceStep("initialize", "begin"), "initialize rule 'begin'", "it has: none"),
        (Counter, TraceStep("fault_toggle", "+power"), "fault 'power'", "it has: none"),
        (Faulty, TraceStep("fault_toggle", "-power"), "fault 'power'", "it has: one(a), two(b), three(c)"),
        (Counter, TraceStep("rule", "add", choices={"to": [1]}), "argument 'to'", "it has: by"),
    ],
)
def test_what_is_gone_is_named_with_what_there_is(machine: Any, step: TraceStep, gone: str, hint: str) -> None:
    with pytest.raises(OutdatedTraceError) as caught:
        load_for_replay(trace_of(step), machine)
    assert caught.value.message == f"the trace no longer applies to {COUNTER}: it has no {gone}"
    assert caught.value.hint is not None
    assert sorted(caught.value.hint.removeprefix("it has: ").split(", ")) == sorted(
        hint.removeprefix("it has: ").split(", ")
    )


def test_a_step_that_nobody_wrote_is_refused() -> None:
    with pytest.raises(TraceError, match="step 2 of the trace has the unknown kind 'jump'"):
        load_for_replay(trace_of(TraceStep("rule", "rest"), TraceStep("jump", "up")))
    for name in ("power", "", "*power"):
        with pytest.raises(TraceError, match=r"begins with neither \+ nor -"):
            load_for_replay(trace_of(TraceStep("fault_toggle", name)))


def test_the_limit_is_that_of_the_caller_then_of_the_trace_then_of_the_class() -> None:
    trace = trace_of(rule_timeout=3.0)
    assert load_for_replay(trace, rule_timeout=0.0).driver.rule_timeout == 0.0
    assert load_for_replay(trace).driver.rule_timeout == 3.0
    assert load_for_replay(replace(trace, rule_timeout=None)).driver.rule_timeout == 30.0

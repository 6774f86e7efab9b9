"""From a trace to a tape and what runs it: names become numbers, and what is gone is named with what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ordeal._engine.execution.driver import INITIALIZE, RULE
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.loading import load_for_replay, tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal.errors import OutdatedTraceError, TraceError
from ordeal.trace import Trace, TraceFailure, TraceStep

from ...samples.traced import Counter, Everything, Faulty

COUNTER = f"{Counter.__module__}:{Counter.__qualname__}"


def trace_of(*steps: TraceStep, machine: str = COUNTER, **changes: Any) -> Trace:
    return Trace(1, 42, machine, steps=list(steps), **changes)


def test_steps_become_numbers_of_the_machine() -> None:
    driver = make_driver(Everything)
    names = list(driver.definition.argument_names)
    rules = [each.name for each in driver.definition.rules]
    trace = trace_of(
        TraceStep("initialize", "first"),
        TraceStep("rule_swarm", "[swarm rules=2]"),
        TraceStep("rule", "make", choices={"count": [2]}),
        TraceStep("rule", "ask", choices={"words": [False], "(body)": [3, 1]}),
    )
    assert tape_of(trace, driver).steps() == [
        (INITIALIZE, 0, 0, []),
        (RULE, rules.index("make"), 1, [(names.index("count"), [2])]),
        (RULE, rules.index("ask"), 2, [(names.index("words"), [False]), (0, [3, 1])]),
    ]


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


def test_a_failure_that_ends_its_process_is_run_in_another_one() -> None:
    ended = TraceFailure("ProcessExitError", "add ended the process", 1, "ProcessExitError(3) at add")
    assert type(load_for_replay(trace_of(failure=ended)).replayer) is CrashReplayer
    assert type(load_for_replay(trace_of(failure=TraceFailure("ValueError", "x", 1))).replayer) is Replayer
    assert type(load_for_replay(trace_of()).replayer) is Replayer

"""Traces from Python: load, replay, shrink, ablate, lower to Hypothesis, turn into tests.

``test_class`` is the machine of a trace, or a function that makes one; without it, the class is imported by the name in
the trace.
"""

from __future__ import annotations

import importlib
from typing import Any

from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.trace_file import Trace, TraceFailure, TraceStep, decode_choice, encode_choice
from ordeal._engine.execution.bucket import ends_process
from ordeal._engine.execution.machine import MachineFactory
from ordeal._engine.export.drawn_again import drawn
from ordeal._engine.export.generated_tests import check_invariants, generate_tests, replay_packed
from ordeal._engine.export.lowering import LoweringDriver
from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.replay.rerun import ReplayStatus, Rerun, ablate_faults, rerun, shrink
from ordeal.errors import TraceError

__all__ = [
    "ReplayStatus",
    "Rerun",
    "Trace",
    "TraceFailure",
    "TraceStep",
    "ablate_faults",
    "check_invariants",
    "decode_choice",
    "drawn",
    "encode_choice",
    "generate_tests",
    "lower",
    "plain",
    "replay",
    "replay_packed",
    "rerun",
    "shrink",
]


def replay(trace: Trace, test_class: MachineFactory | None = None) -> BaseException | None:
    """Run ``trace`` from a fresh machine; return the exception that it fails with, or None.

    ``test_class`` defaults to the class that the trace names. ``rerun`` returns more details.

    Raises:
        OutdatedTraceError: a rule, fault or argument of the trace is gone, or a step can no longer run.
        TraceError: the run asks to be skipped, or the trace holds values alone, and one of them cannot be rebuilt.
        OrdealError: the class cannot be imported.
    """
    return rerun(trace, test_class).error


def plain(trace: Trace) -> str:
    """Return a plain Python program that fails like ``trace``: the calls into the code under test, without the machine.

    The calls are recorded in a replay, minimised, and run again, each in a separate process, where the class and
    the code under test must be importable.

    Raises:
        TraceError: no such program can be written; the message says why.
    """
    # Imported late: few programs want it.
    made = importlib.import_module("ordeal._engine.plain.reproduction").reproduce(trace)
    if made.reason:
        raise TraceError(f"no plain Python for the trace of run {trace.run_id}: {made.reason}")
    text: str = made.text
    return text


def lower(trace: Trace, test_class: type[RuleBasedStateMachine] | None = None) -> tuple[Any, ...]:
    """Return the flat sequence of choices with which Hypothesis' own loop runs ``trace``.

    ``hypothesis.reproduce_failure`` takes it encoded; Hypothesis' example database holds such sequences.

    Raises:
        TraceError: the trace does not fit the class, or does not run to its end.
    """
    if trace.failure is not None and ends_process(trace.failure.error_type, trace.failure.bucket):
        raise TraceError(f"the trace of run {trace.run_id} ends its process, and that of Hypothesis with it")
    loaded = load_for_replay(trace, test_class)
    try:
        with loaded.running():
            return LoweringDriver(loaded.driver).lower(loaded.tape)
    except InvalidDefinition as error:
        raise TraceError(str(error)) from error

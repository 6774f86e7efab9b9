"""The recorded runs that judge: drawn by explorations, run twice on the original, with the lines that each covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ordeal import _native
from ordeal._engine.execution.class_path import load_class
from ordeal._engine.mutation.forks import Say
from ordeal._engine.mutation.line_coverage import LineCoverage
from ordeal._engine.mutation.machines.bench import Bench, Step
from ordeal._engine.mutation.machines.reads import reads_of
from ordeal._engine.mutation.machines.relations import Held
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.storage.trace_file import Trace
from ordeal._native import monotonic
from ordeal.errors import TraceError
from ordeal.explore import Explorer

#: Different seeds lead into different parts of a machine.
EXPLORATIONS = 3

Lines = set[tuple[str, int]]


class Kept(msgspec.Struct):
    """A trace that judges: its number in the order of what it takes, its tape, lines, seconds and states."""

    number: int
    machine: int
    trace: Trace
    tape: _native.Tape
    lines: Lines
    seconds: float
    sketches: list[Step]


def drawn(path: str, targets: Sequence[str], *, runs: int, seconds: float, seed: int, say: Say) -> None:
    """Explore a machine, and say the traces that reached something new, without the steps that fail.

    The number of runs is the limit, so that each time finds the same. That of seconds is there for machines that take
    very long, and is said where it ended an exploration.
    """
    given = load_class(path)
    for number in range(EXPLORATIONS):
        explorer = Explorer(given, target_modules=targets, seed=seed + number, workers=1)
        result = explorer.run(
            max_runs=max(1, runs // EXPLORATIONS), max_time=seconds / EXPLORATIONS, shrink=False, record_traces=True
        )
        if result.stopped_reason == "time":
            say({"cut short": True})
        for trace in [*result.traces, *(failure.trace for failure in result.failures if failure.trace is not None)]:
            if trace.has_choices:
                say({"trace": trace.to_json().decode(), "failed": trace.failure is not None})


def tape_without_failure(trace: Trace, bench: Bench, *, failed: bool) -> _native.Tape | None:
    """Return the tape of a trace without the step that fails; None where the trace does not fit the machine."""
    try:
        tape = tape_of(trace, bench.driver)
    except TraceError:
        return None
    steps = tape.steps()[: -1 if failed else None]
    return _native.Tape.from_steps(steps) if steps else None


def measured(bench: Bench, tapes: Sequence[_native.Tape], paths: set[str], say: Say) -> None:
    """Say which tapes run twice alike, with their lines and times; then what the invariants read, and what held."""
    good: list[_native.Tape] = []
    coverage = LineCoverage(paths)
    with bench.running():
        for number, tape in enumerate(tapes):
            first = bench.sketches(tape)
            if first is None or first != bench.sketches(tape):
                continue
            coverage.start()
            passed = bench.passes(tape)
            lines = sorted(coverage.take())
            coverage.stop()
            began = monotonic()
            if not (bench.passes(tape) and passed):
                continue
            good.append(tape)
            seconds, steps = monotonic() - began, len(first) - 1
            say({"tape": number, "lines": lines, "seconds": seconds, "steps": steps, "sketches": first})
        reads, attributes = reads_of(bench, good)
        held = Held()
        for tape in good:
            bench.show_numbers(tape, held.take)
    relations = [msgspec.to_builtins(relation) for relation in held.all()]
    say({"reads": reads, "attributes": attributes, "held": relations, "states": held.states})


def covering(kept: Iterable[Kept], lines: Lines) -> list[Kept]:
    """Return the traces that run any of these lines."""
    return [each for each in kept if lines & each.lines]


def cheapest_first(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what was measured of the tapes, the fastest first; equal ones in the order of their steps and numbers.

    Times differ from run to run, and the order decides which trace is named: so steps stand for them.
    """
    yield from sorted(found, key=lambda each: (each["steps"], each["tape"]))

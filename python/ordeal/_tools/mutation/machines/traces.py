"""The recorded runs that judge: drawn by explorations, run twice on the original, with the lines that each covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import msgspec

import ordeal._native as _native
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.class_path import load_class
from ordeal._engine.replay.loading import tape_of
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Say
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.lookout import Step
from ordeal._tools.mutation.machines.reads import reads_of
from ordeal._tools.mutation.machines.step_lines import StepLines
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.swap import LiveFunctions
from ordeal.errors import TraceError
from ordeal.explore import Explorer

#: Different seeds lead into different parts of a machine.
EXPLORATIONS = 3
#: So many files of a folder are read.
SAVED_MAX = 500

Lines = set[tuple[str, int]]


class Kept(msgspec.Struct):
    """A trace that judges.

    Attributes:
        number: its place among all, those with the fewest steps first.
        hits: the steps in which each line runs, as bits.
        seconds, turns: what it takes on the original; the turns are those of ``TurnLimit``.
        sketches: the rule and the number of the state after each step.
        only_looks: whether the invariants change nothing, so that they need not be asked before the lines run.
        looked: the lines that invariants run.
    """

    number: int
    machine: int
    trace: Trace
    tape: _native.Tape
    hits: dict[tuple[str, int], int]
    seconds: float
    sketches: list[Step]
    turns: int = 0
    only_looks: bool = False
    looked: Set[tuple[str, int]] = frozenset()


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


def saved(path: str, folders: Sequence[str]) -> Iterator[Trace]:
    """Yield the traces of a machine in the files below some folders; what cannot be read is left alone."""
    files = [file for folder in folders for file in sorted(Path(folder).rglob("*.json*"))[:SAVED_MAX]]
    for file in files:
        try:
            trace = Trace.load(file)
        except TraceError:
            continue
        if trace.test_class == path and trace.has_choices:
            yield trace


def tape_without_failure(trace: Trace, bench: Bench, *, failed: bool) -> _native.Tape | None:
    """Return the tape of a trace without the step that fails; None where the trace does not fit the machine."""
    try:
        tape = tape_of(trace, bench.driver)
    except TraceError:
        return None
    steps = tape.steps()[: -1 if failed else None]
    return _native.Tape.from_steps(steps) if steps else None


def measured(bench: Bench, tapes: Sequence[_native.Tape], paths: set[str], live: LiveFunctions, say: Say) -> None:
    """Say which tapes run twice alike, with their lines and times; then what the invariants read.

    Before all, say which attributes are not the same twice: they are not compared.
    """
    good: list[_native.Tape] = []
    turns = TurnLimit(live)
    with bench.running():
        say({"unsteady": bench.unsteady(tapes)})
        for number, tape in enumerate(tapes):
            watch = StepLines(paths)
            watch.start()
            first = bench.sketches(tape, watch)
            watch.stop()
            if first is None or not bench.repeats(tape, first):
                continue
            turns.begin(None)
            began = monotonic()
            if not bench.passes(tape):
                continue
            good.append(tape)
            lines = [[*line, hits] for line, hits in sorted(watch.hits.items())]
            found = {"tape": number, "lines": lines, "seconds": monotonic() - began, "steps": len(first) - 1}
            found |= {"looked": sorted(watch.looked), "only looks": bench.are_looks(tape, first)}
            say({**found, "turns": turns.count, "sketches": first})
        turns.end()
        reads, attributes = reads_of(bench, good)
    say({"reads": reads, "attributes": attributes})


def cheapest_first(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what was measured of the tapes, the fastest first; equal ones in the order of their steps and numbers.

    Times differ from run to run, and the order decides which trace is named: so steps stand for them.
    """
    yield from sorted(found, key=lambda each: (each["steps"], each["tape"]))

"""The report of an exploration: as text for people, and as JSON for programs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, describe_error, indented, one_line, runnable_program
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX, MESSAGE_CHARS_MAX
from ordeal._base.property_text import explored_properties, json_cells, json_properties
from ordeal._base.untrusted import error_message, type_name
from ordeal.result.exploration import (
    blind_lines,
    coverage_figures,
    coverage_lines,
    discovery_lines,
    inconclusive_lines,
    line_ranges,
    remark_lines,
    run_figures,
)
from ordeal.result.failure import failure_details, failure_id, failure_program, trace_steps
from ordeal.result.parts import known_lines, world_lines

if TYPE_CHECKING:
    from ordeal.config.options import ExplorationOptions
    from ordeal.result import (
        ExplorationResult,
        Failure,
        ProgressSnapshot,
        ShrinkSnapshot,
    )

_AS_JSON = (bool, int, float, str, type(None))
# Failures


# Complete texts


def exploration_report(
    results: Sequence[ExplorationResult], *, all_failures: bool = False, by_path: bool = False
) -> str:
    """Return the final report: a blank line, a title, and a section for each explored class.

    Ten failures of each class are shown, or ``all_failures``; ``by_path`` is that of `failure_details`.
    """
    lines = ["", "--- Ordeal Exploration Report ---"]
    for result in results:
        body = [run_figures(result), *coverage_figures(result)]
        body += [*found_lines(result, all_failures=all_failures), *ending_lines(result)]
        shown = result.failures if all_failures else result.failures[:LISTED_MAX]
        for block in [*(failure_details(failure, by_path=by_path) for failure in shown), *remaining_blocks(result)]:
            body += ["", *block]
        lines += ["", f"  {one_line(result.test_class)}", *indented(body, 4)]
    return "\n".join([*lines, ""])


def found_lines(result: ExplorationResult, *, all_failures: bool) -> list[str]:
    """Return what was found, with a line for each failure, or that nothing was."""
    if not result.failures:
        return inconclusive_lines(result) or ["No other failures." if result.known else "No failures."]
    lines = []
    for each in result.failures:
        facts = [*trace_facts(each), *(["flaky"] if each.flaky else [])]
        lines.append(f"{describe_error(each.error)} ({', '.join(facts)})" if facts else describe_error(each.error))
    times = Counter(lines)
    places = ["" if each.place is None else f": {each.place.raised_at or each.place.at}" for each in result.failures]
    # With the place of those that read the same.
    lines = [f"{line}{place}" if times[line] > 1 else line for line, place in zip(lines, places, strict=True)]
    heading = "1 FAILURE:" if len(lines) == 1 else f"{len(lines)} FAILURES:"
    left_out = len(lines) - LISTED_MAX
    if left_out > 0 and not all_failures:
        lines = [*lines[:LISTED_MAX], f"... and {left_out} more (--all shows them)"]
    return [heading, *indented(lines, 2)]


def trace_facts(failure: Failure) -> list[str]:
    """Return how many steps a failure takes, and whether it was not shrunk."""
    steps = trace_steps(failure)
    facts = [] if steps is None else [counted(steps, "step")]
    # A seed was shrunk before it was saved, if that was wanted.
    return facts if failure.shrunk or (not failure.run_id and failure.seed_path is not None) else [*facts, "not shrunk"]


def ending_lines(result: ExplorationResult) -> list[str]:
    """Return what follows the failures: those that are known, and whether the search was interrupted."""
    return known_lines(result.known) + ["Stopped: interrupted"] * (result.stopped_reason == "interrupted")


def remaining_blocks(result: ExplorationResult) -> list[list[str]]:
    """Return what a report says after the failures: properties, coverage, faults of simulated worlds, and remarks."""
    swarm = [f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []
    properties = explored_properties(result.properties, result.reliability_cells)
    coverage = swarm + coverage_lines(result) + blind_lines(result) + discovery_lines(result.discovery)
    blocks = [properties, coverage, world_lines(result.faults), remark_lines(result)]
    return [block for block in blocks if block]


def progress_line(snapshot: ProgressSnapshot) -> str:
    """Return the live progress line."""
    return f"  {' '.join(progress_figures(snapshot))}"


def progress_figures(snapshot: ProgressSnapshot) -> list[str]:
    """Return the figures of a live line: of the time, and of runs, steps, edges, checkpoints, failures and speed."""
    return [
        f"[{snapshot.elapsed:.0f}s]",
        f"runs={snapshot.total_runs}",
        f"steps={snapshot.total_steps}",
        f"edges={snapshot.unique_edges}",
        f"cps={snapshot.checkpoints}",
        f"fails={snapshot.failures}",
        f"({snapshot.runs_per_second:.0f} runs/s)",
    ]


def shrink_progress_line(shrinking: ShrinkSnapshot) -> str:
    """Return the live line while failures are shrunk."""
    if shrinking.waits:
        return (
            f"  [{shrinking.elapsed:.0f}s] failure {shrinking.number} of {shrinking.total} hangs after"
            f" {counted(shrinking.steps - 1, 'step')}: watching whether that takes {shrinking.waits:g} s"
        )
    return (
        f"  [{shrinking.elapsed:.0f}s] shrinking failure {shrinking.number} of {shrinking.total}:"
        f" {shrinking.steps_before} -> {counted(shrinking.steps, 'step')} ({shrinking.candidates} tried)"
    )


def session_header(version: str, rng_seed: int, options: Mapping[str, object]) -> str:
    """Return the first lines of an exploration: what is needed to run the same one again."""
    words = " ".join(f"{name}={option_text(value)}" for name, value in options.items())
    return f"ordeal {version}\nrng seed: {rng_seed}\noptions: {one_line(words, limit=4 * LINE_CHARS_MAX)}"


def option_text(value: object) -> str:
    """Return the value of an option as people read it."""
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def explorers_text(options: ExplorationOptions) -> str:
    """Return who explores: the number of workers here, or of members of a fleet."""
    if options.on is None:
        return counted(options.workers or os.cpu_count() or 1, "worker")
    return f"{counted(options.member_count, 'member')} on {options.on.partition(':')[0]}"


def exploration_header(
    version: str, *, classes: int, who: str, time: str, rng_seed: int, options: Mapping[str, object]
) -> str:
    """Return the first lines of an exploration: what is needed to run the same one again, and ``options``.

    ``who`` explores: the workers here, or where the members are.
    """
    facts = [
        counted(classes, "class", "classes"),
        who,
        time,
        f"random seed {rng_seed}",
    ]
    words = " ".join(f"{name}={option_text(value)}" for name, value in options.items())
    lines = [f"ordeal {version}: {', '.join(facts)}"]
    return "\n".join([*lines, f"options: {one_line(words, limit=4 * LINE_CHARS_MAX)}"] if words else lines)


def closing_line(results: Sequence[ExplorationResult], exit_code: int) -> str:
    """Return the last line of an exploration: what was found, in how many runs, and the exit code."""
    failures = sum(len(result.failures) for result in results)
    found = counted(failures, "finding") if failures else "No findings"
    runs = sum(result.total_runs for result in results)
    seconds = sum(result.duration_seconds for result in results)
    classes = counted(len(results), "class", "classes")
    noun = "run" if runs == 1 else "runs"
    return f"{found} in {classes}, {runs:,} {noun} in {seconds:.1f} s, exit code {exit_code}"


# JSON


def json_report(results: Sequence[ExplorationResult], options: Mapping[str, object] | None = None) -> str:
    """Return the report as JSON, ending in a newline: see ``json_document``."""
    return json.dumps(json_document(results, options), indent=2) + "\n"


def json_document(
    results: Sequence[ExplorationResult], options: Mapping[str, object] | None = None, *, kept_runs: bool = False
) -> dict[str, Any]:
    """Return the report as plain data; ``options`` are those of the exploration.

    With ``kept_runs`` each result has the runs besides the failures whose traces were recorded.

    Times measured by a clock are only in the ``timing`` object of a result, so that two explorations with the same
    ``rng_seed``, code and ``max_runs`` differ only there.
    """
    document: dict[str, Any] = {"schema_version": JSON_SCHEMA_VERSION}
    if options is not None:
        document["options"] = {
            name: list(value) if isinstance(value, tuple) else value if isinstance(value, _AS_JSON) else str(value)
            for name, value in options.items()
        }
    document["results"] = [_json_result(result) for result in results]
    if kept_runs:
        for shown, result in zip(document["results"], results, strict=True):
            shown["kept_runs"] = [
                {
                    "run_id": trace.run_id,
                    "edges_discovered": trace.edges_discovered,
                    "rule_log": [step.name for step in trace.taken_steps()],
                    "program": runnable_program(trace.program, trace.test_class),
                }
                for trace in result.traces
                if trace.failure is None
            ]
    return document


def _json_result(result: ExplorationResult) -> dict[str, Any]:
    discovery, seconds = result.discovery, result.duration_seconds
    rate = result.total_runs / seconds if seconds > 0 else 0.0
    return {
        "test_class": result.test_class,
        "rng_seed": result.rng_seed,
        "total_runs": result.total_runs,
        "total_steps": result.total_steps,
        "unique_edges": result.unique_edges,
        "checkpoints": result.checkpoints_saved if result.checkpoints is None else result.checkpoints,
        "checkpoints_saved": result.checkpoints_saved,
        "rejected_runs": result.rejected_runs,
        "unconfirmed": result.unconfirmed,
        "inconclusive": None if result.inconclusive is None else to_builtins(result.inconclusive),
        "stopped_reason": result.stopped_reason,
        "target_modules": None if result.target_modules is None else list(result.target_modules),
        "imported_modules": list(result.imported_modules),
        "snapshot_kind": result.snapshot_kind,
        "discovery": discovery and {**to_builtins(discovery), "unseen": discovery.unseen},
        "telemetry": {
            "swarm": {"summary": result.swarm_summary},
            "runs": result.run_kinds,
            "behavior": {
                "lines_covered": result.lines_covered,
                "lines_total": result.lines_total,
                "missed_lines": result.missed_lines,
                "covered_lines": {file: ",".join(line_ranges(lines)) for file, lines in result.covered_lines.items()},
                "coverage_gaps": sorted(result.coverage_gaps, key=lambda gap: (gap["file"], gap["line"])),
            },
        },
        "seed_replays": [
            to_builtins(replace(seed, path=PurePath(seed.path).as_posix())) for seed in result.seed_replays
        ],
        "properties": json_properties(result.properties),
        "reliability_cells": json_cells(result.reliability_cells),
        "faults": [to_builtins(use) for use in result.faults],
        "rules": [to_builtins(use) for use in result.rules],
        "notes": list(result.notes),
        "failures": [_json_failure(failure) for failure in result.failures],
        "known": [
            to_builtins(replace(known, error_message=known.error_message[:MESSAGE_CHARS_MAX]))
            | {"id": failure_id(known.bucket)}
            for known in result.known
        ],
        "timing": {"duration_seconds": round(seconds, 3), "runs_per_second": round(rate, 1)},
    }


def _json_failure(failure: Failure) -> dict[str, Any]:
    paths = (failure.trace_path, failure.seed_path)
    trace_path, seed_path = (None if path is None else PurePath(path).as_posix() for path in paths)
    return {
        "id": failure.id,
        "error_type": type_name(type(failure.error)),
        "error_message": error_message(failure.error)[:MESSAGE_CHARS_MAX],
        "step": failure.step,
        "run_id": failure.run_id,
        "bucket": failure.bucket,
        "place": None if failure.place is None else to_builtins(failure.place),
        "broken_by": list(failure.broken_by),
        "count": failure.count,
        "flaky": failure.flaky,
        "flaky_reason": failure.flaky_reason,
        "shrunk": failure.shrunk,
        "weights": failure.weights,
        "active_faults": list(failure.active_faults),
        "struck": failure.struck,
        "necessary_faults": failure.necessary_faults,
        "rule_log": list(failure.rule_log),
        "trace_steps": trace_steps(failure),
        "trace_path": trace_path,
        "seed_path": seed_path,
        "program": failure_program(failure),
    }

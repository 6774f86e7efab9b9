"""The report of an exploration: as text for people, and as JSON for programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ordeal.reporting.properties import explored_properties, json_cells, json_properties
from ordeal.reporting.words import (
    JSON_MESSAGE_CHARS_MAX,
    JSON_SCHEMA_VERSION,
    MESSAGE_CHARS_MAX,
    capped,
    counted,
    describe_error,
    error_message,
    indented,
    name_list,
    one_line,
    program_lines,
    short_names,
)

if TYPE_CHECKING:
    from ordeal.result import Discovery, ExplorationResult, Failure, ProgressSnapshot, ShrinkSnapshot

_FAILURES_MAX = 10
_SUMMARY_FAILURES_MAX = 5
_GAPS_MAX = 5
_SEQUENCE_STEPS_MAX = 10


# Failures


def failure_text(failure: Failure) -> str:
    """Return where a failure happened, with which faults, and the steps that led there."""
    lines = [
        f"{_run_name(failure)}, step {failure.step}: {describe_error(failure.error)}",
        f"  Active faults: {name_list(short_names(failure.active_faults))}",
    ]
    if failure.necessary_faults is not None:
        lines.append(f"  Necessary faults: {_necessary(failure.necessary_faults)}")
    lines += _swarm_lines(failure)
    lines.append(f"  Sequence: {_sequence(failure.rule_log)}")
    return "\n".join(lines)


def _swarm_lines(failure: Failure) -> list[str]:
    """How the run that failed weighed its rules. The trace does without: it names the rules that it takes."""
    steps = [] if failure.trace is None else failure.trace.steps
    drawn = [step.params["weights"] for step in steps if step.kind == "rule_swarm" and "weights" in step.params]
    return [f"  Swarm: {one_line(weights_text(weights))}" for weights in drawn]


def weights_text(weights: Mapping[str, int]) -> str:
    """Return the weights of operations: of those that are kept, heaviest first, then the names of the others."""
    kept = sorted((name for name in weights if weights[name]), key=lambda name: -weights[name])
    left_out = [name for name in weights if not weights[name]]
    text = ", ".join(f"{name} {weights[name]}" for name in kept)
    return f"{text}; without {', '.join(left_out)}" if left_out else text


def _run_name(failure: Failure) -> str:
    if failure.run_id or failure.seed_path is None:
        return f"Run {failure.run_id}"
    return f"Seed {one_line(PurePath(failure.seed_path).name.partition('.')[0].removeprefix('seed-'))}"


def _necessary(faults: Mapping[str, bool]) -> str:
    # Shortened among all faults of the trace, so that a name means the same here as in the line above.
    pairs = zip(short_names(list(faults)), faults.values(), strict=True)
    names = [name for name, needed in pairs if needed]
    return name_list(names) if names else "none (fails without any faults)"


def _sequence(rule_log: Sequence[str]) -> str:
    # A swarm configuration is recorded among the steps, but it is nothing that the machine does.
    steps = [entry.partition("(")[0] for entry in rule_log if not entry.startswith("[swarm ")]
    names = [one_line(step) for step in steps[-_SEQUENCE_STEPS_MAX:]]
    if len(steps) > _SEQUENCE_STEPS_MAX:
        names.insert(0, "...")
    return " -> ".join(names) if names else "none"


def trace_steps(failure: Failure) -> int | None:
    """Return how many steps the failure's trace takes, or ``None`` without a trace."""
    if failure.trace is None:
        return None
    return len(failure.trace.taken_steps())


def _failure_line(failure: Failure) -> str:
    steps = trace_steps(failure)
    facts = [] if steps is None else [counted(steps, "step")]
    if not failure.shrunk:
        facts.append("not shrunk")
    if failure.flaky:
        facts.append("flaky")
    return f"{describe_error(failure.error)} ({', '.join(facts)})" if facts else describe_error(failure.error)


def _failure_details(failure: Failure) -> list[str]:
    lines = failure_text(failure).splitlines()
    if failure.flaky_reason:
        lines.append(f"  Flaky: {one_line(failure.flaky_reason, limit=2 * MESSAGE_CHARS_MAX)}")
    if failure.count > 1:
        lines.append(f"  Seen: in {failure.count} runs")
    if failure.program:
        lines += ["  Program:", *indented(program_lines(failure.program), 4)]
    if failure.trace_path is not None:
        lines.append(f"  Trace: {one_line(failure.trace_path)}")
    if failure.seed_path is not None:
        lines.append(f"  Seed: {one_line(failure.seed_path)}")
    return lines


# Coverage


def reachable_call(gap: Mapping[str, Any]) -> str:
    """Return the ``reachable("file:line: code")`` call for a coverage gap, valid as Python source."""
    # A JSON string is a Python string as well; quotes and backslashes of the code are escaped in it.
    label = json.dumps(f"{gap['file']}:{gap['line']}: {gap['code']}", ensure_ascii=False)
    return f"reachable({label})"


def _coverage_lines(result: ExplorationResult) -> list[str]:
    lines = []
    if result.lines_total:
        percent = 100 * result.lines_covered // result.lines_total
        lines.append(f"Line coverage: {result.lines_covered}/{result.lines_total} ({percent}%)")
    gaps = result.coverage_gaps
    if gaps:
        lines.append(f"Not reached in {counted(result.total_runs, 'run')}: {len(gaps)} branch(es) in target modules")
        for gap in gaps[:_GAPS_MAX]:
            lines.append(f"  {one_line(f'{gap["file"]}:{gap["line"]} {gap["code"]}')}")
            lines.append(f"    add: {one_line(reachable_call(gap), limit=2 * MESSAGE_CHARS_MAX)}")
        if len(gaps) > _GAPS_MAX:
            lines.append(f"  ... and {len(gaps) - _GAPS_MAX} more")
    return lines


def _discovery_lines(discovery: Discovery | None) -> list[str]:
    """What is left to find, and under which assumption; nothing where too little is known."""
    if discovery is None:
        return []
    one = discovery.what.removesuffix("s")
    likely = f"up to {_percent(discovery.next_run_max)}"
    if discovery.next_run:
        likely = f"about {_percent(discovery.next_run)}, {likely}"
    unseen = f"; at least {counted(discovery.unseen, one)} more can be found" if discovery.unseen > 0 else ""
    sample = counted(discovery.runs, "run")
    return [f"Undiscovered: one more run like the {sample} counted shows a new {one} by a chance of {likely}{unseen}"]


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"


def _remark_lines(result: ExplorationResult) -> list[str]:
    lines = []
    if result.rejected_runs:
        lines.append(f"Rejected by assume(): {counted(result.rejected_runs, 'run')}")
    if result.unconfirmed:
        lines.append(f"Unconfirmed: {counted(result.unconfirmed, 'failure')} did not fail again from a fresh machine")
    return lines + [f"Note: {one_line(note, limit=2 * MESSAGE_CHARS_MAX)}" for note in result.notes]


# Whole texts


def summary_text(result: ExplorationResult) -> str:
    """Return the summary of one result, as ``ExplorationResult.summary`` shows it."""
    lines = [
        f"Exploration: {_run_figures(result)}",
        *(f"Coverage: {figures}" for figures in _coverage_figures(result)),
        *_discovery_lines(result.discovery),
        *([f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []),
        *run_kind_lines(result.run_kinds),
        *_summary_failures(result.failures),
        *explored_properties(result.properties, result.reliability_cells),
        *_coverage_lines(result),
        *_remark_lines(result),
        f"Stopped: {result.stopped_reason}",
    ]
    return "\n".join(lines)


def _run_figures(result: ExplorationResult) -> str:
    runs, steps = counted(result.total_runs, "run"), counted(result.total_steps, "step")
    return f"{runs}, {steps}, {result.duration_seconds:.1f}s"


def _coverage_figures(result: ExplorationResult) -> list[str]:
    """What steered the search; nothing where all was run."""
    if result.stopped_reason in ("exhausted", "limit"):
        return []
    return [f"{counted(result.unique_edges, 'edge')}, {counted(result.checkpoints_saved, 'checkpoint')}"]


def _summary_failures(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return ["No failures found."]
    shown = chain.from_iterable(_failure_details(failure) for failure in failures[:_SUMMARY_FAILURES_MAX])
    lines = [f"Failures found: {len(failures)}", *indented(shown, 2)]
    if len(failures) > _SUMMARY_FAILURES_MAX:
        lines.append(f"  ... and {len(failures) - _SUMMARY_FAILURES_MAX} more")
    return lines


def exploration_report(results: Sequence[ExplorationResult]) -> str:
    """Return the final report: a blank line, a title, and a section for each explored class."""
    sections = chain.from_iterable(["", *_section(result)] for result in results)
    return "\n".join(["", "--- Ordeal Exploration Report ---", *sections, ""])


def _section(result: ExplorationResult) -> list[str]:
    body = [_run_figures(result), *_coverage_figures(result), *_failure_list(result.failures)]
    if result.stopped_reason == "interrupted":
        body.append("Stopped: interrupted")
    for block in _section_blocks(result):
        body += ["", *block]
    return [f"  {one_line(result.test_class)}", *indented(body, 4)]


def _failure_list(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return ["No failures."]
    heading = "1 FAILURE:" if len(failures) == 1 else f"{len(failures)} FAILURES:"
    return [heading, *indented(capped([_failure_line(failure) for failure in failures], _FAILURES_MAX), 2)]


def _section_blocks(result: ExplorationResult) -> list[list[str]]:
    details = [_failure_details(failure) for failure in result.failures[:_FAILURES_MAX]]
    swarm = [f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []
    properties = explored_properties(result.properties, result.reliability_cells)
    coverage = swarm + _coverage_lines(result) + _discovery_lines(result.discovery)
    blocks = [*details, properties, coverage, _remark_lines(result)]
    return [block for block in blocks if block]


def progress_line(snapshot: ProgressSnapshot) -> str:
    """Return the live progress line. Its trailing blanks cover what a longer line left on the terminal."""
    return (
        f"  [{snapshot.elapsed:.0f}s] runs={snapshot.total_runs} steps={snapshot.total_steps}"
        f" edges={snapshot.unique_edges} cps={snapshot.checkpoints} fails={snapshot.failures}"
        f" ({snapshot.runs_per_second:.0f} runs/s)    "
    )


def shrink_progress_line(shrinking: ShrinkSnapshot) -> str:
    """Return the live line while failures are shrunk."""
    return (
        f"  [{shrinking.elapsed:.0f}s] shrinking failure {shrinking.number} of {shrinking.total}:"
        f" {shrinking.steps_before} -> {counted(shrinking.steps, 'step')} ({shrinking.candidates} tried)    "
    )


def session_header(version: str, rng_seed: int, options: Mapping[str, object]) -> str:
    """Return the first lines of an exploration: what is needed to run the same one again."""
    words = " ".join(f"{name}={_option_text(value)}" for name, value in options.items())
    return f"ordeal {version}\nrng seed: {rng_seed}\noptions: {one_line(words, limit=4 * MESSAGE_CHARS_MAX)}"


def _option_text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value) or "none"
    return str(value)


def replay_hint(trace_path: str) -> str:
    """Return the line that tells how to replay a saved trace from a shell."""
    # A name that begins with a dash would be taken for an option.
    path = f"./{trace_path}" if trace_path.startswith("-") else trace_path
    return f"replay the first failure: ordeal replay {shlex.quote(path)}"


# JSON


def json_report(results: Sequence[ExplorationResult]) -> str:
    """Return the report as JSON, ending in a newline.

    What a clock measured stands in the ``timing`` object of a result and nowhere else, so that two explorations with
    the same ``rng_seed``, code and ``max_runs`` differ there alone.
    """
    document = {"schema_version": JSON_SCHEMA_VERSION, "results": [_json_result(result) for result in results]}
    return json.dumps(document, indent=2) + "\n"


def _json_result(result: ExplorationResult) -> dict[str, Any]:
    return {
        "test_class": result.test_class,
        "rng_seed": result.rng_seed,
        "total_runs": result.total_runs,
        "total_steps": result.total_steps,
        "unique_edges": result.unique_edges,
        "checkpoints_saved": result.checkpoints_saved,
        "rejected_runs": result.rejected_runs,
        "unconfirmed": result.unconfirmed,
        "stopped_reason": result.stopped_reason,
        "snapshot_kind": result.snapshot_kind,
        "discovery": _json_discovery(result.discovery),
        "telemetry": {
            "swarm": {"summary": result.swarm_summary},
            "runs": result.run_kinds,
            "behavior": {
                "lines_covered": result.lines_covered,
                "lines_total": result.lines_total,
                "coverage_gaps": sorted(result.coverage_gaps, key=lambda gap: (gap["file"], gap["line"])),
            },
        },
        "seed_replays": [
            {"name": seed.name, "path": _posix(seed.path), "status": seed.status.value, "message": seed.message}
            for seed in result.seed_replays
        ],
        "properties": json_properties(result.properties),
        "reliability_cells": json_cells(result.reliability_cells),
        "notes": list(result.notes),
        "failures": [_json_failure(failure) for failure in result.failures],
        "timing": _json_timing(result),
    }


def _json_discovery(discovery: Discovery | None) -> dict[str, Any] | None:
    return None if discovery is None else {**asdict(discovery), "unseen": discovery.unseen}


def _json_timing(result: ExplorationResult) -> dict[str, float]:
    seconds = result.duration_seconds
    rate = result.total_runs / seconds if seconds > 0 else 0.0
    return {"duration_seconds": round(seconds, 3), "runs_per_second": round(rate, 1)}


def _json_failure(failure: Failure) -> dict[str, Any]:
    return {
        "error_type": type(failure.error).__name__,
        "error_message": error_message(failure.error)[:JSON_MESSAGE_CHARS_MAX],
        "step": failure.step,
        "run_id": failure.run_id,
        "bucket": failure.bucket,
        "count": failure.count,
        "flaky": failure.flaky,
        "flaky_reason": failure.flaky_reason,
        "shrunk": failure.shrunk,
        "active_faults": list(failure.active_faults),
        "necessary_faults": failure.necessary_faults,
        "rule_log": list(failure.rule_log),
        "trace_steps": trace_steps(failure),
        "trace_path": None if failure.trace_path is None else _posix(failure.trace_path),
        "seed_path": None if failure.seed_path is None else _posix(failure.seed_path),
        "program": failure.program,
    }


def _posix(path: str) -> str:
    return PurePath(path).as_posix()


#: What the kinds of runs are called, by what they are told apart.
_KIND_NAMES = {
    "starts": {
        "fresh": "fresh",
        "branch": "from a checkpoint",
        "leaning": "from a checkpoint with changed arguments",
        "splice": "joined",
        "repeat": "repeating",
        "edit": "edited",
    },
    "swarm": {
        "full": "all on",
        "coins": "coins",
        "sizes": "sizes",
        "shared": "shared probability",
        "directed": "coverage-directed",
        "energy": "energy-weighted",
    },
    "lengths": {"any": "of any length", "short": "short", "long": "long"},
}


def run_kind_lines(kinds: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return which kinds of runs there were, in percent, a line for each way to tell them apart."""
    lines = []
    for what, title in (("starts", "Runs"), ("swarm", "Swarm laws"), ("lengths", "Lengths")):
        counts = kinds.get(what, {})
        total = sum(counts.values())
        shares = [
            f"{100 * count / total:.0f}% {_KIND_NAMES[what].get(kind, kind)}" for kind, count in counts.items() if count
        ]
        if len(shares) > 1:
            lines.append(f"{title}: {', '.join(shares)}")
    return lines


def swarm_text(counts: Mapping[str, int]) -> str:
    """Return how the runs got their swarm configurations, in one line; ``counts`` is what the session gives."""
    if not counts["runs"]:
        return "no run drew a swarm configuration: there is nothing to choose from"
    drawn = ", ".join(
        f"{counts[key]} {text}"
        for key, text in (
            ("warm_up", "warm-up"),
            ("full", "full"),
            ("coin_flip", "coin-flip"),
            ("directed", "coverage-directed"),
            ("energy", "energy-weighted"),
        )
    )
    productive = f"{counts['productive']} of {counts['configurations']} configurations productive"
    return f"{counts['runs']} runs: {drawn}; {productive}"

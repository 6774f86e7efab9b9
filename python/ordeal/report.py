"""Turns results and errors into the text that people read and the JSON that programs read."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordeal.rerun import Rerun
    from ordeal.result import ExplorationResult, Failure, ProgressSnapshot
    from ordeal.trace_file import Trace, TraceFailure, TraceStep

JSON_SCHEMA_VERSION = 1

_MESSAGE_CHARS_MAX = 200
_JSON_MESSAGE_CHARS_MAX = 500
_FAILURES_MAX = 10
_SUMMARY_FAILURES_MAX = 5
_GAPS_MAX = 5
_SEQUENCE_STEPS_MAX = 10
_PROGRAM_LINES_MAX = 60


# Words of a line


def one_line(text: str, *, limit: int = _MESSAGE_CHARS_MAX) -> str:
    """Return ``text`` safe to print on one line: control characters escaped, at most ``limit`` characters.

    Messages come from the program under test. A newline in one would break the layout, and a terminal escape could
    rewrite what is already on the screen.
    """
    # Cut first: a message of many megabytes must not be escaped in full to show its beginning.
    safe = "".join(char if char.isprintable() else _escaped(char) for char in text[: limit + 1])
    return safe if len(safe) <= limit else safe[: limit - 3] + "..."


def safe_lines(text: str) -> str:
    """Return ``text`` safe to print on several lines: control characters other than newlines escaped."""
    return "\n".join(one_line(line) for line in text.rstrip().split("\n"))


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def error_message(error: BaseException) -> str:
    """Return ``str(error)``, or a stand-in when the exception's own ``__str__`` raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the class is not ours and its __str__ may raise anything
        return f"<{type(error).__name__} whose text raises>"


def describe_error(error: BaseException) -> str:
    """Return ``Type: message`` on one line, or the type alone when there is no message."""
    name, message = type(error).__name__, error_message(error)
    return one_line(f"{name}: {message}" if message else name)


def counted(number: int, noun: str) -> str:
    """Return ``1 step`` or ``3 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _short_names(names: Sequence[str]) -> list[str]:
    """Drop the arguments of fault names, ``timeout(db.call, 30.0s)`` to ``timeout``, where no two become the same."""
    bases = [name.partition("(")[0] for name in names]
    shared = Counter(bases)
    return [base if shared[base] == 1 else name for base, name in zip(bases, names, strict=True)]


def _name_list(names: Sequence[str]) -> str:
    return one_line(", ".join(names)) if names else "none"


def _indented(lines: Iterable[str], blanks: int) -> list[str]:
    return [" " * blanks + line if line else "" for line in lines]


# Failures


def failure_text(failure: Failure) -> str:
    """Return where a failure happened, with which faults, and the steps that led there."""
    lines = [
        f"Run {failure.run_id}, step {failure.step}: {describe_error(failure.error)}",
        f"  Active faults: {_name_list(_short_names(failure.active_faults))}",
    ]
    if failure.necessary_faults is not None:
        lines.append(f"  Necessary faults: {_necessary(failure.necessary_faults)}")
    lines.append(f"  Sequence: {_sequence(failure.rule_log)}")
    return "\n".join(lines)


def _necessary(faults: Mapping[str, bool]) -> str:
    # Shortened among all faults of the trace, so that a name means the same here as in the line above.
    pairs = zip(_short_names(list(faults)), faults.values(), strict=True)
    names = [name for name, needed in pairs if needed]
    return _name_list(names) if names else "none (fails without any faults)"


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
    if failure.count > 1:
        lines.append(f"  Seen: in {failure.count} runs")
    if failure.program:
        lines += ["  Program:", *_indented(_program_lines(failure.program), 4)]
    if failure.trace_path is not None:
        lines.append(f"  Trace: {one_line(failure.trace_path)}")
    return lines


def _program_lines(program: str) -> list[str]:
    # Not splitlines(): it would also break at separators that Python source may hold inside a string.
    lines = [one_line(line) for line in program.rstrip("\n").split("\n")]
    left_out = len(lines) - _PROGRAM_LINES_MAX
    return lines if left_out <= 0 else [*lines[:_PROGRAM_LINES_MAX], f"... and {counted(left_out, 'more line')}"]


def _capped(lines: Sequence[str], limit: int) -> list[str]:
    left_out = len(lines) - limit
    return list(lines) if left_out <= 0 else [*lines[:limit], f"... and {left_out} more"]


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
            lines.append(f"    add: {one_line(reachable_call(gap), limit=2 * _MESSAGE_CHARS_MAX)}")
        if len(gaps) > _GAPS_MAX:
            lines.append(f"  ... and {len(gaps) - _GAPS_MAX} more")
    return lines


def _remark_lines(result: ExplorationResult) -> list[str]:
    lines = []
    if result.rejected_runs:
        lines.append(f"Rejected by assume(): {counted(result.rejected_runs, 'run')}")
    if result.unconfirmed:
        lines.append(f"Unconfirmed: {counted(result.unconfirmed, 'failure')} did not fail again from a fresh machine")
    return lines + [f"Note: {one_line(note, limit=2 * _MESSAGE_CHARS_MAX)}" for note in result.notes]


# Whole texts


def summary_text(result: ExplorationResult) -> str:
    """Return the summary of one result, as ``ExplorationResult.summary`` shows it."""
    lines = [
        f"Exploration: {_run_figures(result)}",
        f"Coverage: {_coverage_figures(result)}",
        *([f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []),
        *_summary_failures(result.failures),
        *_coverage_lines(result),
        *_remark_lines(result),
        f"Stopped: {result.stopped_reason}",
    ]
    return "\n".join(lines)


def _run_figures(result: ExplorationResult) -> str:
    runs, steps = counted(result.total_runs, "run"), counted(result.total_steps, "step")
    return f"{runs}, {steps}, {result.duration_seconds:.1f}s"


def _coverage_figures(result: ExplorationResult) -> str:
    return f"{counted(result.unique_edges, 'edge')}, {counted(result.checkpoints_saved, 'checkpoint')}"


def _summary_failures(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return ["No failures found."]
    shown = chain.from_iterable(_failure_details(failure) for failure in failures[:_SUMMARY_FAILURES_MAX])
    lines = [f"Failures found: {len(failures)}", *_indented(shown, 2)]
    if len(failures) > _SUMMARY_FAILURES_MAX:
        lines.append(f"  ... and {len(failures) - _SUMMARY_FAILURES_MAX} more")
    return lines


def exploration_report(results: Sequence[ExplorationResult]) -> str:
    """Return the final report: a blank line, a title, and a section for each explored class."""
    sections = chain.from_iterable(["", *_section(result)] for result in results)
    return "\n".join(["", "--- Ordeal Exploration Report ---", *sections, ""])


def _section(result: ExplorationResult) -> list[str]:
    body = [_run_figures(result), _coverage_figures(result), *_failure_list(result.failures)]
    if result.stopped_reason == "interrupted":
        body.append("Stopped: interrupted")
    for block in _section_blocks(result):
        body += ["", *block]
    return [f"  {one_line(result.test_class)}", *_indented(body, 4)]


def _failure_list(failures: Sequence[Failure]) -> list[str]:
    if not failures:
        return ["No failures."]
    heading = "1 FAILURE:" if len(failures) == 1 else f"{len(failures)} FAILURES:"
    return [heading, *_indented(_capped([_failure_line(failure) for failure in failures], _FAILURES_MAX), 2)]


def _section_blocks(result: ExplorationResult) -> list[list[str]]:
    details = [_failure_details(failure) for failure in result.failures[:_FAILURES_MAX]]
    swarm = [f"Swarm: {one_line(result.swarm_summary)}"] if result.swarm_summary else []
    blocks = [*details, swarm + _coverage_lines(result), _remark_lines(result)]
    return [block for block in blocks if block]


def progress_line(snapshot: ProgressSnapshot) -> str:
    """Return the live progress line. Its trailing blanks cover what a longer line left on the terminal."""
    return (
        f"  [{snapshot.elapsed:.0f}s] runs={snapshot.total_runs} steps={snapshot.total_steps}"
        f" edges={snapshot.unique_edges} cps={snapshot.checkpoints} fails={snapshot.failures}"
        f" ({snapshot.runs_per_second:.0f} runs/s)    "
    )


def session_header(version: str, rng_seed: int, options: Mapping[str, object]) -> str:
    """Return the first lines of an exploration: what is needed to run the same one again."""
    words = " ".join(f"{name}={_option_text(value)}" for name, value in options.items())
    return f"ordeal {version}\nrng seed: {rng_seed}\noptions: {one_line(words, limit=4 * _MESSAGE_CHARS_MAX)}"


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


# Replays


def replay_header(trace: Trace) -> str:
    """Return the first line of a replay."""
    steps = counted(len(trace.taken_steps()), "step")
    return f"Replaying {one_line(trace.test_class)} (run {trace.run_id}, {steps})..."


def replay_steps(steps: Sequence[TraceStep]) -> str:
    """Return a numbered line for each step that ran, with its arguments, what it drew and what it gave to bundles."""
    blanks = len(str(len(steps)))
    return "\n".join(f"  {number:>{blanks}}. {_replay_step(step)}" for number, step in enumerate(steps, start=1))


def _replay_step(step: TraceStep) -> str:
    if step.kind == "fault_toggle":
        verb = "activate" if step.name.startswith("+") else "deactivate"
        return one_line(f"{verb} fault: {step.name[1:]}")
    arguments = ", ".join(f"{name}={value}" for name, value in step.text.items())
    draws = f"  # draws: {', '.join(step.draws)}" if step.draws else ""
    result = f" -> {step.result}" if step.result else ""
    return one_line(f"{step.name}({arguments}){result}{draws}", limit=4 * _MESSAGE_CHARS_MAX)


def replay_outcome(trace: Trace, result: Rerun) -> str:
    """Return how a replay ended, and both errors when it failed in another way than recorded."""
    lines = _replay_verdict(trace, result)
    if result.misfits:
        choices = counted(result.misfits, "recorded choice")
        lines.append(f"Note: {choices} fit the strategies no longer; others took their place")
    return "\n".join(lines)


def _replay_verdict(trace: Trace, result: Rerun) -> list[str]:
    recorded = "no failure" if trace.failure is None else one_line(_recorded_error(trace.failure))
    if result.error is None:
        if trace.failure is None:
            return ["No failure, as recorded."]
        why = " An assume() in it rejects the run now." if result.rejected else ""
        return [f"Failure did not reproduce.{why}", f"  recorded: {recorded}"]
    if result.status.value == "reproduced":
        return [f"Failure reproduced: {describe_error(result.error)}"]
    return ["The trace fails differently now:", f"  recorded: {recorded}", f"  now: {describe_error(result.error)}"]


def _recorded_error(failure: TraceFailure) -> str:
    return f"{failure.error_type}: {failure.error_message}" if failure.error_message else failure.error_type


def shrunk_text(before: Trace, after: Trace) -> str:
    """Return how much shorter a trace became, and the program that is left."""
    steps, was = counted(len(after.taken_steps()), "step"), len(before.taken_steps())
    program = _indented(_program_lines("\n".join(after.program)), 2)
    return "\n".join([f"Shrunk to {steps} (from {was})", *program])


def ablation_text(faults: Mapping[str, bool]) -> str:
    """Return which faults a failure needs."""
    if not faults:
        return "No fault toggles in trace."
    needed = [name for name, necessary in faults.items() if necessary]
    needless = [name for name, necessary in faults.items() if not necessary]
    lines = [f"Necessary faults: {_name_list(needed)}"] if needed else ["Bug reproduces without any faults."]
    return "\n".join([*lines, *([f"Unnecessary faults: {_name_list(needless)}"] if needless else [])])


def replay_json(
    trace: Trace,
    trace_path: str,
    result: Rerun,
    *,
    shrunk: Trace | None = None,
    shrunk_path: str | None = None,
    necessary_faults: Mapping[str, bool] | None = None,
) -> str:
    """Return the outcome of a replay as JSON, ending in a newline."""
    document = {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "replay",
        "test_class": trace.test_class,
        "trace_path": PurePath(trace_path).as_posix(),
        "status": result.status.value,
        "run_id": trace.run_id,
        "rng_seed": trace.seed,
        "trace_steps": len(trace.taken_steps()),
        "recorded_error": None if trace.failure is None else _recorded_error(trace.failure),
        "error_type": None if result.error is None else type(result.error).__name__,
        "error_message": None if result.error is None else error_message(result.error)[:_JSON_MESSAGE_CHARS_MAX],
        "misfit_choices": result.misfits,
        "steps": [_replay_step(step) for step in result.steps],
        "shrunk_steps": None if shrunk is None else len(shrunk.taken_steps()),
        "shrunk_path": None if shrunk_path is None else PurePath(shrunk_path).as_posix(),
        "shrunk_program": None if shrunk is None else "\n".join(shrunk.program),
        "necessary_faults": None if necessary_faults is None else dict(necessary_faults),
    }
    return json.dumps(document, indent=2) + "\n"


def error_text(message: str, hint: str | None = None) -> str:
    """Return ``error: ...`` and, when there is a hint, a blank line and ``hint: ...``."""
    text = f"error: {one_line(message, limit=4 * _MESSAGE_CHARS_MAX)}"
    return text if hint is None else f"{text}\n\nhint: {one_line(hint, limit=4 * _MESSAGE_CHARS_MAX)}"


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
        "telemetry": {
            "swarm": {"summary": result.swarm_summary},
            "behavior": {
                "lines_covered": result.lines_covered,
                "lines_total": result.lines_total,
                "coverage_gaps": sorted(result.coverage_gaps, key=lambda gap: (gap["file"], gap["line"])),
            },
        },
        "notes": list(result.notes),
        "failures": [_json_failure(failure) for failure in result.failures],
        "timing": _json_timing(result),
    }


def _json_timing(result: ExplorationResult) -> dict[str, float]:
    seconds = result.duration_seconds
    rate = result.total_runs / seconds if seconds > 0 else 0.0
    return {"duration_seconds": round(seconds, 3), "runs_per_second": round(rate, 1)}


def _json_failure(failure: Failure) -> dict[str, Any]:
    path = failure.trace_path
    return {
        "error_type": type(failure.error).__name__,
        "error_message": error_message(failure.error)[:_JSON_MESSAGE_CHARS_MAX],
        "step": failure.step,
        "run_id": failure.run_id,
        "bucket": failure.bucket,
        "count": failure.count,
        "flaky": failure.flaky,
        "shrunk": failure.shrunk,
        "active_faults": list(failure.active_faults),
        "necessary_faults": failure.necessary_faults,
        "rule_log": list(failure.rule_log),
        "trace_steps": trace_steps(failure),
        "trace_path": None if path is None else PurePath(path).as_posix(),
        "program": failure.program,
    }


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

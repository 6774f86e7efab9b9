"""Reports on the replay of a trace: how it ended, its steps, and the results of shrinking and ablation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import to_builtins

from ordeal._base.formatting import (
    JSON_SCHEMA_VERSION,
    capped,
    counted,
    describe_error,
    indented,
    name_list,
    one_line,
    program_lines,
    runnable_program,
)
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX, MESSAGE_CHARS_MAX
from ordeal._base.trace_file import step_text, versions_now
from ordeal._base.untrusted import error_message, type_name
from ordeal._report.pytest_lines import recorded_failure
from ordeal.result.parts import place_lines

if TYPE_CHECKING:
    from ordeal._base.trace_file import Trace, TraceFailure, TraceStep
    from ordeal._engine.plain.reproduction import Reproduction
    from ordeal._engine.replay.rerun import Rerun


def replay_header(trace: Trace) -> str:
    """Return the first line of a replay."""
    steps = counted(len(trace.taken_steps()), "step")
    return f"Replaying {one_line(trace.test_class)} (run {trace.run_id}, {steps})..."


def checked_text(trace: Trace, changed: Sequence[str]) -> str:
    """Return what a trace holds, and what has changed since it was recorded; nothing is run."""
    lines = _recorded_lines(trace)
    others = _other_versions(trace)
    lines += [f"  this is {_versions(others)}"] if others else []
    lines += [f"  changed since: {one_line(', '.join(capped(changed, LISTED_MAX)))}"] if changed else []
    unchanged = len(trace.targets) - len(changed)
    lines += [f"  unchanged: {counted(unchanged, 'target module')}"] if unchanged else []
    return "\n".join(lines)


def checked_json(trace: Trace, path: str, changed: Sequence[str]) -> str:
    """Return the same as JSON, ending in a newline."""
    document = {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "check",
        "test_class": trace.test_class,
        "trace_path": PurePath(path).as_posix(),
        "run_id": trace.run_id,
        "rng_seed": trace.seed,
        "trace_steps": len(trace.taken_steps()),
        "recorded_error": None if trace.failure is None else recorded_error(trace.failure),
        "versions": trace.versions,
        "other_versions": _other_versions(trace),
        "changed_modules": list(changed),
    }
    return json.dumps(document, indent=2) + "\n"


def _recorded_lines(trace: Trace) -> list[str]:
    return [
        f"{one_line(trace.test_class)}: {counted(len(trace.taken_steps()), 'step')}, {recorded_failure(trace)}",
        f"  recorded by run {trace.run_id} of seed {trace.seed}, with {_versions(trace.versions)}",
    ]


def _other_versions(trace: Trace) -> dict[str, str]:
    return {name: version for name, version in versions_now().items() if trace.versions.get(name) != version}


def _versions(versions: Mapping[str, str]) -> str:
    return one_line(", ".join(f"{name} {version}" for name, version in versions.items()))


def packed_text(trace: Trace) -> str:
    """Return the text in an archive: the failure, and its steps."""
    program = program_lines(runnable_program(trace.program, trace.test_class))
    head = [*_recorded_lines(trace), "", "`ordeal replay FILE.zip` runs it again. The steps:", ""]
    return "\n".join([*head, *indented(program, 2), ""])


def replay_steps(steps: Sequence[TraceStep]) -> str:
    """Return a numbered line for each step that ran, with its arguments, what it drew and what it gave to bundles."""
    blanks = len(str(len(steps)))
    return "\n".join(f"  {number:>{blanks}}. {step_text(step)}" for number, step in enumerate(steps, start=1))


def replay_outcome(trace: Trace, result: Rerun, *, changed: Sequence[str] = ()) -> str:
    """Return how a replay ended, both errors if it failed differently, and possible causes of a difference.

    The causes are choices that no longer fit, target modules that ``changed``, and, unless it failed as recorded, other
    versions.
    """
    lines = _replay_verdict(trace, result)
    if result.misfits:
        choices = counted(result.misfits, "recorded choice")
        lines.append(f"Note: replaced {choices} that did not fit the strategies")
    if result.unused:
        lines.append(f"Note: {counted(result.unused, 'recorded choice')} stayed unused: what drew them draws less now")
    if result.changed:
        lines.append(f"Note: {one_line(result.changed, limit=4 * LINE_CHARS_MAX)}")
    if changed:
        modules = ", ".join(capped(changed, LISTED_MAX))
        lines.append(f"Note: since the trace was recorded these changed: {one_line(modules)}")
    others = [name for name, version in result.versions.items() if trace.versions.get(name) != version]
    if others and result.status.value != "reproduced":
        recorded, now = (", ".join(f"{name} {by[name]}" for name in others) for by in (trace.versions, result.versions))
        lines.append(f"Note: recorded with {one_line(recorded)}; this is {now}")
    return "\n".join(lines)


def _replay_verdict(trace: Trace, result: Rerun) -> list[str]:
    recorded = recorded_failure(trace)
    if result.error is None:
        if trace.failure is None:
            return ["No failure, as recorded."]
        why = " An assume() in it rejects the run now." if result.rejected else ""
        return [f"Failure did not reproduce.{why}", f"  recorded: {recorded}"]
    where = indented(place_lines(result.place), 2)
    now = describe_error(result.error)
    if result.status.value == "reproduced":
        return [f"Failure reproduced: {now}", *where]
    lines = ["The trace fails differently now:", f"  recorded: {recorded}", f"  now: {now}", *where]
    if now == recorded:
        lines.append("Note: the errors read the same, but another line raises it now, or that line was changed")
    return lines


def recorded_error(failure: TraceFailure) -> str:
    """Return the type and the complete message of a recorded failure."""
    return f"{failure.error_type}: {failure.error_message}" if failure.error_message else failure.error_type


def shrunk_text(before: Trace, after: Trace) -> str:
    """Return how much shorter a trace became, and the program that is left."""
    steps, was = counted(len(after.taken_steps()), "step"), len(before.taken_steps())
    program = indented(program_lines(runnable_program(after.program, after.test_class)), 2)
    return "\n".join([f"Shrunk to {steps} (from {was})", *program])


def ablation_text(faults: Mapping[str, bool]) -> str:
    """Return which faults a failure needs."""
    if not faults:
        return "No fault toggles in trace."
    needed = [name for name, necessary in faults.items() if necessary]
    needless = [name for name, necessary in faults.items() if not necessary]
    lines = [f"Necessary faults: {name_list(needed)}"] if needed else ["Bug reproduces without any faults."]
    return "\n".join([*lines, *([f"Unnecessary faults: {name_list(needless)}"] if needless else [])])


def plain_written(plain: Reproduction, path: str) -> str:
    """Return where the plain reproduction of a failure is, and how to run it."""
    lines = sum(bool(line.strip()) for line in plain.text.split("\n"))
    return f"Plain Python: {one_line(path)} ({counted(lines, 'line')}), which was run and fails the same way"


def plain_refused(plain: Reproduction) -> str:
    """Return why a failure has no plain reproduction."""
    return f"No plain Python: {one_line(plain.reason, limit=2 * LINE_CHARS_MAX)}"


def replay_json(
    trace: Trace,
    trace_path: str,
    result: Rerun,
    *,
    changed: Sequence[str] = (),
    shrunk: Trace | None = None,
    shrunk_path: str | None = None,
    necessary_faults: Mapping[str, bool] | None = None,
    plain: Reproduction | None = None,
) -> str:
    """Return the outcome of a replay as JSON, ending in a newline."""
    document = {
        **_about(trace, trace_path, result.status.value),
        "error_type": None if result.error is None else type_name(type(result.error)),
        "error_message": None if result.error is None else error_message(result.error)[:MESSAGE_CHARS_MAX],
        "place": None if result.place is None else to_builtins(result.place),
        "misfit_choices": result.misfits,
        "unused_choices": result.unused,
        "changed_step": result.changed or None,
        "changed_modules": list(changed),
        "steps": [step_text(step) for step in result.steps],
        "shrunk_steps": None if shrunk is None else len(shrunk.taken_steps()),
        "shrunk_path": None if shrunk_path is None else PurePath(shrunk_path).as_posix(),
        "plain": None if plain is None else plain.text or None,
        "plain_refused": None if plain is None else plain.reason or None,
        "shrunk_program": None if shrunk is None else runnable_program(shrunk.program, shrunk.test_class),
        "necessary_faults": None if necessary_faults is None else dict(necessary_faults),
    }
    return json.dumps(document, indent=2) + "\n"


def outdated_json(trace: Trace, trace_path: str, reason: str) -> str:
    """Return JSON, ending in a newline, that says that a trace no longer applies, and why."""
    return json.dumps({**_about(trace, trace_path, "no_longer_applies"), "reason": reason}, indent=2) + "\n"


def _about(trace: Trace, trace_path: str, status: str) -> dict[str, object]:
    return {
        "schema_version": JSON_SCHEMA_VERSION,
        "tool": "replay",
        "test_class": trace.test_class,
        "trace_path": PurePath(trace_path).as_posix(),
        "status": status,
        "run_id": trace.run_id,
        "rng_seed": trace.seed,
        "trace_steps": len(trace.taken_steps()),
        "recorded_error": None if trace.failure is None else recorded_error(trace.failure),
    }

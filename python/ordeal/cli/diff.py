"""``ordeal diff``: where two saved runs part, and how they fail then."""

from __future__ import annotations

import json
from pathlib import Path

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, one_line
from ordeal._base.trace_file import Trace, step_text
from ordeal._engine.execution.bucket import ends_process
from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.trace_view.watch import lanes_of
from ordeal._report.formats.document import line
from ordeal._report.pytest_lines import recorded_failure
from ordeal._tools.compare.comparing import Version, VersionDifference, first_difference
from ordeal._tools.compare.seen import SeenRun, SeenStep
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.config.flags import DiffFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.errors import ConfigError

#: How long both runs together may take.
_SECONDS = 60.0


def run(flags: DiffFlags) -> int:
    """Compare, and return 1 if the runs differ."""
    trust_settings(Path(DEFAULT_PATH))
    paths = [failure_path(name) for name in (flags.first, flags.second)]
    first, second = traces = [Trace.load(path) for path in paths]
    if first.test_class != second.test_class:
        raise ConfigError(
            f"the first is a run of `{one_line(first.test_class)}`, and the second of `{one_line(second.test_class)}`",
            hint="name two runs of one class, or of one test",
        )
    if first.is_schedule or any(
        each.failure and ends_process(each.failure.error_type, each.failure.bucket) for each in traces
    ):
        runs = [_recorded(trace) for trace in traces]
    else:
        here = Path.cwd()
        request = {"class": traces[0].test_class, "traces": [trace.to_json().decode() for trace in traces]}
        runs = Version("the files here", here, (here, here / "src")).asked(request, _SECONDS).runs
        for name, each in zip(("first", "second"), runs, strict=True):
            if each.reason:
                raise ConfigError(
                    f"the {name} run cannot be repeated: {each.reason}", hint="run `ordeal replay` to see why"
                )
    # What is decided comes first: what the program makes of it may hold the time, or an address.
    calls = [[("; ".join((step.call, *step.met)), step.name) for step in each.steps] for each in runs]
    decided = [SeenRun(tuple(SeenStep(*call, "") for call in each)) for each in calls]
    parting = first_difference(first.test_class, *decided) or first_difference(first.test_class, *runs)
    step = len(parting.calls) if parting else 0
    common = [each.call for each in runs[0].steps[: step - (parting.kind == "call")]] if parting else []
    errors = [recorded_failure(trace) for trace in traces]
    differ = parting is not None or errors[0] != errors[1]
    if flags.json:
        document = {
            "schema_version": JSON_SCHEMA_VERSION,
            "tool": "diff",
            "test_class": first.test_class,
            "paths": [str(path) for path in paths],
            "errors": errors,
            "step": step,
            "common": common,
            "what": [parting.old, parting.new] if parting else [],
            "tracebacks": [each.traceback for each in runs],
        }
        terminal.write(json.dumps(document, indent=2) + "\n")
        return 1 if differ else 0
    noun = "decision" if first.is_schedule else "step"
    for name, path, each, error in zip("AB", paths, runs, errors, strict=True):
        terminal.write(line(f"{name}: {path}: {counted(len(each.steps), noun)}, {error}") + "\n")
    lines = [*map(line, _parting_lines(parting, common, noun)), *_ending_lines(errors, runs)]
    terminal.write("\n" + "\n".join(lines) + "\n")
    return 1 if differ else 0


def _recorded(trace: Trace) -> SeenRun:
    """Return what a trace says without running it: of a simulated test it has only the decisions."""
    if trace.is_schedule:
        return SeenRun(tuple(SeenStep(f"{each.lane}: {each.text}", each.lane, "") for each in lanes_of(trace)))
    return SeenRun(tuple(SeenStep(step_text(each), each.name, "") for each in trace.taken_steps()))


def _parting_lines(parting: VersionDifference | None, common: list[str], noun: str) -> list[str]:
    if parting is None:
        return [f"Both do the same in each {noun}."]
    number = f"{noun} {len(parting.calls)}"
    until = [f"The same until {number}:", *(f"     {each}" for each in common)] if common else []
    return [*(until or [f"They part in {number}:"]), f"  A: {parting.old}", f"  B: {parting.new}"]


def _ending_lines(errors: list[str], runs: list[SeenRun]) -> list[str]:
    if errors[0] == errors[1]:
        return ["", line(f"Both end with {errors[0]}")]
    lines = []
    for name, error, each in zip("AB", errors, runs, strict=True):
        lines += ["", line(f"{name} ends with {error}"), *(f"  {text}" for text in each.traceback.splitlines())]
    return lines

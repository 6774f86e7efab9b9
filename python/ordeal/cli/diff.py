"""``ordeal diff``: where two saved runs part, and how they fail then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from ordeal._base.formatting import JSON_SCHEMA_VERSION, counted, error_line, one_line
from ordeal._base.trace_file import Trace, step_text
from ordeal._engine.execution.bucket import ends_process
from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.seed_corpus.lookup import find_failure
from ordeal._engine.trace_view.watch import lanes_of
from ordeal._report.formats.document import line
from ordeal._tools.compare.comparing import Version, first_difference
from ordeal._tools.compare.seen import SeenRun, SeenStep
from ordeal.cli import terminal
from ordeal.cli.folders import corpus_folders, traces_folders
from ordeal.config.flags import DiffFlags
from ordeal.config.options import DEFAULT_PATH
from ordeal.errors import ConfigError

#: How long both runs together may take.
_SECONDS = 60.0
_ENDED = "the run has ended"


class _Parting(NamedTuple):
    """The first step that differs, from 1, what the runs have in common until then, and what each does in it."""

    step: int
    common: tuple[str, ...]
    what: tuple[str, str]


def run(flags: DiffFlags) -> int:
    """Compare, and return 1 if the runs differ."""
    trust_settings(Path(DEFAULT_PATH))
    paths = [find_failure(name, traces_folders(), corpus_folders()) for name in (flags.first, flags.second)]
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
        runs = _run_again(traces)
    parting = _parting(first.test_class, *runs)
    errors = [_error(trace) for trace in traces]
    differ = parting is not None or errors[0] != errors[1]
    if flags.json:
        document = {
            "schema_version": JSON_SCHEMA_VERSION,
            "tool": "diff",
            "test_class": first.test_class,
            "paths": [str(path) for path in paths],
            "errors": errors,
            "step": parting.step if parting else 0,
            "common": parting.common if parting else [],
            "what": parting.what if parting else [],
            "tracebacks": [each.traceback for each in runs],
        }
        terminal.write(json.dumps(document, indent=2) + "\n")
        return 1 if differ else 0
    noun = "decision" if first.is_schedule else "step"
    for name, path, each, error in zip("AB", paths, runs, errors, strict=True):
        terminal.write(line(f"{name}: {path}: {counted(len(each.steps), noun)}, {error}") + "\n")
    terminal.write("\n" + _text(parting, errors, runs, noun))
    return 1 if differ else 0


def _error(trace: Trace) -> str:
    failure = trace.failure
    return "no failure" if failure is None else error_line(failure.error_type, failure.error_message)


def _recorded(trace: Trace) -> SeenRun:
    """Return what a trace says without running it: of a simulated test it has only the decisions."""
    if trace.is_schedule:
        return SeenRun(tuple(SeenStep(f"{each.lane}: {each.text}", each.lane, "") for each in lanes_of(trace)))
    return SeenRun(tuple(SeenStep(step_text(each), each.name, "") for each in trace.taken_steps()))


def _run_again(traces: list[Trace]) -> list[SeenRun]:
    here = Path.cwd()
    request = {"class": traces[0].test_class, "traces": [trace.to_json().decode() for trace in traces]}
    runs = Version("the files here", here, (here, here / "src")).asked(request, _SECONDS).runs
    for name, each in zip(("first", "second"), runs, strict=True):
        if each.reason:
            raise ConfigError(f"the {name} run cannot be made again: {each.reason}", hint="see `ordeal replay`")
    return runs


def _parting(test_class: str, first: SeenRun, second: SeenRun) -> _Parting | None:
    """Return where two runs part: by what is decided, else by what the program makes of it."""
    longest = max(len(first.steps), len(second.steps))
    one, other = ([*each.steps, *[None] * (longest - len(each.steps))] for each in (first, second))
    for number, pair in enumerate(zip(one, other, strict=True)):
        said = [_ENDED if each is None else "; ".join((each.call, *each.met)) for each in pair]
        if said[0] != said[1]:
            return _Parting(number + 1, tuple(each.call for each in first.steps[:number]), (said[0], said[1]))
    found = first_difference(test_class, first, second)
    if found is None:
        return None
    return _Parting(len(found.calls), found.calls, (found.old, found.new))


def _text(parting: _Parting | None, errors: list[str], runs: list[SeenRun], noun: str) -> str:
    if parting is None:
        lines = [f"Both do the same in each {noun}."]
    else:
        common = [f"The same until {noun} {parting.step}:", *(f"     {each}" for each in parting.common)]
        lines = common if parting.common else [f"They part in {noun} {parting.step}:"]
        lines += [f"  {name}: {each}" for name, each in zip("AB", parting.what, strict=True)]
    lines = [line(each) for each in lines]
    if errors[0] == errors[1]:
        return "\n".join([*lines, "", f"Both end with {line(errors[0])}", ""])
    for name, error, each in zip("AB", errors, runs, strict=True):
        lines += ["", line(f"{name} ends with {error}"), *(f"  {text}" for text in each.traceback.splitlines())]
    return "\n".join([*lines, ""])

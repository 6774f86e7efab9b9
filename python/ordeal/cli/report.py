"""``ordeal report``: the report of an earlier run in another format, values of it, or a comparison with a later one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.runs.folder import RESULT, RUNS_PATH, find_run, run_folders
from ordeal._report.comparing import compare, comparison_text, read_document
from ordeal._report.formats import write_report
from ordeal._report.query import query
from ordeal.cli import terminal
from ordeal.cli.own_files import write_placed
from ordeal.config.flags import ReportFlags
from ordeal.config.options import DEFAULT_PATH, FORMATS, ReportConfig
from ordeal.errors import FOUND, ConfigError

_PAGE = "html"


def run(flags: ReportFlags) -> int:
    """Write or compare reports. Return the exit code: 1 where the later report has a new finding."""
    what, names = flags.what, flags.runs
    if what == "diff":
        if len(names) != 2:
            hint = "name the earlier run or report, then the later one"
            raise ConfigError(f"`ordeal report diff` takes two runs, got {len(names)}", hint=hint)
        found = compare(*(_document(name)[1] for name in names))
        if flags.json:
            terminal.write(json.dumps(dataclasses.asdict(found), indent=2) + "\n")
        else:
            terminal.write(comparison_text(found))
        return FOUND if found.new else 0
    if what == "query":
        if not names or len(names) > 2:
            hint = "for example `ordeal report query '.results[].failures[].id'`"
            raise ConfigError(f"`ordeal report query` takes a path and a run, got {len(names)} words", hint=hint)
        for value in query(_document(names[1] if len(names) == 2 else None)[1], names[0]):
            terminal.write(f"{json.dumps(value)}\n")
        return 0
    if what not in FORMATS:
        raise ConfigError(f"`{what}` is neither `diff`, `query` nor a format", hint=f"formats: {', '.join(FORMATS)}")
    if len(names) > 1:
        raise ConfigError(f"`ordeal report {what}` takes one run, got {len(names)}", hint="name one run or JSON report")
    trust_settings(Path(DEFAULT_PATH))  # a page replays the failures to record their steps
    folder, document = _document(names[0] if names else None)
    # The page of a run lies next to its events, and goes with them when the run is too old to be kept.
    default = folder if folder is not None and what == _PAGE else Path(ReportConfig().report_dir)
    target = Path(flags.folder) if flags.folder is not None else default
    try:
        path = write_placed(
            "-o", target, flags.on_exists, lambda place: write_report(what, document, place, run=folder)
        )
    except OSError as error:
        message = f"cannot write the report into `{target}`: {error.strerror or error}"
        raise ConfigError(message, hint="name another `--report-dir`") from None
    terminal.write(f"{path}\n")
    return 0


def _document(name: str | None) -> tuple[Path | None, dict[str, Any]]:
    """Return the folder of a run, None for a file, and the report in it.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    if name is not None and (name.endswith(".json") or Path(name).is_file()):
        return None, read_document(Path(name))
    folder = find_run(name, Path(RUNS_PATH))
    if name is None:
        # One that goes on, was killed, or could not explore: the latest that finished says more.
        for each in reversed(run_folders(Path(RUNS_PATH))):
            if (each / RESULT).exists() and (document := read_document(each / RESULT))["results"]:
                return each, document
    result = folder / RESULT
    if not result.exists():
        raise ConfigError(
            f"the run in `{folder}` has no result",
            hint="`ordeal dashboard` shows what it had found, and whether it goes on",
        )
    return folder, read_document(result)

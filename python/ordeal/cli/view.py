"""``ordeal view``: makes the page of a saved failure, step by step and why, and opens it in a browser."""

from __future__ import annotations

from pathlib import Path

from ordeal._base.trace_file import Trace, write_atomically
from ordeal._engine.execution.class_path import trust_settings
from ordeal._engine.trace_view.recording import record_view
from ordeal._report.html.page import render_trace
from ordeal.cli import terminal
from ordeal.cli.folders import failure_path
from ordeal.cli.own_files import is_report, place_for
from ordeal.cli.terminal import open_page
from ordeal.config.flags import ViewFlags
from ordeal.config.options import DEFAULT_PATH, ReportConfig
from ordeal.errors import ConfigError
from ordeal.result.failure import failure_id


def run(flags: ViewFlags) -> int:
    """Write the page, print its path, and open it if there is a screen. Return the exit code."""
    trust_settings(Path(DEFAULT_PATH))
    path = failure_path(flags.trace)
    trace = Trace.load(path)
    if trace.failure is None:
        raise ConfigError(f"the trace {path} does not fail", hint="name a failure: `ordeal replay` runs any trace")
    name = f"failure-{failure_id(trace.failure.bucket)}.html"
    target = Path(flags.output) if flags.output is not None else Path(ReportConfig().report_dir, name)
    target = place_for("-o", target, is_report, flags.on_exists)
    terminal.say("Recording each step, and why it fails...")
    page = render_trace(trace, record_view(trace), path.as_posix())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        message = f"cannot write the page to `{target}`: {error.strerror or error}"
        raise ConfigError(message, hint="name another `--output`") from None
    terminal.write(f"{target}\n")
    if not flags.no_browser:
        open_page(target)
    return 0

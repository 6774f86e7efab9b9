"""The report as a page: writes it, with what a replay of each failure shows step by step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal._base.limits import LISTED_MAX
from ordeal._base.trace_file import Trace, write_atomically
from ordeal._engine.runs.events import SessionBegun
from ordeal._engine.runs.folder import RUNS_PATH, read_events, run_folders
from ordeal._engine.trace_view.recording import record_view
from ordeal._engine.trace_view.view import TraceView
from ordeal._report.html.page import render_page
from ordeal._tools.mutation.saved import load
from ordeal._tools.risk import risks
from ordeal.errors import OrdealError

FILE = "report.html"


def write(document: Mapping[str, Any], folder: Path, run: Path | None = None) -> Path:
    """Write the page of a report into ``folder`` and return its path.

    ``run`` is the folder of its run, whose events show the coverage over time; without it, the latest run counts if it
    is one of the same classes.

    Raises:
        OSError: it cannot be written.
    """
    run = run or _run_of(document)
    page = render_page(
        document,
        views=record_views(document),
        events=[] if run is None else read_events(run),
        risks=risks(document["results"], load(Path()), Path()),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    write_atomically(path, page.encode("utf-8", "backslashreplace"))
    return path


def record_views(document: Mapping[str, Any]) -> dict[str, TraceView]:
    """Return the recordings of the first failures, by their ids."""
    views: dict[str, TraceView] = {}
    for result in document["results"]:
        for failure in result["failures"]:
            path = failure.get("trace_path") or failure.get("seed_path")
            if path is None or failure["id"] in views or len(views) >= LISTED_MAX:
                continue
            try:
                views[failure["id"]] = record_view(Trace.load(path), likelihood=len(views) < LISTED_MAX // 2)
            except OrdealError as error:
                views[failure["id"]] = TraceView(reason=error.message)
    return views


def _run_of(document: Mapping[str, Any]) -> Path | None:
    latest = run_folders(Path(RUNS_PATH))[-1:]
    if not latest:
        return None
    session = next(iter(read_events(latest[0])), None)
    explored = [result["test_class"] for result in document["results"]]
    if isinstance(session, SessionBegun) and set(explored) <= set(session.classes):
        return latest[0]
    return None

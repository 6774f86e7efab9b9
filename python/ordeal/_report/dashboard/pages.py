"""What the pages of the dashboard show, from the files of the runs: statuses, events and results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted, percent, short_names
from ordeal._base.limits import LINES_MAX, PART_BYTES, ROWS_MAX
from ordeal._engine.runs.events import (
    Finished,
    Found,
    Progress,
    RunStatus,
    SessionBegun,
    Shrunk,
)
from ordeal._engine.runs.folder import goes_on, read_events, read_result, read_status, run_folders
from ordeal._report.html.chart import coverage_chart
from ordeal._report.html.page import ClassView, class_views, command_of, figures_of


def state_of(status: RunStatus | None) -> str:
    """Return what a run does now. One whose process is gone was killed, even if its status says otherwise."""
    if status is None:
        return "unreadable"
    return status.state if status.state != "running" or goes_on(status) else "killed"


def list_values(runs: Path) -> dict[str, Any]:
    """Return what the list of runs shows, the newest first."""
    rows: list[dict[str, Any]] = []
    for folder in reversed(run_folders(runs)[-ROWS_MAX:]):
        status = read_status(folder)
        begin = read_events(folder, PART_BYTES)  # of all runs, and again while the page is open
        session = next((each for each in begin if isinstance(each, SessionBegun)), None)
        command = command_of(session.options) if session else ""
        rows.append({"id": folder.name, "state": state_of(status), "status": status, "command": command})
    found = [row["status"].findings_total if row["status"] else 0 for row in reversed(rows)][-LINES_MAX:]
    return {"title": f"{counted(len(rows), 'run')} - ordeal", "rows": rows, "trend": found, "most": max([1, *found])}


def ago(started: str) -> str:
    """Return how long ago a time in ISO 8601 was, in the largest unit that makes at least one."""
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):
        return ""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def run_values(folder: Path) -> dict[str, Any]:
    """Return what the page of a run shows."""
    status = read_status(folder)
    events = list(read_events(folder))
    session = next((each for each in events if isinstance(each, SessionBegun)), None)
    state = state_of(status)
    if status is None and events:
        state = "finished" if isinstance(events[-1], Finished) else "killed"
    views = class_views(events)
    findings = sum(len(view.found) for view in views)
    document = read_result(folder)
    results = {each["test_class"]: each for each in document["results"]} if document else {}
    elapsed = max([each.elapsed for each in events[-1:]] + ([status.elapsed] if status else [0.0]))
    facts = [f"{elapsed:.1f} s"]
    if session is not None:
        facts.insert(0, session.started.replace("T", " ").replace("+00:00", " UTC"))
        facts += [f"ordeal {session.version}"]
        facts += [f"random seed {session.options['seed']}"] if "seed" in session.options else []
    workers = [] if status is None else status.workers[:ROWS_MAX]
    rows = [
        {"number": number, "runs": f"{each.runs:,}", "steps": f"{each.steps:,}", "ended": each.ended}
        for number, each in enumerate(workers, start=1)
    ]
    return {
        "title": f"{counted(findings, 'finding')}, {state} - ordeal",
        "id": folder.name,
        "state": state,
        "findings": findings,
        "facts": facts,
        "workers": rows if len(rows) > 1 or any(each.ended for each in workers) else [],
        "classes": [_class_values(view, results.get(view.name)) for view in views],
        "command": command_of(session.options) if session else "",
        "has_result": document is not None,
    }


def _class_values(view: ClassView, result: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is shown of a class: once it has a ``result``, the figures of the report."""
    figures = figures_of(result) if result else [] if view.progress is None else _figures(view.progress)
    return {
        "name": view.name,
        "figures": figures,
        "stopped": view.done.stopped_reason if view.done else "",
        "found": [_found_values(each) for each in list(view.found.values())[:ROWS_MAX]],
        "found_more": max(0, len(view.found) - ROWS_MAX),
        "chart": coverage_chart(view.points, view.marks),
        "seeds": view.seeds[:ROWS_MAX],
        "notes": view.notes[:ROWS_MAX],
    }


def _figures(progress: Progress) -> list[dict[str, str]]:
    rows = [
        (progress.runs, "runs"),
        (progress.steps, "steps"),
        (progress.edges, "edges"),
        (progress.checkpoints, "checkpoints"),
        (round(progress.runs_per_second), "runs/s"),
    ]
    figures = [{"value": f"{value:,}", "what": what} for value, what in rows if value]
    if progress.next_run_max is not None:
        figures.append({"value": f"\u2264 {percent(progress.next_run_max)}", "what": "that a run shows a new edge"})
    return figures


def _found_values(found: Found | Shrunk) -> dict[str, Any]:
    if isinstance(found, Found):
        shown = {"where": "", "faults": "", "count": "", "note": "not shrunk yet"}
    else:
        faults = ", ".join(short_names(found.faults)) or "none"
        shown = {"where": found.place, "faults": faults, "count": f"{found.count:,}", "note": "flaky" * found.flaky}
    return {"id": found.id, "error": found.error, "steps": found.steps, **shown}

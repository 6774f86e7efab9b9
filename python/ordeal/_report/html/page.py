"""The page of a report: from the report as data, what was recorded of its traces, and the events of its run."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import to_builtins

from ordeal._base.formatting import counted, one_line, printable, runnable_program
from ordeal._base.limits import ITEMS_MAX, LISTED_MAX, ROWS_MAX
from ordeal._base.trace_file import Trace
from ordeal._engine.runs.events import (
    ClassDone,
    ClassStarted,
    Event,
    Found,
    Health,
    NewEdges,
    Progress,
    SeedReplayed,
    SessionBegun,
    Shrunk,
)
from ordeal._engine.trace_view.view import TraceView
from ordeal._report.exploration import option_text
from ordeal._report.html.chart import Mark, Point, coverage_chart, rule_heat
from ordeal._report.html.finding import finding_values, rows_of
from ordeal._tools.risk import FunctionRisk
from ordeal.config.options import DEFAULT_PATH, ExplorationOptions
from ordeal.errors import ConfigError
from ordeal.result.exploration import run_kind_lines
from ordeal.result.failure import failure_id
from ordeal.result.parts import broken_invariant

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT = TEMPLATES / "script.js"
#: The addresses with which editors open a file.
_EDITORS = {
    "vscode": "vscode://file{file}:{line}",
    "zed": "zed://file{file}:{line}",
    "pycharm": "pycharm://open?file={file}&line={line}",
}
#: Explains the words of the pages that do not explain themselves.
_MEANINGS = {
    "edges": "jumps from one line or branch to the next that some run took",
    "lines": "of the target modules",
    "checkpoints": "states in a run from which other runs may continue",
    "Checkpoints kept": "states in a run from which other runs may continue",
    "Swarm laws": "how runs chose the rules and faults that they leave out",
    "new": "no saved failure (seed) is like it",
    "known": "a saved failure (seed), found again",
    "flaky": "replayed, it does not fail in the same way each time",
}
#: More marks than this hide the curve.
MARKS_MAX = 30
#: Properties that failed come first, then those that nothing reached.
_PROPERTY_ORDER = ("FAIL", "NOT EXERCISED", "PASS")
_STATUS_KINDS = {"PASS": "", "FAIL": "bad", "NOT EXERCISED": "none"}


def render_page(
    document: Mapping[str, Any],
    *,
    views: Mapping[str, TraceView] | None = None,
    events: Iterable[Event] = (),
    risks: Sequence[FunctionRisk] = (),
) -> str:
    """Return the page of a report. ``views`` are the recorded traces by the ids of their failures."""
    markup = importlib.import_module("markupsafe").Markup
    values = {**page_values(document, views or {}, list(events)), "risks": risks[:ROWS_MAX]}
    for shown in values["classes"]:
        shown["chart"] = markup(shown["chart"])
    return render("page.html", values)


def templates(*folders: Path) -> Any:
    """Return the templates in these folders and of reports. All texts that they are given stay texts."""
    jinja = importlib.import_module("jinja2")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja.StrictUndefined,
    )
    markup = importlib.import_module("markupsafe").Markup
    environment.globals["meanings"] = _MEANINGS
    environment.globals["style"] = markup((TEMPLATES / "style.css").read_text("utf-8"))
    environment.globals["script"] = markup(SCRIPT.read_text("utf-8").strip())
    environment.globals["script_hash"] = script_hash()
    wanted = os.environ.get("ORDEAL_EDITOR", "")
    address = _EDITORS.get(wanted, wanted)
    if address and not re.match(r"[a-z][a-z0-9+.-]+://[^{]*\{file\}", address):
        hint = f"write {', '.join(_EDITORS)}, or an address such as `vscode://file{{file}}:{{line}}`"
        raise ConfigError(f"ORDEAL_EDITOR is `{one_line(wanted)}`, which names no editor", hint=hint)
    environment.filters["spot"] = partial(_spot, editor=address)
    return environment


def script_hash() -> str:
    """Return what a content security policy has for the script of a page: no other script runs on it."""
    digest = hashlib.sha256(SCRIPT.read_text("utf-8").strip().encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _spot(place: str, editor: str) -> Any:
    """Return ``file:line`` as HTML, with a link that opens it where an editor is chosen."""
    markup = importlib.import_module("markupsafe").Markup
    file, _, line = place.rpartition(":")
    if not editor:
        return markup("<code>{}</code>").format(place)
    address = editor.replace("{file}", quote(str(Path(file).absolute()))).replace("{line}", quote(line))
    return markup('<a href="{}"><code>{}</code></a>').format(address, place)


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return the page that a template makes of values."""
    page: str = templates().get_template(template).render(values)
    return printable(page.strip()) + "\n"


def page_values(document: Mapping[str, Any], views: Mapping[str, TraceView], events: Sequence[Event]) -> dict[str, Any]:
    """Return what the template shows."""
    results = document["results"]
    session = next((event for event in events if isinstance(event, SessionBegun)), None)
    classes = [_class_values(result, views, events, number) for number, result in enumerate(results)]
    findings = sum(len(result["failures"]) for result in results)
    new = sum(each["badge"] == "new" for shown in classes for each in shown["findings"])
    names = ", ".join(result["test_class"].rpartition(":")[2] for result in results)
    verdict = f"{counted(findings, 'finding')} in {names}" if findings else f"No findings in {names}"
    options, runs = document.get("options") or {}, sum(result["total_runs"] for result in results)
    rows = [("ordeal", session.version), ("Run", session.run_id), ("Began", session.started)] if session else []
    rows += [
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("Hypothesis", metadata.version("hypothesis")),
        ("System", f"{platform.platform(terse=True)}, {platform.machine()}"),
        ("Processors", str(os.cpu_count() or 1)),
    ]
    return {
        "title": f"{verdict} - ordeal",
        "verdict": verdict,
        "version": session.version if session else "",
        "facts": [
            *([f"{new} new"] if 0 < new < findings else []),
            *([session.started.replace("T", " ").replace("+00:00", " UTC")] if session else []),
            f"{runs:,} run{'' if runs == 1 else 's'}",
            f"{sum(result['timing']['duration_seconds'] for result in results):.1f} s",
            *([f"random seed {options['seed']}"] if "seed" in options else []),
        ],
        "command": command_of(options),
        "classes": classes,
        "environment": [{"what": what, "value": value} for what, value in rows],
        "options": [{"what": name, "value": option_text(value)} for name, value in options.items()],
    }


def command_of(options: Mapping[str, Any]) -> str:
    """Return the command that a run was started with: the options that decide which runs it makes, and for how long."""
    usual, config = ExplorationOptions(), options.get("config")
    lists = {name: options.get(name) for name in ("classes", "target_modules")}
    named, targets = ([*map(str, each)] if isinstance(each, list | tuple) else [] for each in lists.values())
    # Without a class on the command line the settings file names both.
    flags = [*named, *(f"-t {each}" for each in targets if named)]
    flags += [] if config in (None, DEFAULT_PATH) else [f"-c {config}"]
    flags += [
        f"--{name.replace('_', '-')} {str(options[name]).removesuffix('.0')}"
        for name in ("seed", "max_time", "max_runs", "workers")
        if options.get(name, getattr(usual, name)) != getattr(usual, name)
    ]
    return " ".join(["ordeal explore", *flags]) if options else ""


@dataclass(slots=True)
class ClassView:
    """What the events say about the search of a class."""

    name: str
    began: float
    points: list[Point] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    progress: Progress | None = None
    found: dict[str, Found | Shrunk] = field(default_factory=dict)
    seeds: list[SeedReplayed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    done: ClassDone | None = None


def class_views(events: Iterable[Event]) -> list[ClassView]:
    """Return what the events of a run say about each of its classes."""
    views: list[ClassView] = []
    for event in events:
        if isinstance(event, ClassStarted):
            views.append(ClassView(event.test_class, event.elapsed))
        elif views:
            view = views[-1]
            seconds = event.elapsed - view.began
            if isinstance(event, NewEdges | Progress) and event.edges:
                view.points.append(Point(seconds, event.runs, event.edges))
            if isinstance(event, Progress):
                view.progress = event
            elif isinstance(event, Found):
                view.found[event.id] = event
                if len(view.marks) < MARKS_MAX:
                    view.marks.append(Mark(seconds, event.error))
            elif isinstance(event, Shrunk):
                # Shrinking may have joined some of what was found: what is shrunk is all that is reported.
                if not any(isinstance(each, Shrunk) for each in view.found.values()):
                    view.found.clear()
                view.found[event.id] = event
            elif isinstance(event, SeedReplayed):
                view.seeds.append(event)
            elif isinstance(event, Health):
                view.notes.append(event.message)
            elif isinstance(event, ClassDone):
                view.done = event
    return views


# -- a class ----------------------------------------------------------------------------------------------------------


def _class_values(
    result: Mapping[str, Any], views: Mapping[str, TraceView], events: Sequence[Event], number: int
) -> dict[str, Any]:
    replayed = frozenset(str(seed["path"]) for seed in result["seed_replays"])
    failures = result["failures"]
    shown = failures[:ITEMS_MAX]
    searched = [view for view in class_views(events) if view.name == result["test_class"]][-1:]
    points, marks = (searched[0].points, searched[0].marks) if searched else ([], [])
    gaps, missed_lines = (result["telemetry"]["behavior"][name] for name in ("coverage_gaps", "missed_lines"))
    missed = [f"{file}: {', '.join(map(str, lines[:ROWS_MAX]))}" for file, lines in missed_lines.items()]
    left = sum(map(len, missed_lines.values()))
    remarks = []
    if result["inconclusive"] is not None:
        remarks.append(f"Inconclusive: {result['inconclusive']['reason']}")
    if result["target_modules"] is not None and not result["target_modules"]:
        names = ", ".join(f'"{name}"' for name in result["imported_modules"][:10])
        add = f" Add target_modules = [{names}] to steer the search." if names else ""
        remarks.append(f"Coverage was off, so the search was blind.{add}")
    return {
        "name": result["test_class"],
        "is_first": not number,
        "figures": figures_of(result),
        "remarks": [*remarks, *map(str, result["notes"][:LISTED_MAX])],
        "no_findings": "No failures were found.",
        "findings": [finding_values(failure, views.get(failure["id"]), replayed=replayed) for failure in shown],
        "more": rows_of(failures[ITEMS_MAX:]),
        "more_title": f"{len(failures) - ITEMS_MAX:,} more findings; `ordeal replay ID` shows one",
        "known": [
            {
                "id": row["id"],
                "error": f"{row['error_type']}: {row['error_message']}",
                "count": row["count"],
                "entry": row["entry"],
            }
            for row in result["known"][:ROWS_MAX]
        ],
        "chart": coverage_chart(points, marks),
        "chart_says": _chart_text(points, marks),
        "gaps": [{"place": f"{row['file']}:{row['line']}", "code": row["code"]} for row in gaps[:ROWS_MAX]],
        "missed": missed[:ROWS_MAX],
        "gaps_title": f"Not reached: {counted(left, 'line')}, {counted(len(gaps), 'branch', 'branches')}",
        "properties": [
            {**row, "status": status, "kind": _STATUS_KINDS[status], "first": _first_text(row.get("first_run"), points)}
            for row in sorted(result["properties"], key=lambda row: _PROPERTY_ORDER.index(_status_of(row)))[:ROWS_MAX]
            for status in [_status_of(row)]
        ],
        "rules": rule_heat(result.get("rules", [])),
        "faults": result["faults"][:ROWS_MAX],
        "seeds": result["seed_replays"][:ROWS_MAX],
        "search": _search(result),
    }


def figures_of(result: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what a class came to, for the report and the dashboard."""
    behavior = result["telemetry"]["behavior"]
    rows = [(f"{result['total_runs']:,}", "runs"), (f"{result['total_steps']:,}", "steps")]
    if result["target_modules"]:
        rows.append((f"{result['unique_edges']:,}", "edges"))
    if behavior["lines_total"]:
        rows.append((f"{behavior['lines_covered']:,} of {behavior['lines_total']:,}", "lines"))
    return [{"value": value, "what": what} for value, what in rows]


def _chart_text(points: Sequence[Point], marks: Sequence[Mark]) -> str:
    """Return in words what the chart shows, for those who do not see it."""
    if not points:
        return ""
    last = points[-1]
    half = next((point for point in points if 2 * point.edges >= last.edges), last)
    newest = next((point for point in points if point.edges == last.edges), last)
    text = (
        f"{counted(last.edges, 'edge')} after {last.runs:,} runs; half of them after {half.seconds:.2g} s, "
        f"the last after {newest.seconds:.2g} s."
    )
    return (
        f"{text} {counted(len(marks), 'failure')} found, the first after {marks[0].seconds:.2g} s." if marks else text
    )


def _first_text(run: int | None, points: Sequence[Point]) -> str:
    if run is None:
        return ""
    after = next((point for point in points if point.runs >= run), None)
    return f"run {run:,}" if after is None else f"run {run:,}, within {after.seconds:.2g} s"


def _status_of(row: Mapping[str, Any]) -> str:
    return str(row["evidence_status"])


def _search(result: Mapping[str, Any]) -> list[dict[str, str]]:
    discovery = result["discovery"]
    rows: list[tuple[str, object]] = [
        ("Random seed", result["rng_seed"]),
        ("Stopped because of", result["stopped_reason"]),
        ("Runs per second", result["timing"]["runs_per_second"]),
        ("Checkpoints kept", result["checkpoints"]),
        ("Runs rejected by assume()", result["rejected_runs"]),
        ("Failures that did not fail again", result["unconfirmed"]),
        ("Target modules", ", ".join(result["target_modules"] or ()) or "none"),
    ]
    if discovery is not None:
        rows.append(
            ("The next run shows something new", f"with a probability of at most {discovery['next_run_max']:.2g}")
        )
        rows.append(("Still to be found, at least", max(0, discovery["unseen"])))
    for line in run_kind_lines(result["telemetry"]["runs"]):
        what, _, shares = line.partition(": ")
        rows.append((what, shares))
    return [{"what": what, "value": str(value)} for what, value in rows]


def render_trace(trace: Trace, view: TraceView, path: str) -> str:
    """Return the page of a trace that fails; ``path`` is where it is saved."""
    assert trace.failure is not None
    bucket = trace.failure.bucket
    failure = finding_values(
        {
            "id": failure_id(bucket),
            "error_type": trace.failure.error_type,
            "error_message": trace.failure.error_message,
            "run_id": trace.run_id,
            "bucket": bucket,
            "place": to_builtins(view.place),
            "broken_by": [view.steps[-1].name] if view.steps and broken_invariant(view.place) else [],
            "count": 0,
            "flaky": False,
            "shrunk": True,
            "active_faults": view.steps[-1].faults_on if view.steps else [],
            "necessary_faults": None,
            "trace_steps": len(trace.taken_steps()),
            "trace_path": path,
            "seed_path": path,
            "program": runnable_program(trace.program, trace.test_class),
        },
        view,
        replayed=frozenset([path]),
    )
    facts = [f"random seed {trace.seed}", *(f"{name} {version}" for name, version in trace.versions.items())]
    title = f"{failure['error']} - ordeal"
    return render("trace.html", {"title": title, "finding": failure, "facts": facts, "test_class": trace.test_class})

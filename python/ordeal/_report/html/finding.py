"""What the page shows of one failure: from its entry in the report and the recording of its trace."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ordeal._base.formatting import counted, percent, short_names
from ordeal._base.limits import LINES_MAX, LISTED_MAX, TEXT_CHARS_MAX
from ordeal._engine.trace_view.view import LaneEvent, PartChange, SourceView, StepView, TraceView
from ordeal._report.formats.document import headline
from ordeal.result.failure import replay_command
from ordeal.result.parts import asserted_label


@cache
def _parts() -> tuple[Any, Any, Any]:
    pygments = importlib.import_module("pygments")
    lexer = importlib.import_module("pygments.lexers.python").PythonLexer(stripnl=False, ensurenl=False)
    formatter = importlib.import_module("pygments.formatters.html").HtmlFormatter(nowrap=True)
    return pygments.highlight, lexer, formatter


def highlighted(text: str, *, first: int = 0, mark: int = 0) -> Any:
    """Return Python source as safe HTML: with line numbers from ``first``, and the line ``mark`` marked, if given."""
    markup = importlib.import_module("markupsafe").Markup
    if len(text) > TEXT_CHARS_MAX:
        html = str(importlib.import_module("markupsafe").escape(text))
    else:
        highlight, lexer, formatter = _parts()
        html = highlight(text, lexer, formatter)
    if not first:
        return markup(html)
    lines = html.rstrip("\n").split("\n")
    width = len(str(first + len(lines)))
    numbered = []
    for number, line in enumerate(lines, start=first):
        row = f'<span class="c1">{number:>{width}}</span>  {line}'
        numbered.append(f'<span class="hit">{row}</span>' if number == mark else row)
    return markup("\n".join(numbered))


#: Characters that a trace may take on the page before its steps are shortened.
BUDGET_CHARS = 400_000

Row = Mapping[str, Any]


def finding_values(failure: Row, view: TraceView | None, *, number: int, replayed: frozenset[str]) -> dict[str, Any]:
    """Return the values of the template for a failure; ``replayed`` are the paths of seeds known before this run."""
    view = view or TraceView(reason="it was not recorded")
    asserted = (failure.get("place") or {}).get("asserted", ())
    first, _, rest = (str(failure["error_message"]).strip() or "".join(asserted[:1])).partition("\n")
    title = f"{failure['error_type']}: {first}" if first else str(failure["error_type"])
    known, path = failure.get("seed_path") in replayed, failure.get("trace_path") or failure.get("seed_path")
    decided = [_name_after(view, step) for step in view.decided_at if step <= len(view.steps)]
    badge = ("flaky", "flaky") if failure["flaky"] else ("known", "known") if known else ("new", "new")
    return {
        "anchor": number,
        "id": failure["id"],
        "badge": badge[0],
        "badge_kind": badge[1],
        "error": cut(title, 200),
        "message": f"{title}\n{rest}" if rest or len(title) > 200 else "",
        "facts": _facts(failure, view),
        "where": _where(failure.get("place")),
        "asserted": "\n".join(asserted),
        "asserted_label": asserted_label(asserted),
        "broken_by": ", ".join(failure.get("broken_by") or ()),
        "faults": "" if view.lanes and not failure.get("active_faults") else faults_text(failure),
        "decided": f"by step {', then step '.join(decided)}" if decided else "",
        "flaky": failure.get("flaky_reason") or "",
        "command": "" if path is None else replay_command(failure["id"] if failure.get("bucket") else path),
        "places": [source_values(each) for each in view.sources if each.failed],
        "sources": [source_values(each) for each in view.sources if not each.failed],
        "program": highlighted(str(failure.get("program") or "")),
        "traceback": view.traceback,
        "origin": _origin(failure),
        "no_steps": f"Not shown step by step: {view.reason}." if not (view.steps or view.lanes) else "",
        "variations": [
            {"step": f"step {each.step}", "argument": each.argument, "said": each.said} for each in view.variations
        ],
        "world": lane_table(view.lanes),
        **_chances(view),
        **_steps(view),
    }


def _facts(failure: Row, view: TraceView) -> list[str]:
    steps = failure.get("trace_steps")
    needed = [name for name, is_needed in (failure.get("necessary_faults") or {}).items() if is_needed]
    is_schedule = bool(view.lanes) and not view.steps
    facts = [] if steps is None or is_schedule else [counted(steps, "step")]
    if needed or not view.lanes:
        facts.append(counted(len(needed), "fault") if needed else "no faults")
    if view.lanes:
        facts.append(f"{counted(len(view.lanes), 'decision')} of the world")
    # A saved failure that was replayed, and not met again.
    met = [counted(failure["count"], "run")] if failure["count"] else []
    return [*facts, *met, *([] if failure["shrunk"] else ["not shrunk"])]


def _where(place: Row | None) -> list[dict[str, str]]:
    if not place:
        return []
    rows = [("At", place["at"], place["kind"])]
    if place.get("raised_at"):
        rows.append(("Raised at", place["raised_at"], ""))
    return [
        {"what": what, "value": f"{at['file']}:{at['line']} in {at['function']}{f' ({kind})' if kind else ''}"}
        for what, at, kind in rows
    ]


def where_text(place: Row | None) -> str:
    """Return file and line of a place, or nothing."""
    return f"{place['at']['file']}:{place['at']['line']}" if place else ""


def faults_text(failure: Row) -> str:
    """Return which faults a failure needs, and which others were on."""
    needed = failure.get("necessary_faults")
    active = list(failure.get("active_faults") or ())
    if needed is None:
        return f"on: {', '.join(active)}" if active else "none"
    kept = [name for name, is_needed in needed.items() if is_needed]
    others = [name for name in active if name not in kept]
    parts = [f"needed: {', '.join(kept)}"] if kept else ["none needed"]
    return "; ".join([*parts, *([f"on, not needed: {', '.join(others)}"] if others else [])])


def _origin(failure: Row) -> list[dict[str, str]]:
    rows = [
        ("Found in", f"run {failure['run_id']}" if failure["run_id"] else "the replay of a seed"),
        ("Seen in", counted(failure["count"], "run") if failure["count"] else ""),
        ("Id", failure["id"]),
        ("Bucket", failure["bucket"]),
        ("Trace", failure.get("trace_path")),
        ("Seed", failure.get("seed_path") if failure.get("seed_path") != failure.get("trace_path") else ""),
    ]
    return [{"what": what, "value": str(value)} for what, value in rows if value]


# -- why --------------------------------------------------------------------------------------------------------------


def _name_after(view: TraceView, steps: int) -> str:
    return f"{steps}, {call_text(view.steps[steps - 1], limit=80)}"


def _chances(view: TraceView) -> dict[str, Any]:
    if not view.chances:
        return {"chances": [], "chances_say": ""}
    rows = []
    for chance in view.chances:
        steps = chance.steps
        name = f"step {_name_after(view, steps)}" if 0 < steps <= len(view.steps) else f"{steps or 'no'} steps"
        share = chance.failed / chance.runs
        decided = steps in view.decided_at
        rows.append({"name": name, "share": share, "percent": percent(share), "decided": decided})
    runs = max(chance.runs for chance in view.chances)
    says = (
        f"Share of {runs} runs that take the first steps of this trace, then random ones, and fail in the same "
        "way. Where the share jumps, the failure was decided."
    )
    return {"chances": rows, "chances_say": says}


def lane_table(events: Sequence[LaneEvent]) -> dict[str, Any]:
    """Return a column for each lane and a row for each event, in order; empty without events.

    What leads from one lane to another is an arrow from the event to the column of the other. Of many lanes, those with
    the first events have columns.
    """
    names = list(dict.fromkeys(name for event in events for name in (event.lane, event.to) if name))[:LISTED_MAX]
    shown = [event for event in events if event.lane in names]
    rows = [_lane_row(event, names) for event in shown]
    of_steps = any(event.step for event in shown)
    numbers = [event.step if of_steps else number for number, event in enumerate(shown, 1)]
    return {"names": names, "rows": rows, "numbers": numbers, "number": "Step" if of_steps else "Order"} if rows else {}


def _lane_row(event: LaneEvent, names: Sequence[str]) -> list[dict[str, str]]:
    begins = names.index(event.lane)
    ends = names.index(event.to) if event.to in names else begins
    first, last = min(begins, ends), max(begins, ends)
    row = [{"text": "", "kind": "through" if first < at < last else ""} for at in range(len(names))]
    text = f"{event.text} \u2192 {event.to}" if event.to else event.text
    direction = "" if begins == ends else "right" if ends > begins else "left"
    row[begins] = {"text": text, "kind": f"happened {direction}".strip()}
    if direction:
        row[ends] = {"text": "\u25b6" if direction == "right" else "\u25c0", "kind": f"arrived {direction}"}
    return row


# -- steps ------------------------------------------------------------------------------------------------------------


def _steps(view: TraceView) -> dict[str, Any]:
    lanes = list(dict.fromkeys(name for step in view.steps for name in step.faults_on))
    shown = dict(zip(lanes, short_names(lanes), strict=True))
    states = view.states() if len(view.steps) <= LINES_MAX else []
    left = BUDGET_CHARS
    steps = []
    for number, step in enumerate(view.steps):
        values = _step(step, shown, states[number] if states and left > 0 else {}, number + 1 in view.decided_at)
        if len(view.steps) > LINES_MAX:
            values["marks"] = _few(values["marks"])
            values["new_lines"] = values["new_lines"][:3]
            values["changes"] = values["changes"][:10]
        left -= sum(len(row["path"]) + len(row["text"]) + 60 for row in values["state"])
        steps.append(values)
    start = [{"path": path, "text": text} for path, text in list(view.start.items())[:LINES_MAX]]
    return {
        "steps": steps,
        "is_long": len(view.steps) > LINES_MAX,
        "lanes": list(shown.values()),
        "start": start if steps else [],
    }


def _step(step: StepView, lanes: Mapping[str, str], state: Mapping[str, str], decided: bool) -> dict[str, Any]:
    changed = {change.path for change in step.changes}
    changes = shown_changes(step.changes)
    new_lines = counted(len(step.new_lines) + step.new_lines_more, "line")
    # What changed comes first: it is what a reader looks for where not all is shown.
    rows = sorted(state.items(), key=lambda row: row[0] not in changed)
    return {
        "call": call_text(step),
        "is_fault": step.kind == "fault_toggle",
        "is_empty": step.kind == "fault_toggle"
        and not (step.changes or step.failed or step.fired or step.decided or step.swallowed),
        "failed": step.failed,
        "open": step.failed or decided,
        "marks": _marks(step, decided),
        "lanes": [
            {"on": name in step.faults_on, "title": f"{short} is {'on' if name in step.faults_on else 'off'}"}
            for name, short in lanes.items()
        ],
        "result": step.result,
        "draws": ", ".join(step.draws),
        "fired": step.fired,
        "decided": step.decided,
        "swallowed": [{"error": each.error, "place": each.place} for each in step.swallowed],
        "changes": [{"path": e.path, "before": e.before, "after": e.after} for e in changes[:LINES_MAX]],
        "changes_more": max(0, len(changes) - LINES_MAX),
        "output": step.output,
        "new_lines": [{"place": f"{each.file}:{each.line}", "code": each.code} for each in step.new_lines],
        "new_lines_title": f"{new_lines} run for the first time in this trace",
        "state": [{"path": path, "text": text, "changed": path in changed} for path, text in rows[:LINES_MAX]],
        "state_more": max(0, len(rows) - LINES_MAX),
    }


def shown_changes(changes: Sequence[PartChange]) -> list[PartChange]:
    """Return the changes without those that only say that an empty collection is empty no more."""
    there = [change.path for change in changes if change.after is not None]

    def is_filled(path: str) -> bool:
        return any(other.startswith((f"{path}[", f"{path}.")) for other in there)

    return [change for change in changes if change.after is not None or not is_filled(change.path)]


def _marks(step: StepView, decided: bool) -> list[dict[str, str]]:
    marks = [("bad", "failed")] if step.failed else []
    if decided:
        marks.append(("bad", "decided here"))
    if step.fired:
        marks.append(("fault", "fault fired"))
    if step.decided:
        marks.append(("fault", counted(len(step.decided), "decision")))
    if step.swallowed:
        marks.append(("warn", counted(len(step.swallowed), "swallowed exception")))
    if step.changes:
        marks.append(("", counted(len(shown_changes(step.changes)), "change")))
    if step.new_lines:
        marks.append(("", counted(len(step.new_lines) + step.new_lines_more, "new line")))
    return [{"kind": kind, "text": text} for kind, text in marks]


def _few(marks: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Merge the marks that have no colour."""
    plain = [mark["text"] for mark in marks if not mark["kind"]]
    coloured = [mark for mark in marks if mark["kind"]]
    return [*coloured, *([{"kind": "", "text": ", ".join(plain)}] if plain else [])]


def call_text(step: StepView, *, limit: int = 300) -> str:
    """Return a step as a call, or a switch of a fault in words."""
    if step.kind == "fault_toggle":
        return f"{step.name[1:]} {'on' if step.name.startswith('+') else 'off'}"
    arguments = ", ".join(f"{name}={text}" for name, text in step.arguments.items())
    results = ""
    if step.result:
        results = f" \u2192 {step.result}"
    return cut(f"{step.name}({arguments}){results}", limit)


def source_values(source: SourceView) -> dict[str, Any]:
    """Return the values of the template for a piece of source."""
    return {
        "name": source.name,
        "place": f"{source.file}:{source.failed or source.line}",
        "code": highlighted(source.text, first=source.line, mark=source.failed),
    }


def cut(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}\u2026"


def rows_of(failures: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a row for each failure that is only listed."""
    return [
        {
            "id": failure["id"],
            "error": cut(headline(failure), 160),
            "where": where_text(failure.get("place")),
            "steps": failure.get("trace_steps") or "",
            "count": failure["count"],
        }
        for failure in failures
    ]

"""What the page shows of one failure: from its entry in the report and the recording of its trace."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
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


#: More suspicious lines than this would push the steps off the first screen.
SUSPICIOUS_MAX = 3

Row = Mapping[str, Any]


def finding_values(failure: Row, view: TraceView | None, *, replayed: frozenset[str]) -> dict[str, Any]:
    """Return the values of the template for a failure; ``replayed`` are the paths of seeds known before this run."""
    view = view or TraceView(reason="it was not recorded")
    asserted = (failure.get("place") or {}).get("asserted", ())
    first, _, rest = (str(failure["error_message"]).strip() or "".join(asserted[:1])).partition("\n")
    title = f"{failure['error_type']}: {first}" if first else str(failure["error_type"])
    known, path = failure.get("seed_path") in replayed, failure.get("trace_path") or failure.get("seed_path")
    sources = [source_values(each) for each in view.sources if not each.failed]
    for number, source in enumerate(sources):
        source["anchor"] = f"s-{failure['id']}-{number}"
    steps, roles = failure.get("trace_steps"), failure.get("necessary_faults")
    needed = [name for name, is_needed in (roles or {}).items() if is_needed]
    is_schedule = bool(view.lanes) and not view.steps
    facts = [] if steps is None or is_schedule else [counted(steps, "step")]
    if roles is not None and (needed or not view.lanes):
        facts.append(counted(len(needed), "fault") if needed else "no faults")
    if view.lanes:
        facts.append(f"{counted(len(view.lanes), 'decision')} of the world")
    # A saved failure that was replayed, and not met again.
    met = [counted(failure["count"], "run")] if failure["count"] else []
    rows = [
        ("Found in", f"run {failure['run_id']}" if failure["run_id"] else "the replay of a seed"),
        ("Seen in", counted(failure["count"], "run") if failure["count"] else ""),
        ("Id", failure["id"]),
        ("Bucket", failure["bucket"]),
        ("Trace", failure.get("trace_path")),
        ("Seed", failure.get("seed_path") if failure.get("seed_path") != failure.get("trace_path") else ""),
    ]
    return {
        "id": failure["id"],
        "badge": "flaky" if failure["flaky"] else "known" if known else "new",
        "error": cut(title, 200),
        "message": f"{title}\n{rest}" if rest or len(title) > 200 else "",
        "facts": [*facts, *met, *([] if failure["shrunk"] else ["not shrunk"])],
        "where": _where(failure.get("place")),
        "asserted": "\n".join(asserted),
        "asserted_label": asserted_label(asserted),
        "broken_by": ", ".join(failure.get("broken_by") or ()),
        "faults": "" if view.lanes and not failure.get("active_faults") else faults_text(failure),
        "difference": _first_difference(view, failure["id"]) if view.passing else None,
        "suspicious": [
            {
                "place": f"{each.file}:{each.line}",
                "code": each.code,
                "failing": f"{each.failing} of {each.failing_runs}",
                "passing": f"{each.passing} of {each.passing_runs}",
            }
            for each in view.suspicious[:SUSPICIOUS_MAX]
        ],
        "flaky": failure.get("flaky_reason") or "",
        "command": "" if path is None else replay_command(failure["id"] if failure.get("bucket") else path),
        "places": [source_values(each) for each in view.sources if each.failed],
        "sources": sources,
        "program": highlighted(str(failure.get("program") or "")),
        "traceback": view.traceback,
        "origin": [{"what": what, "value": str(value)} for what, value in rows if value],
        "no_steps": f"Not shown step by step: {view.reason}." if not (view.steps or view.lanes) else "",
        "world": lane_table(view.lanes),
        **_steps(view, failure["id"], {source["name"]: source["anchor"] for source in reversed(sources)}),
    }


def _where(place: Row | None) -> list[dict[str, str]]:
    if not place:
        return []
    rows = [("At", place["at"], place["kind"])]
    if place.get("raised_at"):
        rows.append(("Raised at", place["raised_at"], ""))
    return [
        {
            "what": what,
            "place": f"{at['file']}:{at['line']}",
            "function": f"{at['function']}{f' ({kind})' if kind else ''}",
            "code": at.get("code", ""),
        }
        for what, at, kind in rows
    ]


def faults_text(failure: Row) -> str:
    """Return which faults a failure needs, and which others were on."""
    needed = failure.get("necessary_faults")
    names = list(dict.fromkeys((*(needed or ()), *(failure.get("active_faults") or ()))))
    short = dict(zip(names, short_names(names), strict=True))
    active = [short[name] for name in failure.get("active_faults") or ()]
    if needed is None:
        return f"on: {', '.join(active)}" if active else "none"
    kept = [short[name] for name, is_needed in needed.items() if is_needed]
    others = [name for name in active if name not in kept]
    parts = [f"needed: {', '.join(kept)}"] if kept else ["none needed"]
    return "; ".join([*parts, *([f"on, not needed: {', '.join(others)}"] if others else [])])


# -- why --------------------------------------------------------------------------------------------------------------


def _passing_states(view: TraceView) -> list[Mapping[str, str]]:
    """Return the state of the passing run when it is as far as each step of the failing one; empty without one."""
    if view.passing is None:
        return []
    states, now = view.passing.view.states(), view.passing.view.start
    found: list[Mapping[str, str]] = []
    for at in view.passing.at:
        now = now if at is None else states[at]
        found.append(now)
    return found


def _short_faults(view: TraceView) -> dict[str, str]:
    """Return the short names of the faults of a trace by their names."""
    names = list(dict.fromkeys(name for step in view.steps for name in step.faults_on))
    return dict(zip(names, short_names(names), strict=True))


def _first_difference(view: TraceView, name: str) -> dict[str, Any]:
    """Return the first step that both runs take and that does not do the same in both, with what differs."""
    assert view.passing is not None
    changed = call_text(view.steps[view.passing.step - 1], limit=80, short=_short_faults(view))
    argument = view.passing.argument
    how = f"{f'with another {argument} in' if argument else 'without'} step {view.passing.step}, {changed}"
    for number, (step, at, here, there) in enumerate(
        zip(view.steps, view.passing.at, view.states(), _passing_states(view), strict=False), start=1
    ):
        if at is None:
            continue
        other = view.passing.view.steps[at]
        pairs: list[tuple[str, str | None, str | None]]
        pairs = [(key, step.arguments.get(key), text) for key, text in other.arguments.items()]
        pairs += [("returned", step.result or None, other.result or None)]
        pairs += [(path, here.get(path), there.get(path)) for path in dict.fromkeys((*here, *there))]
        rows = [{"path": path, "here": one, "passing": two} for path, one, two in pairs if one != two]
        if rows:
            text = f"Step {number}, {call_text(step, limit=80)}"
            return {"how": how, "step": text, "anchor": f"t-{name}-{number}", "rows": rows[:4]}
    return {"how": how, "step": "", "rows": []}


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


def _steps(view: TraceView, name: str, sources: Mapping[str, str]) -> dict[str, Any]:
    """Return the rows of the time table: the start, if anything is known of it, and each step."""
    shown = _short_faults(view)
    shares = {each.steps: percent(each.failed / each.runs) for each in view.chances}
    passing, last = _passing_states(view), len(view.steps)
    steps = []
    if view.steps and (view.start or shares):
        start = StepView(kind="start", name="", changes=[PartChange(at, None, text) for at, text in view.start.items()])
        steps.append(_step(start, shown) | {"number": 0, "call": "the fresh machine", "change": "", "marks": []})
    for number, step in enumerate(view.steps, start=1):
        values = _step(step, shown, passing[number - 1] if number <= len(passing) else {})
        decided = number in view.decided_at
        values |= {"number": number, "marks": [*values["marks"], *([_mark("decided here", "bad")] if decided else [])]}
        values |= {"jumps": decided, "anchor": f"t-{name}-{number}", "source": sources.get(step.name, "")}
        values["varies"] = [each for each in view.variations if each.step == number]
        if number == last:
            state = list(view.states()[-1].items())
            values["state"] = [{"path": path, "text": text} for path, text in state[:LINES_MAX]]
            values["state_more"] = max(0, len(state) - LINES_MAX)
        if last > LINES_MAX:
            values["new_lines"], values["changes"] = values["new_lines"][:3], values["changes"][:10]
        steps.append(values)
    for values in steps:
        values["share"] = shares.get(values["number"], "")
    return {
        "steps": steps,
        "is_long": last > LINES_MAX,
        "lanes": [{"name": short, "title": name} for name, short in shown.items()],
        "runs": max([each.runs for each in view.chances], default=0),
    }


def _step(step: StepView, lanes: Mapping[str, str], passing: Mapping[str, str] | None = None) -> dict[str, Any]:
    changes = shown_changes(step.changes)
    marks = [_mark("failed", "bad")] if step.failed else []
    if step.fired:
        marks.append(_mark("fault fired"))
    if step.decided:
        marks.append(_mark(counted(len(step.decided), "decision")))
    if step.swallowed:
        marks.append(_mark(counted(len(step.swallowed), "swallowed exception")))
    return {
        "name": step.name,
        "call": call_text(step, short=lanes),
        "is_call": step.kind != "fault_toggle" and step.kind != "start",
        "failed": step.failed,
        "open": step.failed,
        "marks": marks,
        "lanes": [f"{short} is on" if name in step.faults_on else "" for name, short in lanes.items()],
        "change": f"{cut(changes[0].path, 40)}{f' +{len(changes) - 1}' if len(changes) > 1 else ''}" if changes else "",
        "jumps": False,
        "anchor": "",
        "source": "",
        "varies": [],
        "result": step.result,
        "draws": ", ".join(step.draws),
        "fired": [_with_short_names(hit, lanes) for hit in step.fired],
        "decided": step.decided,
        "swallowed": step.swallowed,
        "changes": [
            {"path": e.path, "before": e.before, "after": e.after, "passing": (passing or {}).get(e.path)}
            for e in changes[:LINES_MAX]
        ],
        "changes_more": max(0, len(changes) - LINES_MAX),
        "passing": bool(passing),
        "output": step.output,
        "new_lines": [{"place": f"{each.file}:{each.line}", "code": each.code} for each in step.new_lines],
        "new_lines_title": f"{counted(len(step.new_lines) + step.new_lines_more, 'line')} run for the first time in "
        "this trace",
        "state": [],
    }


def _with_short_names(text: str, short: Mapping[str, str]) -> str:
    for name, shorter in short.items():
        text = text.replace(name, shorter)
    return text


def shown_changes(changes: Sequence[PartChange]) -> list[PartChange]:
    """Return the changes without those that only say that an empty collection is empty no more."""
    there = [change.path for change in changes if change.after is not None]

    def is_filled(path: str) -> bool:
        return any(other.startswith((f"{path}[", f"{path}.")) for other in there)

    return [change for change in changes if change.after is not None or not is_filled(change.path)]


def _mark(text: str, kind: str = "") -> dict[str, str]:
    return {"kind": kind, "text": text}


def call_text(step: StepView, *, limit: int = 300, short: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a step as a call, or a switch of a fault in words, by its ``short`` name if there is one."""
    if step.kind == "fault_toggle":
        name = step.name[1:]
        return f"{short.get(name, name)} {'on' if step.name.startswith('+') else 'off'}"
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
        "anchor": "",
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
            "where": f"{place['at']['file']}:{place['at']['line']}" if (place := failure.get("place")) else "",
            "steps": failure.get("trace_steps") or "",
            "count": failure["count"],
        }
        for failure in failures
    ]

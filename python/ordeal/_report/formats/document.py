"""What the formats of a report have in common: reading the document, and making its texts safe to show.

Messages, names, programs and paths come from the program under test. They may hold anything that a string can hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted, printable
from ordeal._base.limits import LINE_CHARS_MAX, MESSAGE_CHARS_MAX, TEXT_CHARS_MAX
from ordeal._base.trace_file import write_atomically

Finding = Mapping[str, Any]
Result = Mapping[str, Any]


def contained(text: object, limit: int = TEXT_CHARS_MAX) -> str:
    """Return a text of several lines with everything escaped that is not a printable character, newline or tab."""
    safe = printable(str(text)[: limit + 1])
    return safe if len(safe) <= limit else f"{safe[: limit - 3]}..."


def line(text: object, limit: int = MESSAGE_CHARS_MAX) -> str:
    """Return a text on one line, its control characters escaped."""
    return contained(str(text)[: limit + 1].replace("\t", " ").replace("\n", "\\n"), limit)


def results_of(document: Mapping[str, Any]) -> list[Result]:
    """Return the results of all classes."""
    return list(document.get("results", ()))


def findings_of(document: Mapping[str, Any]) -> Iterator[tuple[Result, Finding]]:
    """Yield each failure of the document with the result that it belongs to."""
    for result in results_of(document):
        for finding in result.get("failures", ()):
            yield result, finding


def behavior_of(result: Result) -> Mapping[str, Any]:
    """Return which lines ran and which did not; empty where the report does not say."""
    return (result.get("telemetry") or {}).get("behavior") or {}


def headline(finding: Finding) -> str:
    """Return the type and the first line of the message, or of what was asserted where there is none."""
    kind = line(finding.get("error_type") or "failure", LINE_CHARS_MAX)
    asserted = [str(each) for each in (finding.get("place") or {}).get("asserted") or ()]
    message = str(finding.get("error_message") or "")[:4096].strip() or "".join(asserted[:1])
    first = message.partition("\n")[0]
    return f"{kind}: {line(first)}" if first else kind


def status_of(finding: Finding) -> str:
    """Return ``known`` for a failure that a saved seed showed again, else ``new``."""
    return "known" if not finding.get("run_id") and finding.get("seed_path") else "new"


def id_of(finding: Finding) -> str:
    """Return the short name of a failure, which is the same in each exploration."""
    return line(finding.get("id") or finding.get("bucket") or "", LINE_CHARS_MAX)


def fingerprint(finding: Finding) -> str:
    """Return a hash of the bucket: two findings with the same one are the same failure."""
    bucket = str(finding.get("bucket") or headline(finding))
    return hashlib.sha256(bucket.encode("utf-8", "backslashreplace")).hexdigest()


def steps_of(finding: Finding) -> list[str]:
    """Return the names of the steps, in order."""
    return [line(step, LINE_CHARS_MAX) for step in finding.get("rule_log", ()) if not str(step).startswith("[swarm ")]


def size_of(finding: Finding) -> str:
    """Return how many steps the failure takes, and what else is to be known about it."""
    steps = finding.get("trace_steps")
    facts = [counted(len(steps_of(finding)) if steps is None else steps, "step")]
    facts += ["flaky"] if finding.get("flaky") else []
    return ", ".join(facts)


def lines_of(finding: Finding) -> list[Mapping[str, Any]]:
    """Return the lines of code where it happened, the innermost first, as far as they are known."""
    place = finding.get("place") or {}
    return [each for each in (place.get("raised_at"), place.get("at")) if each]


def own_line(finding: Finding) -> Mapping[str, Any] | None:
    """Return the innermost line in a file of the project; the machine's line if the innermost is in a library.

    The path of a file in a library is relative to where libraries are installed, so it is not a path from here.
    """
    known = lines_of(finding)
    return next((each for each in known if _is_here(str(each["file"]))), known[-1] if known else None)


def _is_here(path: str) -> bool:
    try:
        return not Path(path).is_absolute() and Path(path).is_file()
    except (OSError, ValueError):  # ValueError: a path with a NUL
        return False


def where(finding: Finding) -> str:
    """Return the place as ``file:line in function``, or nothing."""
    at = own_line(finding)
    return "" if at is None else line(f"{at['file']}:{at['line']} in {at['function']}")


def faults_of(finding: Finding) -> list[str]:
    """Return the faults that the failure needs; those that were on if it is not known which."""
    needed = finding.get("necessary_faults")
    names = finding.get("active_faults", ()) if needed is None else [name for name, is_so in needed.items() if is_so]
    return [line(name, LINE_CHARS_MAX) for name in names]


def details(finding: Finding) -> list[str]:
    """Return the details of a failure besides its headline and its program."""
    place = finding.get("place") or {}
    shown = []
    for word, at in (("At", place.get("at")), ("Raised at", place.get("raised_at"))):
        if at:
            kind = f" ({place['kind']})" if word == "At" and place.get("kind", "other") != "other" else ""
            shown.append(line(f"{word}: {at['file']}:{at['line']} in {at['function']}{kind}"))
    shown += [line(text) for text in place.get("asserted", ())]
    listed = (
        ("Broken by", ", ".join(line(each, LINE_CHARS_MAX) for each in finding.get("broken_by", ()))),
        ("Faults", ", ".join(faults_of(finding))),
        ("Steps", " -> ".join(steps_of(finding))),
        ("Flaky", line(finding.get("flaky_reason") or "")),
    )
    shown += [contained(f"{word}: {text}", 10 * MESSAGE_CHARS_MAX) for word, text in listed if text]
    count = finding.get("count") or 0
    return shown + ([f"Seen: in {count} runs"] if count > 1 else [])


def replay(finding: Finding) -> str:
    """Return the command that replays a failure; nothing if it was not saved."""
    saved = finding.get("trace_path") or finding.get("seed_path")
    return f"ordeal replay {id_of(finding)}" if saved and finding.get("bucket") else ""


def figures(result: Result) -> str:
    """Return how much was done for a class."""
    seconds = (result.get("timing") or {}).get("duration_seconds", 0)
    shown = [
        counted(result.get("total_runs", 0), "run"),
        counted(result.get("total_steps", 0), "step"),
        f"{seconds:.1f} s",
        counted(result.get("unique_edges", 0), "edge"),
    ]
    behavior = behavior_of(result)
    if behavior.get("lines_total"):
        shown.append(f"{behavior['lines_covered']} of {behavior['lines_total']} lines")
    return ", ".join(shown)


def clean(value: Any) -> Any:
    """Return plain data with every text contained, for formats that cannot hold all characters."""
    if isinstance(value, str):
        return contained(value)
    if isinstance(value, Mapping):
        return {contained(key, MESSAGE_CHARS_MAX): clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    return value


def junit_text(report: Any) -> str:
    """Return a report of junitparser with its sums, as the schema of Jenkins wants it: no sum of skipped cases here."""
    report.update_statistics()
    report._elem.attrib.pop("skipped", None)
    text: str = report.tostring().decode("utf-8")
    return text


def save(folder: Path, name: str, text: str | Iterable[str]) -> Path:
    """Write a file completely or not at all, and return its path."""
    path = folder / name
    write_atomically(path, (text if isinstance(text, str) else "".join(text)).encode("utf-8", "backslashreplace"))
    return path

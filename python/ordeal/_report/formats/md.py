"""``--report md``: Markdown for people, as the summary of a job and the comment on a pull request show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ordeal._base.formatting import counted
from ordeal._base.limits import LISTED_MAX, MESSAGE_CHARS_MAX, ROWS_MAX, TEXT_CHARS_MAX
from ordeal._report.formats.document import (
    Finding,
    Result,
    behavior_of,
    contained,
    details,
    figures,
    findings_of,
    headline,
    id_of,
    line,
    replay,
    results_of,
    save,
    size_of,
    status_of,
    where,
)

#: GitHub drops a summary of more than a mebibyte.
BYTES_MAX = 1_000_000


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``ordeal.md``."""
    return save(folder, "ordeal.md", markdown(document))


def markdown(document: Mapping[str, Any], bytes_max: int = BYTES_MAX) -> str:
    """Return the report as Markdown: findings first, and no more than ``bytes_max`` bytes of UTF-8."""
    findings = list(findings_of(document))
    classes = counted(len(results_of(document)), "class", "classes")
    found = counted(len(findings), "finding") if findings else "no findings"
    text = f"## ordeal: {found} in {classes}\n\n{_table(findings)}"
    for number, (result, finding) in enumerate(findings):
        program = contained(finding.get("program", ""), TEXT_CHARS_MAX)
        shown = [f"- {_code(text)}" for text in [line(result["test_class"]), *details(finding)]]
        parts = [f"\n### {_code(headline(finding))}\n", "\n".join(shown), ""]
        parts[-1:] = [fenced(program, "python")] if program.strip() else [""]
        parts += [f"Replay: {_code(replay(finding))}", ""] if replay(finding) else []
        block = "\n".join(parts)
        left_out = f"\n{len(findings) - number} more findings are in the other reports.\n"
        if _size(text) + _size(block) + _size(left_out) > bytes_max:
            return text + left_out
        text += block
    for block in _classes(document):
        if _size(text) + _size(block) > bytes_max:
            break
        text += block
    return text


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def _table(findings: list[tuple[Result, Finding]]) -> str:
    if not findings:
        return ""
    rows = ["| | finding | id | size | where |", "|---|---|---|---|---|"]
    rows += [
        f"| {status_of(finding)} | {cell(headline(finding))} | {cell(id_of(finding))} | {size_of(finding)} "
        f"| {cell(where(finding))} |"
        for _, finding in findings[:ROWS_MAX]
    ]
    rows += [f"| | {len(findings) - ROWS_MAX} more | | | |"] * (len(findings) > ROWS_MAX)
    return "\n".join(rows) + "\n"


def _classes(document: Mapping[str, Any]) -> Iterator[str]:
    for result in results_of(document):
        remarks = "".join(f"\n- {each}" for each in _remarks(result))
        yield f"\n### {_code(line(result['test_class']))}\n\n{figures(result)}\n{remarks}" + "\n" * bool(remarks)


def _remarks(result: Result) -> Iterator[str]:
    if result.get("inconclusive"):
        yield f"Inconclusive: {_code(line(result['inconclusive'].get('reason', '')))}"
    for known in result.get("known", ())[:LISTED_MAX]:
        what = line(f"{known.get('error_type')}: {known.get('error_message')}")
        yield f"Known, not reported, {counted(known.get('count', 0), 'run')}: {_code(what)}"
    for note in result.get("notes", ())[:LISTED_MAX]:
        yield f"Note: {_code(line(note))}"
    gaps = behavior_of(result).get("coverage_gaps", ())
    for gap in gaps[:LISTED_MAX]:
        yield f"Not reached: {_code(line(f'{gap["file"]}:{gap["line"]} {gap["code"]}'))}"
    if len(gaps) > LISTED_MAX:
        yield f"{len(gaps) - LISTED_MAX} more branches were not reached."


def _code(text: str) -> str:
    """Return a text as code on one line, in which nothing is a link, a mention or HTML."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    blank = " " * (text[:1] in ("`", " ") or text[-1:] in ("`", " "))
    return f"{fence}{blank}{text}{blank}{fence}" if text else ""


def cell(text: str) -> str:
    """Return a text for a cell of a table, as code."""
    return _code(text[:MESSAGE_CHARS_MAX]).replace("|", "\\|")


def fenced(text: str, language: str) -> str:
    """Return a block of code whose fence is longer than any within it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

"""The results of properties, and which operations met which faults, as text and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from ordeal._base.formatting import capped, counted, one_line
from ordeal._base.limits import LINE_CHARS_MAX, LISTED_MAX, MESSAGE_CHARS_MAX

if TYPE_CHECKING:
    from ordeal._base.property_tracker import PropertyReport, PropertyResult, ReliabilityCell

# What needs attention comes first.
_STATUSES = ("FAIL", "NOT REACHED", "NOT EXERCISED", "PASS")


def property_lines(report: PropertyReport) -> list[str]:
    """Return a line for each property of ``report``, failed ones last, and a summary; nothing without properties."""
    passed, failed = report["passed"], report["failed"]
    if not passed and not failed:
        return []
    total = len(passed) + len(failed)
    summary = f"{len(failed)}/{total} properties FAILED" if failed else f"{total}/{total} properties passed"
    rows = (*passed, *failed)
    lines = [f"  {row['status']}  {_with_details(row['status'], row['summary'], row['details'])}" for row in rows]
    return [*lines, "", f"  {summary}"]


def _with_details(status: str, summary: str, details: str) -> str:
    shown = f"{summary}  {details}" if details and status == "FAIL" else summary
    return one_line(shown, limit=2 * LINE_CHARS_MAX)


def reliability_lines(report: PropertyReport) -> list[str]:
    """Return a line for each operation of ``report`` that should meet a fault, and a summary; nothing without any."""
    coverage = report.get("reliability_coverage")
    if coverage is None:
        return []
    summary = coverage["summary"]
    met = summary["cells"] - summary["not_exercised"]
    cells = counted(summary["cells"], "cell")
    return [
        *(
            f"  {row['status']}  {one_line(f'{row["operation"]} under {row["fault"]}: {row["name"]} ({row["type"]})')}"
            for row in coverage["rows"]
        ),
        "",
        f"  {met} of {cells} exercised, {summary['failed']} failed",
    ]


def explored_properties(results: Sequence[PropertyResult], cells: Sequence[ReliabilityCell]) -> list[str]:
    """Return the properties and cells of an exploration, those that did not pass first; nothing without any."""
    lines: list[str] = []
    if results:
        rows = [
            (
                "NOT REACHED" if each.type == "reachable" and not each.hits else each.evidence_status,
                each.summary,
                each.details,
            )
            for each in results
        ]
        lines += [f"Properties: {_figures([status for status, _, _ in rows])}"]
        lines += capped([f"  {line}" for line in _by_status(rows)], LISTED_MAX)
    if cells:
        rows = [(cell.status, f"{cell.operation} under {cell.fault}: {cell.name} ({cell.type})", "") for cell in cells]
        lines += [f"Operations under faults: {_figures([status for status, _, _ in rows])}"]
        lines += capped([f"  {line}" for line in _by_status(rows)], LISTED_MAX)
    return lines


def _figures(statuses: Sequence[str]) -> str:
    named = (("passed", "PASS"), ("failed", "FAIL"), ("not reached", "NOT REACHED"), ("not exercised", "NOT EXERCISED"))
    counts = {word: statuses.count(status) for word, status in named}
    return ", ".join(f"{number} {word}" for word, number in counts.items() if number or word != "not reached")


def _by_status(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    ordered = sorted(rows, key=lambda row: _STATUSES.index(row[0]))
    return [f"{status:<13}  {_with_details(status, summary, details)}" for status, summary, details in ordered]


def json_properties(results: Sequence[PropertyResult]) -> list[dict[str, Any]]:
    """Return a JSON object for each property."""
    return [asdict(result) | {"details": result.details[:MESSAGE_CHARS_MAX]} for result in results]


def json_cells(cells: Sequence[ReliabilityCell]) -> list[dict[str, Any]]:
    """Return a JSON object for each cell."""
    return [asdict(cell) for cell in cells]


def say_observed(name: str, true: bool) -> None:
    """Print what a ``sometimes`` that warns saw while no tracker records it."""
    print(f"  ordeal: sometimes({one_line(repr(name))}): {'PASS' if true else 'OBSERVE'}", file=sys.stderr)

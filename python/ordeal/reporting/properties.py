"""What became of the properties of a program, and which operations met which faults, as lines of text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ordeal.reporting.words import MESSAGE_CHARS_MAX, counted, one_line

if TYPE_CHECKING:
    from ordeal.assertions import PropertyReport


def property_lines(report: PropertyReport) -> list[str]:
    """Return a line for each property, those that failed last, and a summary; nothing where there are none."""
    passed, failed = report["passed"], report["failed"]
    if not passed and not failed:
        return []
    total = len(passed) + len(failed)
    summary = f"{len(failed)}/{total} properties FAILED" if failed else f"{total}/{total} properties passed"
    return [*(_property_line(row) for row in (*passed, *failed)), "", f"  {summary}"]


def _property_line(row: Mapping[str, Any]) -> str:
    details = f"  {row['details']}" if row["details"] and row["status"] == "FAIL" else ""
    return f"  {row['status']}  {one_line(row['summary'] + details, limit=2 * MESSAGE_CHARS_MAX)}"


def reliability_lines(report: PropertyReport) -> list[str]:
    """Return a line for each operation that was to meet a fault, and a summary; nothing where none was named."""
    coverage = report.get("reliability_coverage")
    if coverage is None:
        return []
    summary = coverage["summary"]
    met = summary["cells"] - summary["not_exercised"]
    cells = counted(summary["cells"], "cell")
    return [
        *(_cell_line(row) for row in coverage["rows"]),
        "",
        f"  {met} of {cells} exercised, {summary['failed']} failed",
    ]


def _cell_line(row: Mapping[str, Any]) -> str:
    return f"  {row['status']}  {one_line(f'{row["operation"]} under {row["fault"]}: {row["name"]} ({row["type"]})')}"


def say_observed(name: str, true: bool) -> None:
    """Print what a ``sometimes`` that warns saw while no tracker keeps it."""
    print(f"  ordeal: sometimes({one_line(repr(name))}): {'PASS' if true else 'OBSERVE'}", file=sys.stderr)

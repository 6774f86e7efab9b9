"""The sections on properties in the summary of a pytest run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordeal._base.property_text import property_lines, reliability_lines

if TYPE_CHECKING:
    from ordeal._base.property_tracker import PropertyReport


def property_sections(
    report: PropertyReport, *, chaos: bool, fails_run: bool, chaos_seed: int | None
) -> list[tuple[str, list[str]]]:
    """Return titles and lines of the sections that are not empty.

    ``chaos`` says that a failed property fails the run, ``fails_run`` that nothing else fails it.
    """
    properties = property_lines(report)
    if properties:
        types = sorted({row["type"] for row in (*report["passed"], *report["failed"])})
        seed = "" if chaos_seed is None else f"seed={chaos_seed}, "
        if fails_run:
            properties.append("  The tests pass, but not all properties do: the run fails.")
        elif report["failed"] and not chaos:
            properties.append("  Without --chaos this does not fail the run.")
        properties.append(f"  Config: {seed}assertion types used: {', '.join(types)}")
    sections = [("Ordeal Property Results", properties), ("Ordeal Reliability Coverage", reliability_lines(report))]
    return [section for section in sections if section[1]]

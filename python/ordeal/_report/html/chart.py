"""The chart of coverage over time, as SVG that needs no script, and the table of rules under faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, floor, log10
from typing import Any

from ordeal._base.formatting import short_names
from ordeal._base.limits import ROWS_MAX

#: More points than this cannot be distinguished.
POINTS_MAX = 160
_WIDTH, _HEIGHT = 900, 300
#: Where the curve is drawn, right of and above the figures of the axes.
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 870, 10, 262


@dataclass(frozen=True, slots=True)
class Point:
    """What was reached after some seconds and runs."""

    seconds: float
    runs: int
    edges: int


@dataclass(frozen=True, slots=True)
class Mark:
    """When a failure was found."""

    seconds: float
    label: str


def coverage_chart(points: Sequence[Point], marks: Sequence[Mark]) -> str:
    """Return the chart as SVG: stairs of edges over seconds, and a dot for each mark; empty without two points."""
    if len(points) < 2:
        return ""
    # A curve that has been flat for long says no more than its last point.
    last = next(each.seconds for each in points if each.edges == points[-1].edges)
    end = 1.25 * max([last, points[1].seconds, *(each.seconds for each in marks)])
    shown = thinned(
        [each for each in points if each.seconds <= end] + [replace(points[-1], seconds=min(end, points[-1].seconds))]
    )
    heights, times = ticks(max(each.edges for each in shown), least=1), ticks(max(each.seconds for each in shown))
    return "".join(_drawn(shown, marks, heights, times))


def _drawn(
    points: Sequence[Point], marks: Sequence[Mark], heights: Sequence[float], times: Sequence[float]
) -> Iterator[str]:
    def x(seconds: float) -> str:
        return f"{_LEFT + (_RIGHT - _LEFT) * seconds / times[-1]:.1f}"

    def y(edges: float) -> str:
        return f"{_BOTTOM - (_BOTTOM - _TOP) * edges / heights[-1]:.1f}"

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-size="13">'
    yield "<title>Coverage over time: edges by seconds</title>"
    for height in heights:
        yield f'<path d="M{_LEFT} {y(height)}H{_RIGHT}" stroke="var(--line)"/>'
        yield f'<text x="{_LEFT - 6}" y="{y(height)}" dy="4" text-anchor="end" fill="var(--fg)">{height:,.6g}</text>'
    for time in times:
        yield f'<text x="{x(time)}" y="{_BOTTOM + 18}" text-anchor="middle" fill="var(--fg)">{time:g}</text>'
    yield f'<text x="{_RIGHT}" y="{_HEIGHT - 3}" text-anchor="end" fill="var(--dim)">seconds</text>'
    # What was reached stays so until there is more.
    stairs = [f"H{x(each.seconds)}V{y(each.edges)}" for each in points[1:]]
    start = f"M{x(points[0].seconds)} {y(points[0].edges)}"
    yield f'<path d="{start}{"".join(stairs)}" fill="none" stroke="var(--accent)" stroke-width="2"/>'
    for mark in marks:
        reached = max((each.edges for each in points if each.seconds <= mark.seconds), default=points[0].edges)
        place = f'cx="{x(min(mark.seconds, times[-1]))}" cy="{y(reached)}"'
        yield f'<circle {place} r="5" fill="var(--bad)"><title>{escape(mark.label)}</title></circle>'
    yield "</svg>"


def ticks(most: float, least: float = 0.0) -> list[float]:
    """Return round numbers from zero to ``most`` or past it, about five of them, at least ``least`` apart."""
    most = max(most, 1e-3)
    power = 10.0 ** floor(log10(most / 5))
    step = max(least, next(power * each for each in (1, 2, 5, 10) if power * each * 5 >= most))
    return [step * number for number in range(ceil(most / step) + 1)]


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return at most as many points as an eye can distinguish, with the last."""
    stride = -(-len(points) // POINTS_MAX)
    return [*points[:-1:stride], points[-1]]


def rule_heat(rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of the rules of a result; empty without rules.

    Rules that never ran come first: they are the commonest reason for finding nothing. Then those that failed.
    """
    if not rules or not rules[0]["cells"]:
        return {}
    faults = [cell["fault"] for cell in rules[0]["cells"] if cell["fault"] is not None]
    shown = sorted(rules, key=lambda rule: (_ran(rule), -max(int(cell["failures"]) for cell in rule["cells"])))[
        :ROWS_MAX
    ]
    rows = [{"name": rule["name"], "cells": [_cell(cell, rule) for cell in rule["cells"]]} for rule in shown]
    columns = [{"name": "no fault", "title": ""}]
    columns += [{"name": short, "title": name} for short, name in zip(short_names(faults), faults, strict=True)]
    return {"columns": columns, "rows": rows, "more": max(0, len(rules) - ROWS_MAX)}


def _ran(rule: Mapping[str, Any]) -> bool:
    return any(cell["steps"] for cell in rule["cells"])


def _cell(cell: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, str]:
    steps, failures = cell["steps"], cell["failures"]
    if failures:
        return {"text": f"{failures:,} of {steps:,} failed", "kind": "bad"}
    if steps:
        return {"text": f"{steps:,}", "kind": "good"}
    return {"text": "never", "kind": "dim" if _ran(rule) else "none"}

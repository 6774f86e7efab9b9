"""The chart of coverage over time, as SVG that needs no script."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ordeal._base.formatting import short_names

#: More points than this no eye tells apart.
POINTS_MAX = 160
#: What a search has before its first event, where the axis of time begins.
FIRST_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Point:
    """What was reached after so many seconds and runs."""

    seconds: float
    runs: int
    edges: int


@dataclass(frozen=True, slots=True)
class Mark:
    """When a failure was found."""

    seconds: float
    label: str


def coverage_chart(points: Sequence[Point], marks: Sequence[Mark], name: str) -> str:
    """Return the chart as SVG with the id ``name``, or nothing with fewer than two points, or without the library."""
    if len(points) < 2:
        return ""
    try:
        pygal = importlib.import_module("pygal")
        style_of = importlib.import_module("pygal.style").Style
    except ImportError:
        return ""
    chart = pygal.XY(_options(pygal, style_of))
    chart.uuid = name  # else one by chance: the same run makes the same page
    curve = [(max(FIRST_SECONDS, point.seconds), point.edges) for point in thinned(points)]
    chart.y_labels = ticks(max(edges for _, edges in curve))
    chart.add("edges", _steps(curve), show_dots=False)
    shown = [
        {"value": (max(FIRST_SECONDS, mark.seconds), _height(curve, mark.seconds)), "label": mark.label}
        for mark in marks
    ]
    if shown:
        chart.add("failure found", shown, stroke=False, dots_size=5)
    return _without_script(chart.render(is_unicode=True))


def _options(pygal: Any, style_of: Any) -> Any:
    style = style_of(
        background="transparent",
        plot_background="transparent",
        foreground="var(--fg)",
        foreground_strong="var(--fg)",
        foreground_subtle="var(--dim)",
        opacity="1",
        opacity_hover="1",
        colors=("var(--link)", "var(--bad)"),
        font_family="system-ui, sans-serif",
        label_font_size=13,
        major_label_font_size=13,
        legend_font_size=13,
        title_font_size=13,
        guide_stroke_dasharray="none",
        guide_stroke_color="var(--line)",
        major_guide_stroke_dasharray="none",
        major_guide_stroke_color="var(--line)",
    )
    return pygal.Config(
        style=style,
        js=[],
        width=900,
        height=300,
        logarithmic=False,
        include_x_axis=True,
        range=None,
        x_title="seconds",
        y_title="edges",
        show_y_guides=True,
        show_x_guides=False,
        legend_at_bottom=True,
        disable_xml_declaration=True,
        no_prefix=False,
        explicit_size=False,
        print_values=False,
        pretty_print=False,
        x_value_formatter=lambda seconds: f"{seconds:g}",
        value_formatter=lambda value: f"{value:,.0f}" if isinstance(value, int | float) else str(value),
    )


def ticks(most: int) -> list[int]:
    """Return round numbers from zero past ``most``, about five of them."""
    power = 10 ** max(0, len(str(most // 5)) - 1)
    step = next((power * each for each in (1, 2, 5) if power * each * 5 >= most), 10 * power)
    return list(range(0, most + step, step))


def thinned(points: Sequence[Point]) -> list[Point]:
    """Return at most so many points as can be told apart, with the last."""
    stride = -(-len(points) // POINTS_MAX)
    return [*points[:-1:stride], points[-1]]


def _steps(curve: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return the curve as stairs: what was reached stays so until there is more."""
    stairs = list(curve[:1])
    for (_, before), (seconds, edges) in pairwise(curve):
        if edges != before:
            stairs.append((seconds, before))
        stairs.append((seconds, edges))
    return stairs


def _height(curve: Sequence[tuple[float, int]], seconds: float) -> int:
    return max((edges for at, edges in curve if at <= seconds), default=curve[0][1])


def _without_script(svg: str) -> str:
    """Return the chart without the comment of the library, and without what only its script would read."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<script.*?</script>", "", svg, flags=re.DOTALL)
    svg = svg.replace("<title>Pygal</title>", "<title>Coverage over time</title>")
    return re.sub(r'<desc class="(?:x|y|value|x_label)[^"]*">[^<]*</desc>', "", svg)


#: A table with more rules than this is not read; the JSON report has all.
RULES_MAX = 100


def rule_heat(rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of the rules of a result; empty without rules.

    Rules that never ran come first: they are the commonest reason for finding nothing. Then those that failed.
    """
    if not rules or not rules[0]["cells"]:
        return {}
    faults = [cell["fault"] for cell in rules[0]["cells"] if cell["fault"] is not None]
    shown = sorted(rules, key=lambda rule: (_ran(rule), -_failed(rule)))[:RULES_MAX]
    rows = [{"name": rule["name"], "cells": [_cell(cell, rule) for cell in rule["cells"]]} for rule in shown]
    columns = [{"name": "no fault", "title": ""}]
    columns += [{"name": short, "title": name} for short, name in zip(short_names(faults), faults, strict=True)]
    return {"columns": columns, "rows": rows, "more": max(0, len(rules) - RULES_MAX)}


def _ran(rule: Mapping[str, Any]) -> bool:
    return any(cell["steps"] for cell in rule["cells"])


def _failed(rule: Mapping[str, Any]) -> int:
    return max(int(cell["failures"]) for cell in rule["cells"])


def _cell(cell: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, str]:
    steps, failures = cell["steps"], cell["failures"]
    if failures:
        return {"text": f"{failures:,} of {steps:,} failed", "kind": "bad"}
    if steps:
        return {"text": f"{steps:,}", "kind": "good"}
    return {"text": "never", "kind": "dim" if _ran(rule) else "none"}

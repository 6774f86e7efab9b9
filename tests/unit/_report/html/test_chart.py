"""The chart of coverage over time: SVG that runs nothing, small, and the same for the same run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from ordeal._base.limits import ROWS_MAX
from ordeal._report.html.chart import POINTS_MAX, Mark, Point, coverage_chart, rule_heat, thinned, ticks

POINTS = [Point(0.1 * number, number, number) for number in range(1, 5_000)]


def test_it_is_small_and_runs_nothing() -> None:
    chart = coverage_chart(POINTS, [Mark(3.0, "<b>found</b>")])
    assert chart.startswith("<svg")
    assert "<script" not in chart
    assert "<b>" not in chart
    assert len(chart) < 30_000
    assert chart.count("<circle") == 1
    assert ET.fromstring(chart).tag.endswith("svg")
    assert coverage_chart(POINTS[:1], []) == ""


def test_points_are_thinned_to_what_an_eye_tells_apart() -> None:
    assert len(thinned(POINTS)) <= POINTS_MAX + 1
    assert thinned(POINTS)[-1] == POINTS[-1]
    assert thinned(POINTS[:5]) == POINTS[:5]


@pytest.mark.parametrize(
    ("most", "shown"),
    [(1, [0, 1]), (7, [0, 2, 4, 6, 8]), (215, [0, 50, 100, 150, 200, 250]), (5_000, range(0, 5_001, 1_000))],
)
def test_few_round_numbers_stand_beside_the_curve(most: int, shown: Sequence[int]) -> None:
    assert ticks(most, least=1) == list(shown)


SLOW, LOST = "timeout(bank.ask, 30.0s)", "timeout(bank.pay, 30.0s)"


def rule(name: str, *counts: tuple[int, int]) -> dict[str, Any]:
    cells = zip((None, SLOW, LOST), counts, strict=True)
    return {"name": name, "cells": [{"fault": f, "steps": s, "failures": n} for f, (s, n) in cells]}


def test_what_never_ran_and_what_failed_come_first() -> None:
    heat = rule_heat([
        rule("look", (9000, 0), (40, 0), (0, 0)),
        rule("pay", (1200, 0), (7, 1), (30, 12)),
        rule("close", (0, 0), (0, 0), (0, 0)),
        rule("open", (50, 5), (7, 0), (3, 0)),
    ])  # fmt: skip
    assert [column["name"] for column in heat["columns"]] == ["no fault", "timeout(ask)", "timeout(pay)"]
    assert [(row["name"], [(c["text"], c["kind"]) for c in row["cells"]]) for row in heat["rows"]] == [
        ("close", [("never", "none")] * 3),
        ("pay", [("1,200", "good"), ("1 of 7 failed", "bad"), ("12 of 30 failed", "bad")]),
        ("open", [("5 of 50 failed", "bad"), ("7", "good"), ("3", "good")]),
        ("look", [("9,000", "good"), ("40", "good"), ("never", "dim")]),
    ]


def test_there_may_be_no_table_or_a_long_one() -> None:
    assert rule_heat([]) == {}
    heat = rule_heat([rule(f"rule_{number}", (1, 0), (0, 0), (0, 0)) for number in range(ROWS_MAX + 3)])
    assert (len(heat["rows"]), heat["more"]) == (ROWS_MAX, 3)


def test_a_long_time_without_anything_new_is_not_drawn() -> None:
    points = [Point(0.5, 1, 10), Point(2.0, 50, 40), Point(500.0, 9_000, 40), Point(1_000.0, 20_000, 40)]
    drawn = coverage_chart(points, [Mark(4.0, "boom")])
    assert ">5</text>" in drawn
    assert "1000" not in drawn
    assert "500" not in drawn

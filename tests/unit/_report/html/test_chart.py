"""The chart of coverage over time: SVG that runs nothing, small, and the same for the same run."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from ordeal._report.html.chart import POINTS_MAX, Mark, Point, coverage_chart, thinned, ticks

POINTS = [Point(0.1 * number, number, number) for number in range(1, 5_000)]


def test_it_is_small_and_runs_nothing() -> None:
    chart = coverage_chart(POINTS, [Mark(3.0, "<b>found</b>")], "name")
    assert chart.startswith("<svg")
    assert "<script" not in chart
    assert "<b>" not in chart
    assert len(chart) < 30_000
    assert chart == coverage_chart(POINTS, [Mark(3.0, "<b>found</b>")], "name")


def test_one_point_is_no_chart_and_without_the_library_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coverage_chart(POINTS[:1], [], "name") == ""
    monkeypatch.setitem(sys.modules, "pygal", None)
    assert coverage_chart(POINTS, [], "name") == ""


def test_points_are_thinned_to_what_an_eye_tells_apart() -> None:
    assert len(thinned(POINTS)) <= POINTS_MAX + 1
    assert thinned(POINTS)[-1] == POINTS[-1]
    assert thinned(POINTS[:5]) == POINTS[:5]


@pytest.mark.parametrize(
    ("most", "shown"),
    [(1, [0, 1]), (7, [0, 2, 4, 6, 8]), (215, [0, 50, 100, 150, 200, 250]), (5_000, range(0, 5_001, 1_000))],
)
def test_few_round_numbers_stand_beside_the_curve(most: int, shown: Sequence[int]) -> None:
    assert ticks(most) == list(shown)

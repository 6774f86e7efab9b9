"""How edges grew, kept in a few points by each member and put together by whoever looks."""

from __future__ import annotations

from ordeal._engine.parallel.fleet.growth import POINTS_MAX, Growth, edges_over_time


def test_a_member_keeps_a_few_points_with_the_last() -> None:
    growth = Growth()
    for second in range(1000):
        growth.add(float(second), 10 * second)
        growth.add(second + 0.5, 10 * second)  # nothing new
    points = str(growth).split()
    assert POINTS_MAX // 2 <= len(points) <= POINTS_MAX
    assert points[-1] == "999.0:9990"


def test_the_best_member_counts_at_each_moment() -> None:
    one = {"since": 100.0, "growth": "0.0:5 10.0:20"}
    later = {"since": 104.0, "growth": "1.0:15 6.0:30 9.0:31"}
    silent = {"since": 3.0}
    assert edges_over_time([one, later, silent]) == [(0.0, 5), (5.0, 15), (10.0, 30), (13.0, 31)]


def test_what_is_no_point_is_left_out() -> None:
    hostile = {"since": float("nan"), "growth": "x:1 3:x 1e9:4 nan:5 " + "9" * 400 + ":7 2.0:3"}
    assert edges_over_time([hostile]) == [(2.0, 3)]
    assert edges_over_time([{"since": 1.0, "growth": "1.0:2 " * 10_000}]) == [(1.0, 2)]
    assert edges_over_time([]) == []

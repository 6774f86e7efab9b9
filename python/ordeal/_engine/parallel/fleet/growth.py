"""How the edges of a fleet grew: each member keeps a few points in its record, and whoever looks puts them together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from ordeal._engine.parallel.fleet.board import Record, number_of, text_of

#: How many points a member keeps, and the name under which its record has them.
POINTS_MAX = 24
FIELD = "growth"
_POINT = re.compile(r"([0-9]{1,9}(?:\.[0-9])?):([0-9]{1,12})", re.ASCII)


class Growth:
    """The points of one member: when it had so many edges for the first time."""

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = []

    def add(self, seconds: float, edges: int) -> None:
        """Take a new number of edges. Where there are too many points, every second one goes, but never the last."""
        if self._points and edges <= self._points[-1][1]:
            return
        self._points.append((max(0.0, seconds), edges))
        if len(self._points) > POINTS_MAX:
            del self._points[-2::-2]

    def __str__(self) -> str:
        """Return the points as the text of a record."""
        return " ".join(f"{seconds:.1f}:{edges}" for seconds, edges in self._points)


def edges_over_time(records: Iterable[Record]) -> list[tuple[float, int]]:
    """Return when the best of all members had so many edges, in seconds since the first of them started.

    Records come from a store that others can write, so what is no point in them is left out.
    """
    started = [(number_of(record, "since"), record) for record in records if text_of(record, FIELD)]
    first = min((since for since, _ in started), default=0.0)
    points = sorted(
        (round(since - first + float(point[1]), 1), int(point[2]))
        for since, record in started
        for text in text_of(record, FIELD).split()[:POINTS_MAX]
        if (point := _POINT.fullmatch(text))
    )
    grown: list[tuple[float, int]] = []
    for seconds, at_once in groupby(points, key=lambda point: point[0]):
        edges = max(edges for _, edges in at_once)
        if not grown or edges > grown[-1][1]:
            grown.append((seconds, edges))
    return grown

"""Names how the cost of a call grows with its input: the curve that fits counts best, by least squares."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import msgspec

#: From the slowest to the fastest.
SHAPES: dict[str, Callable[[float], float]] = {
    "linear": lambda size: size,
    "n log n": lambda size: size * math.log2(size + 1),
    "quadratic": lambda size: size**2,
    "cubic": lambda size: size**3,
}
#: The fewest different sizes, and how much larger the largest must be than the smallest: by how many, and how many
#: times.
_SIZES_MIN, _RANGE_MIN, _TIMES_MIN = 6, 12, 3
#: The part of the differences between counts that a curve must explain.
_EXPLAINED_MIN = 0.9
#: How much better than the next slower curve a faster one must fit: branches bend the counts of a linear program, too.
_BETTER = 0.5


class Growth(msgspec.Struct, frozen=True):
    """How a cost grows, and with what: the name of an argument, or ``the state``; both empty where nothing fits."""

    name: str = ""
    of: str = ""


def growth(points: Mapping[str, Sequence[tuple[int, int]]]) -> Growth:
    """Return how costs grow with one of several sizes; ``points`` has pairs of size and cost by what the size is of."""
    fits = [(*best, Growth(best[1], of)) for of, pairs in points.items() if (best := _best(pairs)) is not None]
    return min(fits, key=lambda each: each[0])[2] if fits else Growth()


def _best(pairs: Iterable[tuple[int, int]]) -> tuple[float, str] | None:
    """Return the part of the differences that the best curve leaves unexplained, and its name."""
    costs = defaultdict[int, list[int]](list)
    for size, cost in pairs:
        costs[size].append(cost)
    least, most = min(costs, default=0), max(costs, default=0)
    if len(costs) < _SIZES_MIN or most - least < _RANGE_MIN or most < _TIMES_MIN * least:
        return None
    # One point for each size: otherwise the many small inputs would decide. The smallest size is subtracted: all sizes
    # have that part in common.
    sizes, means = [size - least for size in costs], [fmean(each) for each in costs.values()]
    left = {name: _unexplained([shape(size) for size in sizes], means) for name, shape in SHAPES.items()}
    name, *others = SHAPES
    for other in others:
        if left[other] < _BETTER * left[name]:
            name = other
    return (left[name], name) if left[name] <= 1 - _EXPLAINED_MIN else None


def _unexplained(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the part of the variance of ``ys`` that a rising line through ``xs`` leaves; 1 for none that rises."""
    mean_x, mean_y = fmean(xs), fmean(ys)
    spread = math.fsum((y - mean_y) ** 2 for y in ys)
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope /= math.fsum((x - mean_x) ** 2 for x in xs)
    if slope <= 0 or not spread:
        return 1.0
    return math.fsum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in zip(xs, ys, strict=True)) / spread

"""Fits the Universal Scaling Law to throughputs measured with different numbers of workers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from ordeal.errors import ConfigError

Regime = Literal["linear", "amdahl", "usl", "inconclusive"]

#: Below these a law counts as free of contention, and of coherence costs.
SIGMA_MIN = 0.01
KAPPA_MIN = 1e-4


class Interval(NamedTuple):
    """From ``low`` to ``high``, both included; ``high`` may be infinite."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Law:
    """The Universal Scaling Law: C(N) = N / (1 + sigma (N - 1) + kappa N (N - 1)).

    N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007. C(N) is the throughput of N workers relative to one.
    ``sigma`` (contention, 0 to 1) is the serialized share of the work; with ``kappa`` 0 this is Amdahl's law. ``kappa``
    (coherence, 0 or more) is the cost of keeping each pair of workers in step, so it makes a peak.
    """

    sigma: float
    kappa: float

    def capacity(self, workers: float) -> float:
        """Return C(N)."""
        return workers / (1 + self.sigma * (workers - 1) + self.kappa * workers * (workers - 1))

    @property
    def optimal_workers(self) -> float:
        """Where the capacity is highest, at least 1; infinite when it grows, or approaches its limit, for ever."""
        if self.sigma >= 1:
            return 1.0
        return math.inf if self.kappa == 0 else max(1.0, math.sqrt((1 - self.sigma) / self.kappa))

    @property
    def peak(self) -> float:
        """The highest capacity, or the limit that it approaches; infinite when there is none."""
        best = self.optimal_workers
        if math.isfinite(best):
            return self.capacity(best)
        return 1 / self.sigma if self.sigma else math.inf

    @property
    def regime(self) -> Regime:
        """What limits the capacity: nothing, contention, or contention and coherence."""
        if self.kappa >= KAPPA_MIN:
            return "usl"
        return "linear" if self.sigma < SIGMA_MIN else "amdahl"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The throughputs of ``workers`` workers, one for each trial, all above 0 and in the same unit."""

    workers: int
    throughputs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean throughput of the trials."""
        return math.fsum(self.throughputs) / len(self.throughputs)

    @property
    def spread(self) -> Interval:
        """The lowest and the highest throughput."""
        return Interval(min(self.throughputs), max(self.throughputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A law with how well it describes the measurements.

    ``single`` is the throughput of one worker by the fit; the measured one is as noisy as any other, so it is not a
    fixed point. ``rmse`` is in throughputs of one worker. ``residuals`` are measured / fitted - 1, one for each
    measurement.
    """

    law: Law
    single: float
    r_squared: float
    rmse: float
    residuals: tuple[float, ...]

    @property
    def largest_residual(self) -> float:
        """The absolute value of the residual farthest from 0."""
        return max(abs(residual) for residual in self.residuals)


class Doubt(Enum):
    """Why measurements are not enough to draw numbers from."""

    FEW_COUNTS = "few_worker_counts"
    LOW_R_SQUARED = "low_r_squared"
    LARGE_RESIDUAL = "large_residual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The analysis of measurements. ``fit`` is ``None`` below three worker counts; ``doubts`` make it inconclusive."""

    #: The conditions for drawing numbers from measurements.
    counts_min: ClassVar[int] = 3
    r_squared_min: ClassVar[float] = 0.90
    residual_max: ClassVar[float] = 0.20

    measurements: tuple[Measurement, ...]
    fit: Fit | None
    doubts: tuple[Doubt, ...]

    @property
    def law(self) -> Law | None:
        """The law, if the measurements support one."""
        return self.fit.law if self.fit is not None and not self.doubts else None

    @property
    def regime(self) -> Regime:
        """The regime of the law, or that it is inconclusive."""
        return "inconclusive" if self.law is None else self.law.regime

    def capacity(self, measurement: Measurement) -> float:
        """Return the measured throughput relative to the measured one of one worker."""
        return measurement.mean / self.measurements[0].mean


def analyse(measurements: Sequence[Measurement]) -> Analysis:
    """Fit the law, and decide whether it is reliable.

    Raises:
        ConfigError: the first measurement is not of one worker, the worker counts do not rise, or a throughput is not a
            number above 0.
    """
    counts = [measurement.workers for measurement in measurements]
    if counts[:1] != [1] or any(later <= earlier for earlier, later in pairwise(counts)):
        raise ConfigError(f"the worker counts are {counts}", hint="begin with 1 and let them rise, as in 1, 2, 4")
    for measurement in measurements:
        if not measurement.throughputs or not all(0 < rate < math.inf for rate in measurement.throughputs):
            raise ConfigError(
                f"the throughputs of {measurement.workers} workers are {list(measurement.throughputs)}",
                hint="give at least one number above 0",
            )
    if len(measurements) < Analysis.counts_min:
        return Analysis(measurements=tuple(measurements), fit=None, doubts=(Doubt.FEW_COUNTS,))
    fit = _fit(measurements)
    doubts = []
    # If throughput hardly changes, no variance is left to explain, and R^2 is low however well the law fits.
    if fit.r_squared < Analysis.r_squared_min and fit.largest_residual > 0.05:
        doubts.append(Doubt.LOW_R_SQUARED)
    if fit.largest_residual > Analysis.residual_max:
        doubts.append(Doubt.LARGE_RESIDUAL)
    return Analysis(measurements=tuple(measurements), fit=fit, doubts=tuple(doubts))


# The least squares. With X(N) = N C(N) the law is linear in a = 1 / X(1), b = a sigma and c = a kappa:
#
#     y = N / X = a + b (N - 1) + c N (N - 1)        a > 0, 0 <= b <= a, c >= 0
#
# y is the time that one unit of work takes one worker. Its error grows with it, so the weight of a measurement is 1 /
# y^2. Sums and solutions are rational numbers: with thousands of workers the columns differ so much that floats would
# lose the small coefficients, and a bound is then met exactly or not at all.

_Row = tuple[Fraction, ...]
_Columns = Callable[[Fraction], _Row]


class _Group(NamedTuple):
    """The trials of one worker count: their number, the mean of y, and the weight."""

    workers: Fraction
    trials: int
    mean: Fraction
    weight: Fraction


class _Face(NamedTuple):
    """A way to lie within or on the bounds: the remaining columns, and how they give a, b and c."""

    columns: _Columns
    spread: Callable[[_Row], _Row]


_ZERO = Fraction(0)
_FREE = _Face(lambda n: (Fraction(1), n - 1, n * (n - 1)), lambda k: k)
_FACES = (
    _FREE,
    _Face(lambda n: (Fraction(1), n - 1), lambda k: (k[0], k[1], _ZERO)),  # kappa is 0
    _Face(lambda n: (Fraction(1), n * (n - 1)), lambda k: (k[0], _ZERO, k[1])),  # sigma is 0
    _Face(lambda n: (n, n * (n - 1)), lambda k: (k[0], k[0], k[1])),  # sigma is 1
    _Face(lambda _: (Fraction(1),), lambda k: (k[0], _ZERO, _ZERO)),  # both are 0
    _Face(lambda n: (n,), lambda k: (k[0], k[0], _ZERO)),  # sigma is 1, kappa is 0
)


def _fit(measurements: Sequence[Measurement]) -> Fit:
    groups = list[_Group]()
    for measurement in measurements:
        workers = Fraction(measurement.workers)
        # Rounded to floats: exact quotients of many trials would only make the numbers long.
        times = [Fraction(float(workers / Fraction(rate))) for rate in measurement.throughputs]
        mean = Fraction(float(sum(times, _ZERO) / len(times)))
        groups.append(_Group(workers, len(times), mean, Fraction(float(1 / mean**2))))

    def cost(coefficients: _Row) -> Fraction:
        """Return the weighted squares between the groups and the law with these coefficients."""
        total = _ZERO
        for group in groups:
            expected = sum(map(operator.mul, _FREE.columns(group.workers), coefficients), _ZERO)
            total += group.trials * group.weight * (group.mean - expected) ** 2
        return total

    # The best point of a convex region is the best of those faces whose own best point lies in the region: try all six.
    candidates = [face.spread(_solve(groups, face.columns)) for face in _FACES]
    within = [(a, b, c) for a, b, c in candidates if a > 0 and 0 <= b <= a and c >= 0]
    a, b, c = min(within, key=cost)
    law, single = Law(float(b / a), float(c / a)), float(1 / a)
    expected = [single * law.capacity(measurement.workers) for measurement in measurements]
    errors = [measurement.mean - value for measurement, value in zip(measurements, expected, strict=True)]
    average = math.fsum(measurement.mean for measurement in measurements) / len(measurements)
    total = math.fsum((measurement.mean - average) ** 2 for measurement in measurements)
    left = math.fsum(error**2 for error in errors)
    return Fit(
        law=law,
        single=single,
        r_squared=1 - left / total if total else float(left == 0),  # the explained share of the variance
        rmse=math.sqrt(left / len(errors)) / single,
        residuals=tuple(error / value for error, value in zip(errors, expected, strict=True)),
    )


def _solve(groups: Sequence[_Group], columns: _Columns) -> _Row:
    """Return the weighted least squares of the columns, without bounds."""
    size = len(columns(Fraction(1)))
    rows = [[_ZERO] * (size + 1) for _ in range(size)]  # the normal equations, each with its right side
    for group in groups:
        known, weight = (*columns(group.workers), group.mean), group.trials * group.weight
        for i in range(size):
            rows[i] = [value + weight * known[i] * each for value, each in zip(rows[i], known, strict=True)]
    # Their matrix is symmetric and positive definite: none of its pivots is 0.
    for i in range(size):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(size):
            if j != i:
                rows[j] = [value - rows[j][i] * above for value, above in zip(rows[j], rows[i], strict=True)]
    return tuple(row[size] for row in rows)

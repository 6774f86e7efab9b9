"""The trials of a scaling benchmark: their number, their order, and their measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ordeal.config.options import Metric
from ordeal.scaling.law import Analysis, Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """The plan of a benchmark: up to ``max_workers`` workers, ``repeat`` rounds, ``seconds`` for each trial."""

    max_workers: int
    seconds: float
    metric: Metric
    repeat: int

    @property
    def worker_counts(self) -> tuple[int, ...]:
        """Return 1, 2, 4, 8 ..., and the maximum."""
        powers = [2**k for k in range(self.max_workers.bit_length()) if 2**k < self.max_workers]
        return (*powers, self.max_workers)

    @property
    def warm_up_s(self) -> float:
        """Seconds to explore before the first trial, which would otherwise pay alone for loading and caching."""
        return min(1.0, self.seconds)

    @property
    def total_s(self) -> float:
        """Seconds for everything."""
        return self.warm_up_s + len(self.worker_counts) * self.repeat * self.seconds

    def trials(self) -> Iterator[tuple[int, int]]:
        """Yield round and worker count of each trial.

        A round has all counts, and every other round has them in descending order: if the machine becomes slower or
        faster meanwhile, all counts are affected equally.
        """
        for number in range(1, self.repeat + 1):
            counts = self.worker_counts if number % 2 else self.worker_counts[::-1]
            yield from ((number, workers) for workers in counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTrial:
    """One exploration with ``workers`` workers, in round ``round`` from 1."""

    round: int
    workers: int
    runs: int
    steps: int
    edges: int
    seconds: float

    def throughput(self, metric: Metric) -> float:
        """Return what was done per second."""
        done = {"runs": self.runs, "steps": self.steps, "edges": self.edges}[metric]
        return done / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingResult:
    """The measurements of a scaling benchmark and their analysis."""

    test_class: str
    rng_seed: int
    cpus: int
    plan: TrialPlan
    trials: tuple[WorkerTrial, ...]
    analysis: Analysis
    interrupted: bool


def measurements_of(trials: Sequence[WorkerTrial], metric: Metric) -> list[Measurement]:
    """Group the trials by their worker counts, fewest first."""
    counts = sorted({trial.workers for trial in trials})
    rates = {count: [trial.throughput(metric) for trial in trials if trial.workers == count] for count in counts}
    return [Measurement(count, tuple(rates[count])) for count in counts]

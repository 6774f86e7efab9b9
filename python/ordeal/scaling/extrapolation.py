"""Extrapolates a fitted law to more workers than were measured, including the cost of a store shared by many hosts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ordeal.scaling.law import Fit, Interval

_WORKERS_FIRST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the calculation assumes besides the law. No benchmark measures it."""

    #: How often each worker syncs, up to how many workers: the more there are, the more seldom.
    sync_intervals_s: tuple[tuple[int, float], ...] = ((100, 1.0), (1_000, 5.0))
    sync_interval_max_s: float = 30.0
    #: Seconds to run again what another host found.
    import_s: float = 0.005
    entry_bytes: int = 1024
    corpus_entries: int = 10_000
    #: New entries per second for all hosts together: in the first minutes, and after hours.
    new_entries_early: float = 20.0
    new_entries_late: float = 0.1
    #: The maximum share of a worker's time for imports.
    import_share_max: float = 0.05
    #: How many syncs per second a store, a single process, can serve, and for how many connections.
    store_syncs: float = 5_780.0
    connections_max: int = 10_000
    #: Above this number of connections, this many workers share one.
    relay_workers: int = 100
    core_hour_usd: float = 0.04

    @property
    def import_share(self) -> float:
        """The share of a worker's time for imports in the first minutes, when it is highest."""
        return min(self.import_share_max, self.new_entries_early * self.import_s)

    def sync_interval_s(self, workers: int) -> float:
        """Return the seconds between two syncs of a worker."""
        fitting = (interval for most, interval in self.sync_intervals_s if workers <= most)
        return next(fitting, self.sync_interval_max_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What to expect of ``workers`` workers. None of these numbers is measured.

    ``capacity`` is the fitted law, so one pool of workers; ``capacity_interval`` is what the intervals of the fit
    allow. ``fleet_capacity`` is for ``hosts`` hosts, each like the measured one, that share through a store. Capacities
    are in throughputs of one worker.
    """

    workers: int
    capacity: float
    capacity_interval: Interval | None
    hosts: int
    fleet_capacity: float
    connections: int
    sync_interval_s: float
    store_load: float
    fan_out_bytes: float
    cold_start_bytes: float
    usd_per_hour: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Extrapolation:
    """Projections for rising numbers of workers. ``host_workers``, the workers of one host, is the most measured."""

    assumptions: Assumptions
    host_workers: int
    projections: tuple[Projection, ...]


def extrapolate(fit: Fit, host_workers: int, most: int, assumptions: Assumptions | None = None) -> Extrapolation:
    """Project the law to 10, 100, ... workers, and to ``most``."""
    chosen = Assumptions() if assumptions is None else assumptions
    projections = tuple(_project(fit, host_workers, workers, chosen) for workers in _steps(most))
    return Extrapolation(assumptions=chosen, host_workers=host_workers, projections=projections)


def _steps(most: int) -> Iterator[int]:
    workers = _WORKERS_FIRST
    while workers < most:
        yield workers
        workers *= 10
    yield most


def _project(fit: Fit, host_workers: int, workers: int, assumed: Assumptions) -> Projection:
    interval_s = assumed.sync_interval_s(workers)
    relayed = workers > assumed.connections_max
    connections = math.ceil(workers / assumed.relay_workers) if relayed else workers
    return Projection(
        workers=workers,
        capacity=fit.law.capacity(workers),
        capacity_interval=fit.capacity_interval(workers),
        hosts=math.ceil(workers / host_workers),
        fleet_capacity=_fleet_capacity(fit, host_workers, workers, assumed),
        connections=connections,
        sync_interval_s=interval_s,
        store_load=connections / interval_s / assumed.store_syncs,
        fan_out_bytes=connections * assumed.new_entries_early * assumed.entry_bytes,
        cold_start_bytes=float(connections * assumed.corpus_entries * assumed.entry_bytes),
        usd_per_hour=workers * assumed.core_hour_usd,
    )


def _fleet_capacity(fit: Fit, host_workers: int, workers: int, assumed: Assumptions) -> float:
    """Return the capacity of hosts side by side, which lose only time for imports; the last may not be full."""
    full, rest = divmod(workers, host_workers)
    capacity = full * fit.law.capacity(host_workers) + (fit.law.capacity(rest) if rest else 0.0)
    return capacity * (1 - assumed.import_share) if workers > host_workers else capacity

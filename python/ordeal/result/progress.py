"""How far an exploration has come, as whoever watches it is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShrinkSnapshot:
    """How far the shrinking of failure ``number`` of ``total`` has come, from ``steps_before`` to ``steps`` steps.

    ``elapsed`` is in seconds since the exploration began; ``candidates`` counts the traces that were tried.
    """

    elapsed: float
    number: int
    total: int
    steps_before: int
    steps: int
    candidates: int


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """How far an exploration has come, given to ``progress`` after each run. ``elapsed`` is in seconds."""

    elapsed: float
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints: int
    failures: int
    runs_per_second: float

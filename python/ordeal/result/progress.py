"""The progress of an exploration, for its observers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShrinkSnapshot:
    """The progress of shrinking failure ``number`` of ``total``, from ``steps_before`` to ``steps`` steps.

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
    """The progress of an exploration, passed to ``progress`` after each run. ``elapsed`` is in seconds."""

    elapsed: float
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints: int
    failures: int
    runs_per_second: float

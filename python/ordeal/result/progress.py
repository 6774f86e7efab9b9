"""The progress of an exploration, for its observers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShrinkSnapshot:
    """The progress of shrinking failure ``number`` of ``total``, from ``steps_before`` to ``steps`` steps.

    ``elapsed`` is in seconds since the exploration began; ``candidates`` counts the traces that were tried. With
    ``waits``, its last step is watched for up to so many seconds, to see whether it hangs. With ``comparing`` it is
    shrunk: other runs are compared with it, and the steps are 0.
    """

    elapsed: float
    number: int
    total: int
    steps_before: int
    steps: int
    candidates: int
    comparing: bool = False
    waits: float = 0.0


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """A failure that was found, and failed again from a fresh machine. Its trace has ``steps`` steps.

    It is not shrunk yet, unless it comes from a fleet.
    ``error`` is its type and message on one line. ``id`` and ``bucket`` name it; shrinking may show that it is the same
    as another one, or several.
    """

    id: str
    bucket: str
    error: str
    run_id: int
    steps: int


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """What a worker has done. ``ended`` counts its processes that ended, each of which has a successor."""

    runs: int
    steps: int
    ended: int


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """The progress of an exploration, passed to ``progress`` after each run. ``elapsed`` is in seconds.

    ``found`` are the failures so far, in the order in which they were found; it is the same object until there is
    another one. ``lines`` counts the lines of the target modules that runs reached, without those that an import runs,
    and ``next_run_max`` bounds the probability that the next run shows something new (95 %), None while too little is
    known. Both are counted now and then, and only where processes of their own explore, as are ``workers``, by number.
    """

    elapsed: float
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints: int
    failures: int
    runs_per_second: float
    found: tuple[FoundFailure, ...] = ()
    lines: int = 0
    next_run_max: float | None = None
    workers: tuple[WorkerProgress, ...] = ()

"""The values that an exploration hands back: its figures, its failures, and the snapshot behind a progress line."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from ordeal import reporting

if TYPE_CHECKING:
    from ordeal.properties import PropertyResult, ReliabilityCell
    from ordeal.trace_file import Trace

StoppedReason = Literal["time", "max_runs", "patience", "stuck", "interrupted", "exhausted", "limit"]
SnapshotKind = Literal["copy", "replay", "fork"]


class SeedStatus(Enum):
    """What the replay of a saved seed shows."""

    REPRODUCED = "reproduced"
    FAILS_DIFFERENTLY = "fails_differently"
    FIXED = "fixed"  # each of its steps ran with the recorded values, and nothing failed
    NO_LONGER_APPLIES = "no_longer_applies"  # it cannot run, or not with the recorded values: it says nothing
    UNREADABLE = "unreadable"

    @property
    def fails(self) -> bool:
        """Whether the run fails now, in the recorded way or in another."""
        return self in (SeedStatus.REPRODUCED, SeedStatus.FAILS_DIFFERENTLY)


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


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """What became of one saved seed when an exploration replayed it, before its first run.

    ``message`` is the failure as text, or why the seed does not apply or cannot be read; empty for a fixed one.
    """

    name: str
    path: str
    status: SeedStatus
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failure:
    """One distinct failure: all runs that failed in the same place with the same type of exception.

    ``step`` counts from one inside run ``run_id``, which is 0 for the replay of a saved seed. ``rule_log`` names the
    steps in order; ``trace`` replays them from a fresh machine, and ``program`` is the same as Python text.
    ``necessary_faults`` tells for each fault of the trace whether the failure needs it, and is ``None`` when that was
    not tried. ``bucket`` is what made failures count as the same one, ``count`` how many runs of the exploration met
    it. ``flaky`` means that replaying the trace did not always fail, ``flaky_reason`` what a fresh process showed of
    that, if it was asked; ``shrunk`` means that the trace was shrunk.
    ``trace_path`` is where the trace was saved, ``seed_path`` where it is kept as a seed, or ``None``.
    """

    error: BaseException
    step: int
    run_id: int
    active_faults: list[str]
    rule_log: list[str]
    trace: Trace | None = None
    necessary_faults: dict[str, bool] | None = None
    error_traceback: str = ""
    bucket: str = ""
    count: int = 1
    flaky: bool = False
    flaky_reason: str = ""
    shrunk: bool = False
    trace_path: str | None = None
    seed_path: str | None = None
    program: str = ""

    def __str__(self) -> str:
        return reporting.failure_text(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What an exploration has not seen yet, estimated from what single runs showed alone.

    ``runs`` are those of the sample and ``seen`` the ``what`` in it. ``next_run`` is the probability that one more run
    shows something new, ``next_run_max`` its upper bound at 95 %, and ``total`` how many there are at the least. All
    assume that the runs to come are like those of the sample: same machine, same options, no longer than they were.
    """

    what: Literal["edges", "features"]
    runs: int
    seen: int
    next_run: float
    next_run_max: float
    total: float

    @classmethod
    def of(cls, estimate: tuple[int, int, float, float, float] | None, edges: int) -> Discovery | None:
        """What a session says of it; ``edges`` is how many it saw, with those outside of the sample."""
        if estimate is None:
            return None
        runs, seen, next_run, next_run_max, total = estimate
        what: Literal["edges", "features"] = "edges" if edges else "features"
        return cls(what=what, runs=runs, seen=seen, next_run=next_run, next_run_max=next_run_max, total=total)

    @property
    def unseen(self) -> int:
        """How many there are at the least beside those of the sample."""
        return round(self.total) - self.seen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExplorationResult:
    """What one exploration did and found.

    ``checkpoints_saved`` counts every checkpoint ever saved, also those evicted since. ``rejected_runs`` ended in a
    failed ``assume()``. ``unconfirmed`` counts failures that did not fail again from a fresh machine. ``seed_replays``
    tells what became of the saved seeds of the class. ``properties`` and ``reliability_cells`` are what the runs saw of
    the assertions in the program and the machine; seeds, confirmations and shrinking are not counted. ``notes`` are
    things the user should know, one sentence each. ``coverage_gaps`` holds a dict ``file``, ``line``, ``code`` for each
    branch statement of the target modules that no run reached; another seed or a longer exploration may still reach it.
    ``discovery`` estimates what is left to find, or is ``None`` where too few runs say something about it.
    ``run_kinds`` counts the runs by where they started, by how their swarm configuration was drawn, and by length.
    """

    test_class: str
    rng_seed: int
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints_saved: int
    duration_seconds: float
    failures: list[Failure] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    seed_replays: list[SeedOutcome] = field(default_factory=list)
    properties: list[PropertyResult] = field(default_factory=list)
    reliability_cells: list[ReliabilityCell] = field(default_factory=list)
    coverage_gaps: list[dict[str, Any]] = field(default_factory=list)
    lines_covered: int = 0
    lines_total: int = 0
    stopped_reason: StoppedReason = "time"
    snapshot_kind: SnapshotKind = "copy"
    swarm_summary: str = ""
    run_kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    discovery: Discovery | None = None
    rejected_runs: int = 0
    unconfirmed: int = 0
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return the result as a few lines of text, without a newline at the end."""
        return reporting.summary_text(self)

    def reachability_suggestions(self) -> list[dict[str, Any]]:
        """Return, for each coverage gap, the ``reachable()`` call that would watch it.

        Each dict has ``file``, ``line``, ``code``, ``suggestion`` (Python source), ``confidence`` and ``runs``. The
        confidence is always ``"not_reached"``: no number of runs shows that a branch cannot be reached.
        """
        return [
            {
                "file": gap["file"],
                "line": gap["line"],
                "code": gap["code"],
                "suggestion": reporting.reachable_call(gap),
                "confidence": "not_reached",
                "runs": self.total_runs,
            }
            for gap in self.coverage_gaps
        ]

"""The report as JSON, for its schema: what ``result.json`` holds, which is also what ``--json`` prints."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import msgspec

from ordeal._base.json_fields import Count, Seconds
from ordeal._base.property_tracker import PropertyResult, ReliabilityCell
from ordeal._engine.runs.events import AnyEvent, RunStatus
from ordeal.config.schema import config_schema
from ordeal.result.parts import FailurePlace, FaultUse, Inconclusive, KnownFailure, RuleUse, SeedOutcome

Ranges = Annotated[str, msgspec.Meta(pattern=r"^(\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*)?$")]


class ReportedFailure(msgspec.Struct, kw_only=True):
    """A failure."""

    id: str
    error_type: str
    error_message: str
    step: Count
    run_id: Count
    bucket: str
    place: FailurePlace | None
    broken_by: list[str]
    count: Count
    flaky: bool
    flaky_reason: str
    shrunk: bool
    weights: dict[str, int]
    active_faults: list[str]
    struck: dict[str, int] | None = None
    necessary_faults: dict[str, bool] | None
    rule_log: list[str]
    trace_steps: int | None
    trace_path: str | None
    seed_path: str | None
    program: str


class ReportedKnown(KnownFailure, frozen=True, kw_only=True):
    """A failure that the settings declare as known, by the ``entry`` that names it."""

    id: str


class Gap(msgspec.Struct, kw_only=True):
    """A branch that no run reached."""

    file: str
    line: int
    code: str


class Behavior(msgspec.Struct, kw_only=True):
    """What ran of the target modules. The values of ``covered_lines`` are ranges: ``3,5-7``."""

    lines_covered: Count
    lines_total: Count
    missed_lines: dict[str, list[int]]
    covered_lines: dict[str, Ranges]
    coverage_gaps: list[Gap]


class SwarmSummary(msgspec.Struct, kw_only=True):
    """How the runs got their swarm configurations, as text."""

    summary: str


class Telemetry(msgspec.Struct, kw_only=True):
    """How the search went: its runs by kind, and what they covered."""

    swarm: SwarmSummary
    runs: dict[str, dict[str, int]]
    behavior: Behavior


class ReportedDiscovery(msgspec.Struct, kw_only=True):
    """An estimate of what is left to find."""

    what: str
    runs: Count
    seen: Count
    next_run: float
    next_run_max: float
    total: float
    unseen: int


class Timing(msgspec.Struct, kw_only=True):
    """What a clock measured; all else is the same for the same seed, code and number of runs."""

    duration_seconds: Seconds
    runs_per_second: Seconds


class ReportedResult(msgspec.Struct, kw_only=True):
    """The result of one class."""

    test_class: str
    rng_seed: int
    total_runs: Count
    total_steps: Count
    unique_edges: Count
    checkpoints: Count
    checkpoints_saved: Count
    rejected_runs: Count
    unconfirmed: Count
    inconclusive: Inconclusive | None
    stopped_reason: str
    target_modules: list[str] | None
    imported_modules: list[str]
    snapshot_kind: str
    discovery: ReportedDiscovery | None
    telemetry: Telemetry
    seed_replays: list[SeedOutcome]
    properties: list[PropertyResult]
    reliability_cells: list[ReliabilityCell]
    faults: list[FaultUse]
    rules: list[RuleUse] = []
    notes: list[str]
    failures: list[ReportedFailure]
    known: list[ReportedKnown]
    timing: Timing


class ReportDocument(msgspec.Struct, kw_only=True):
    """A report: the options of the session, and a result for each class."""

    schema_version: int
    results: list[ReportedResult]
    options: dict[str, Any] = {}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by their names in the reference."""
    kinds: dict[str, Any] = {"event": AnyEvent, "report": ReportDocument, "status": RunStatus}
    made = {"config": config_schema()}
    for name, kind in kinds.items():
        made[name] = msgspec.json.decode(
            msgspec.json.encode(msgspec.json.schema(kind))
        )  # with lists in place of tuples
        for each in made[name]["$defs"].values():
            if "description" in each:
                each["description"] = cleandoc(each["description"])  # Python 3.12 leaves docstrings indented
    return made

"""The report as JSON, for its schema: what ``result.json`` holds, which is also what ``--json`` prints."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any, Literal

import msgspec

from ordeal._engine.runs.events import AnyEvent, Count, RunStatus, Seconds
from ordeal.config.schema import config_schema

Ranges = Annotated[str, msgspec.Meta(pattern=r"^(\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*)?$")]
Status = Literal["PASS", "FAIL", "NOT EXERCISED"]


class Line(msgspec.Struct, kw_only=True):
    """A line of a source file."""

    file: str
    line: int
    function: str
    code: str


class Place(msgspec.Struct, kw_only=True):
    """Where a failure happened: ``at`` is in the machine, ``raised_at`` beyond it."""

    kind: str
    name: str
    at: Line
    raised_at: Line | None
    asserted: list[str]


class ReportedFailure(msgspec.Struct, kw_only=True):
    """A failure."""

    id: str
    error_type: str
    error_message: str
    step: Count
    run_id: Count
    bucket: str
    place: Place | None
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


class ReportedKnown(msgspec.Struct, kw_only=True):
    """A failure that the settings declare as known, by the ``entry`` that names it."""

    entry: str
    id: str
    bucket: str
    error_type: str
    error_message: str
    count: Count


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


class ReportedSeed(msgspec.Struct, kw_only=True):
    """A saved failure that was replayed."""

    name: str
    path: str
    status: str
    message: str


class ReportedProperty(msgspec.Struct, kw_only=True):
    """A property of the program or the machine."""

    name: str
    type: str
    hits: Count
    passes: Count
    failures: Count
    status: Status
    evidence_status: Status
    summary: str
    details: str
    first_run: int | None = None


class Cell(msgspec.Struct, kw_only=True):
    """A property while one operation met one fault."""

    operation: str
    fault: str
    name: str
    type: str
    hits: Count
    passes: Count
    failures: Count
    status: Status


class ReportedFault(msgspec.Struct, kw_only=True):
    """In how many runs a fault was on, how many calls met it, and how many it changed."""

    name: str
    runs: Count
    calls: Count
    hits: Count


class RuleCell(msgspec.Struct, kw_only=True):
    """How many steps of a rule had a fault on, or none where ``fault`` is null, and how many of these failed."""

    fault: str | None
    steps: Count
    failures: Count


class ReportedRule(msgspec.Struct, kw_only=True):
    """What a rule did without a fault and under each."""

    name: str
    cells: list[RuleCell]


class ReportedDiscovery(msgspec.Struct, kw_only=True):
    """An estimate of what is left to find."""

    what: str
    runs: Count
    seen: Count
    next_run: float
    next_run_max: float
    total: float
    unseen: int


class ReportedInconclusive(msgspec.Struct, kw_only=True):
    """Why a result without failures shows nothing."""

    reason: str
    hint: str


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
    inconclusive: ReportedInconclusive | None
    stopped_reason: str
    target_modules: list[str] | None
    imported_modules: list[str]
    snapshot_kind: str
    discovery: ReportedDiscovery | None
    telemetry: Telemetry
    seed_replays: list[ReportedSeed]
    properties: list[ReportedProperty]
    reliability_cells: list[Cell]
    faults: list[ReportedFault]
    rules: list[ReportedRule] = []
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
        made[name] = msgspec.json.schema(kind)
        for each in made[name]["$defs"].values():
            if "description" in each:
                each["description"] = cleandoc(each["description"])  # Python 3.12 leaves docstrings indented
    return made

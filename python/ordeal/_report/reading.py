"""Reads the JSON report of an earlier exploration from a file, which may hold anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ordeal._engine.formatting import JSON_SCHEMA_VERSION
from ordeal._engine.isolation.regular_file import read_regular
from ordeal.errors import ConfigError

_BYTES_MAX = 1 << 28
_Ranges = Annotated[str, msgspec.Meta(pattern=r"^(\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*)?$")]


class _CodeLine(msgspec.Struct):
    file: str
    line: int
    function: str = ""
    code: str = ""


class _Place(msgspec.Struct):
    kind: str
    at: _CodeLine
    raised_at: _CodeLine | None = None
    asserted: list[str] = []


class _Finding(msgspec.Struct):
    error_type: str
    error_message: str = ""
    id: str = ""
    bucket: str = ""
    run_id: int = 0
    count: int = 0
    flaky: bool = False
    flaky_reason: str = ""
    program: str = ""
    place: _Place | None = None
    rule_log: list[str] = []
    broken_by: list[str] = []
    active_faults: list[str] = []
    necessary_faults: dict[str, bool] | None = None
    trace_steps: int | None = None
    trace_path: str | None = None
    seed_path: str | None = None


class _Behavior(msgspec.Struct):
    lines_covered: int = 0
    lines_total: int = 0
    missed_lines: dict[str, list[int]] = {}
    covered_lines: dict[str, _Ranges] = {}
    coverage_gaps: list[dict[str, str | int]] = []


class _Telemetry(msgspec.Struct):
    behavior: _Behavior = msgspec.field(default_factory=_Behavior)


class _Timing(msgspec.Struct):
    duration_seconds: float = 0.0


class _Result(msgspec.Struct):
    test_class: str
    rng_seed: int = 0
    total_runs: int = 0
    total_steps: int = 0
    unique_edges: int = 0
    failures: list[_Finding] = []
    seed_replays: list[dict[str, str]] = []
    known: list[dict[str, str | int]] = []
    notes: list[str] = []
    inconclusive: dict[str, str] | None = None
    telemetry: _Telemetry = msgspec.field(default_factory=_Telemetry)
    timing: _Timing = msgspec.field(default_factory=_Timing)


class _Document(msgspec.Struct):
    schema_version: int
    results: list[_Result]


def read_document(path: Path) -> dict[str, Any]:
    """Return the document that a file holds.

    Raises:
        ConfigError: the file cannot be read, or is no JSON report of this version.
    """
    hint = "name a file that `ordeal explore --json` or `--report json` wrote"
    try:
        data = read_regular(path, _BYTES_MAX)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"cannot read the report `{path}`: {reason}", hint=hint) from None
    if len(data) > _BYTES_MAX:
        raise ConfigError(f"the report `{path}` is larger than {_BYTES_MAX} bytes", hint=hint)
    try:
        # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
        document: dict[str, Any] = json.loads(data)
        checked = msgspec.convert(document, _Document)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise ConfigError(f"`{path}` is no JSON report of ordeal: {reason}", hint=hint) from None
    if checked.schema_version != JSON_SCHEMA_VERSION:
        raise ConfigError(f"`{path}` has schema version {checked.schema_version}", hint="explore again")
    return document

"""``--report sarif``: SARIF 2.1.0, which code scanning and editors show: a result for each finding, with its steps."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

import ordeal._native as _native
from ordeal._base.regular_file import read_whole
from ordeal._report.formats.document import (
    Finding,
    Result,
    contained,
    details,
    findings_of,
    fingerprint,
    headline,
    id_of,
    line,
    own_line,
    replay,
    save,
    status_of,
    steps_of,
)

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: GitHub shows no more.
RESULTS_MAX = 5_000
_STEPS_MAX = 1_000
_SOURCE_BYTES_MAX = 1 << 20
_KINDS = {
    "rule": "A rule of the machine failed",
    "initialize": "The first step of the machine failed",
    "invariant": "An invariant does not hold after a sequence of steps",
    "teardown": "The end of a run failed",
    "constructor": "The machine could not be made",
    "other": "A sequence of steps fails",
}


class _Struct(msgspec.Struct, omit_defaults=True, rename="camel"):
    pass


class _Message(_Struct):
    text: str


class _ArtifactLocation(_Struct):
    uri: str
    uri_base_id: str = ""


class _LineRegion(_Struct):
    start_line: int


class _PhysicalLocation(_Struct):
    artifact_location: _ArtifactLocation
    region: _LineRegion


class _Location(_Struct):
    physical_location: _PhysicalLocation | None = None
    message: _Message | None = None


class _ThreadFlowLocation(_Struct):
    location: _Location


class _ThreadFlow(_Struct):
    locations: list[_ThreadFlowLocation]


class _CodeFlow(_Struct):
    thread_flows: list[_ThreadFlow]


class _Result(_Struct):
    rule_id: str
    message: _Message
    rule_index: int | None = None
    level: str | None = None
    locations: list[_Location] = []
    partial_fingerprints: dict[str, str] = {}
    code_flows: list[_CodeFlow] = []
    baseline_state: str | None = None
    properties: dict[str, Any] = {}


class _ToolRule(_Struct):
    id: str
    name: str
    short_description: _Message


class _ToolDriver(_Struct):
    name: str
    version: str
    rules: list[_ToolRule]


class _Tool(_Struct):
    driver: _ToolDriver


class _Run(_Struct):
    tool: _Tool
    column_kind: str = "unicodeCodePoints"
    results: list[_Result] | None = None


class _Log(msgspec.Struct):
    schema: str = msgspec.field(name="$schema")
    version: str
    runs: list[_Run]


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``ordeal.sarif``."""
    rules = [
        _ToolRule(id=f"ordeal/{kind}", name=kind, short_description=_Message(text=_KINDS[kind])) for kind in _KINDS
    ]
    lines = _RuleLines()
    results = [_result(result, finding, lines) for result, finding in list(findings_of(document))[:RESULTS_MAX]]
    run = _Run(tool=_Tool(driver=_ToolDriver(name="ordeal", version=_native.__version__, rules=rules)), results=results)
    log = _Log(schema=SCHEMA, version="2.1.0", runs=[run])
    return save(folder, "ordeal.sarif", msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n")


def _result(result: Result, finding: Finding, lines: _RuleLines) -> _Result:
    kind = str((finding.get("place") or {}).get("kind", "other"))
    kind = kind if kind in _KINDS else "other"
    at = own_line(finding)
    told = [headline(finding), *details(finding), replay(finding)]
    return _Result(
        rule_id=f"ordeal/{kind}",
        rule_index=list(_KINDS).index(kind),
        level="error",
        message=_Message(text="\n".join(filter(None, told))),
        locations=[] if at is None else [_location(str(at["file"]), at["line"])],
        partial_fingerprints={"ordealBucket/v1": fingerprint(finding)},
        code_flows=_code_flows(result, finding, lines),
        baseline_state="unchanged" if status_of(finding) == "known" else "new",
        properties={
            "id": id_of(finding),
            "testClass": line(result["test_class"]),
            "flaky": bool(finding.get("flaky")),
            "program": contained(finding.get("program", "")),
        },
    )


def _location(file: str, number: object, message: str = "") -> _Location:
    start = number if isinstance(number, int) and number > 0 else 1
    place = _PhysicalLocation(artifact_location=_ArtifactLocation(uri=_uri(file)), region=_LineRegion(start_line=start))
    return _Location(physical_location=place, message=_Message(text=message) if message else None)


def _uri(path: str) -> str:
    """Return a path as a URI, relative if the path is."""
    quoted = quote(path.replace("\\", "/").encode("utf-8", "backslashreplace"))
    return f"file://{quoted}" if quoted.startswith("/") else quoted


def _code_flows(result: Result, finding: Finding, lines: _RuleLines) -> list[_CodeFlow]:
    """Return the steps as the locations of one flow, each at the rule's ``def`` as far as that is found."""
    at = (finding.get("place") or {}).get("at")
    if not at:
        return []
    file = str(at["file"])
    defined = lines.of(file, str(result["test_class"]).partition(":")[2])
    steps = steps_of(finding)[:_STEPS_MAX]
    places = [
        _location(file, defined.get(name.partition("(")[0], at["line"]), f"{number}. {name}")
        for number, name in enumerate(steps, start=1)
    ]
    places.append(_location(file, at["line"], headline(finding)))
    flow = _ThreadFlow(locations=[_ThreadFlowLocation(location=place) for place in places])
    return [_CodeFlow(thread_flows=[flow])]


class _RuleLines:
    """Where the rules of machines are defined, read from their source without running it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, int]] = {}

    def of(self, file: str, class_name: str) -> dict[str, int]:
        """Return the lines of the methods of a class by their names; nothing for a file that cannot be read."""
        key = (file, class_name)
        if key not in self._known:
            self._known[key] = _methods(file, class_name)
        return self._known[key]


def _methods(file: str, class_name: str) -> dict[str, int]:
    try:
        tree = ast.parse(read_whole(file, _SOURCE_BYTES_MAX))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    body: list[ast.stmt] = tree.body
    for name in class_name.split("."):
        body = next((each.body for each in body if isinstance(each, ast.ClassDef) and each.name == name), [])
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name: each.lineno for each in body if isinstance(each, kinds)}

"""``--report sarif``: SARIF 2.1.0, which code scanning and editors show: a result for each finding, with its steps."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
_KINDS = {
    "rule": "A rule of the machine failed",
    "initialize": "The first step of the machine failed",
    "invariant": "An invariant does not hold after a sequence of steps",
    "teardown": "The end of a run failed",
    "constructor": "The machine could not be made",
    "other": "A sequence of steps fails",
}
#: Where the methods of a class are defined, by the file and the name of the class.
type _RuleLines = Callable[[str, str], dict[str, int]]


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``ordeal.sarif``."""
    rules = [
        {"id": f"ordeal/{kind}", "name": kind, "shortDescription": {"text": text}} for kind, text in _KINDS.items()
    ]
    rule_lines = cache(_rule_lines)
    results = [_result(result, finding, rule_lines) for result, finding in islice(findings_of(document), RESULTS_MAX)]
    return save(folder, "ordeal.sarif", json.dumps(sarif_log(rules, results), indent=2) + "\n")


def sarif_log(rules: Sequence[Mapping[str, Any]], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a log of one run."""
    driver = {"name": "ordeal", "version": _native.__version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(result: Result, finding: Finding, rule_lines: _RuleLines) -> dict[str, Any]:
    kind = str((finding.get("place") or {}).get("kind", "other"))
    kind = kind if kind in _KINDS else "other"
    at = own_line(finding)
    shown = [headline(finding), *details(finding), replay(finding)]
    return {
        "ruleId": f"ordeal/{kind}",
        "ruleIndex": list(_KINDS).index(kind),
        "level": "error",
        "message": {"text": "\n".join(filter(None, shown))},
        "locations": [] if at is None else [location(str(at["file"]), at["line"])],
        "partialFingerprints": {"ordealBucket/v1": fingerprint(finding)},
        "codeFlows": _code_flows(result, finding, rule_lines),
        "baselineState": "unchanged" if status_of(finding) == "known" else "new",
        "properties": {
            "id": id_of(finding),
            "testClass": line(result["test_class"]),
            "flaky": bool(finding.get("flaky")),
            "program": contained(finding.get("program", "")),
        },
    }


def location(file: str, number: object) -> dict[str, Any]:
    """Return a line of a file; the first, where the line is not known."""
    start = number if isinstance(number, int) and number > 0 else 1
    quoted = quote(file.replace("\\", "/").encode("utf-8", "backslashreplace"))
    uri = f"file://{quoted}" if quoted.startswith("/") else quoted
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": start}}}


def _code_flows(result: Result, finding: Finding, rule_lines: _RuleLines) -> list[dict[str, Any]]:
    """Return the steps as the locations of one flow, each at the rule's ``def`` as far as that is found."""
    at = (finding.get("place") or {}).get("at")
    if not at:
        return []
    file = str(at["file"])
    defined = rule_lines(file, str(result["test_class"]).partition(":")[2])
    places = [
        (defined.get(name.partition("(")[0], at["line"]), f"{number}. {name}")
        for number, name in enumerate(steps_of(finding)[:1_000], start=1)
    ]
    places.append((at["line"], headline(finding)))
    locations = [{"location": {**location(file, number), "message": {"text": text}}} for number, text in places]
    return [{"threadFlows": [{"locations": locations}]}]


def _rule_lines(file: str, class_name: str) -> dict[str, int]:
    """Return the lines of the methods of a class by their names; nothing for a file that cannot be read."""
    try:
        tree = ast.parse(read_whole(file))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    body: list[ast.stmt] = tree.body
    for name in class_name.split("."):
        body = next((each.body for each in body if isinstance(each, ast.ClassDef) and each.name == name), [])
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name: each.lineno for each in body if isinstance(each, kinds)}

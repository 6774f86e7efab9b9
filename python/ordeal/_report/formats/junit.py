"""``--report junit``: JUnit's XML, as Jenkins, GitLab and most other services of CI read it.

Each class is a suite. A case ``explored`` passes with the figures of the search, each finding is a case that fails, and
each saved failure that passes now is a case that passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from ordeal._base.limits import LINE_CHARS_MAX
from ordeal._report.formats.document import (
    Result,
    contained,
    details,
    figures,
    headline,
    id_of,
    junit_text,
    line,
    replay,
    results_of,
    status_of,
)
from ordeal._report.formats.document import save as save_file


def write(document: Mapping[str, Any], folder: Path, _run: Path | None) -> Path:
    """Write ``junit.xml``."""
    report = JUnitXml("ordeal")
    for result in results_of(document):
        suite = TestSuite(line(result["test_class"], LINE_CHARS_MAX))
        suite.add_property("seed", line(result.get("rng_seed", "")))
        for finding in result.get("failures", ()):
            suite.add_property(f"finding {id_of(finding)}", status_of(finding))
        for case in _cases(result):
            suite.add_testcase(case)
        suite.update_statistics()
        report.add_testsuite(suite)
    return save_file(folder, "junit.xml", junit_text(report))


def _cases(result: Result) -> Iterator[TestCase]:
    yield _explored(result)
    for finding in result.get("failures", ()):
        case = _case(result, f"{id_of(finding)} {headline(finding)}".strip())
        failure = Failure(headline(finding), line(finding.get("error_type") or "failure", LINE_CHARS_MAX))
        message = contained(finding.get("error_message") or "")
        failure.text = "\n".join(filter(None, [message, *details(finding), replay(finding)]))
        case.result = [failure]
        case.system_out = contained(finding.get("program", ""))
        yield case
    shown = {finding.get("seed_path") for finding in result.get("failures", ())}
    for seed in result.get("seed_replays", ()):
        if seed.get("path") not in shown:
            yield _seed(result, seed)


def _case(result: Result, name: str) -> TestCase:
    return TestCase(name, classname=line(result["test_class"], LINE_CHARS_MAX), time=0)


def _explored(result: Result) -> TestCase:
    case = _case(result, "explored")
    case.time = (result.get("timing") or {}).get("duration_seconds", 0)
    described = [figures(result), *(line(note) for note in result.get("notes", ()))]
    case.system_out = "\n".join(described)
    inconclusive = result.get("inconclusive")
    if inconclusive:
        error = Error(line(inconclusive.get("reason", "")), "Inconclusive")
        error.text = contained(inconclusive.get("hint", ""))
        case.result = [error]
    return case


def _seed(result: Result, seed: Mapping[str, Any]) -> TestCase:
    case = _case(result, f"saved failure {line(seed.get('name', ''), LINE_CHARS_MAX)}")
    status, message = line(seed.get("status", "")), contained(seed.get("message") or "")
    if status in ("reproduced", "fails_differently"):
        failure = Failure(message.partition("\n")[0], status)
        failure.text = message
        case.result = [failure]
    else:
        case.system_out = f"{status} {message}".strip()
    return case

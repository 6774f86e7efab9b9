"""All formats of a report: each result that there may be gives a valid file, whatever the texts of the program are."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from ordeal._report.formats import recognised, write_report
from ordeal.config.options import FORMATS
from ordeal.errors import ConfigError

from ...samples.documents import HOSTILE, make_document

#: What the formats need that others may not have installed.
PACKAGES = {"coverage": "coverage", "junit": "junitparser"}
OWN = [name for name in FORMATS if name != "html"]


def written(name: str, document: dict[str, Any], folder: Path) -> str:
    return write_report(name, document, folder).read_bytes().decode("utf-8")


def jenkins_faults(root: ET.Element) -> list[str]:
    """What the schema junit-10 of Jenkins' xunit plugin has no place for: attributes, children, kinds of times."""
    attributes = {
        "testsuites": "name time tests failures errors",
        "testsuite": "name tests failures errors group time skipped timestamp hostname id package file log url",
        "testcase": "name time classname group",
        "failure": "type message",
        "error": "type message",
        "skipped": "type message",
        "properties": "",
        "property": "name value",
        "system-out": "",
        "system-err": "",
    }
    children = {
        "testsuites": "testsuite",
        "testsuite": "testsuite properties testcase system-out system-err",
        "testcase": "skipped error failure system-out system-err",
        "properties": "property",
    }
    required = {"testsuite": "name tests failures errors", "testcase": "name", "property": "name value"}
    faults = []
    for element in root.iter():
        name = element.tag
        faults += [f"{name}.{each}" for each in set(element.attrib) - set(attributes[name].split())]
        faults += [f"{name}.{each} missing" for each in set(required.get(name, "").split()) - set(element.attrib)]
        faults += [f"{name}/{each.tag}" for each in element if each.tag not in children.get(name, "").split()]
        if name in ("testsuite", "testsuites") and not re.fullmatch(r"[0-9]*(\.[0-9]*)?", element.get("time", "")):
            faults.append(f"time {element.get('time')}")
    return faults


STRING = {"type": "string"}
MESSAGE = {"type": "object", "required": ["text"], "additionalProperties": False, "properties": {"text": STRING}}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["physicalLocation"],
    "properties": {
        "message": MESSAGE,
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9%._~/:-]*$"}},
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
    },
}
#: The part of the OASIS schema of SARIF 2.1.0 that is used, written from the specification.
SARIF = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {"driver": {"type": "object", "required": ["name", "version", "rules"]}},
                    },
                    "results": {
                        "type": "array",
                        "maxItems": 5000,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["message", "ruleId"],
                            "properties": {
                                "ruleId": STRING,
                                "ruleIndex": {"type": "integer", "minimum": 0, "maximum": 5},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": MESSAGE,
                                "locations": {"type": "array", "items": LOCATION},
                                "partialFingerprints": {"type": "object", "additionalProperties": STRING},
                                "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
                                "properties": {"type": "object"},
                                "codeFlows": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["threadFlows"],
                                        "additionalProperties": False,
                                        "properties": {
                                            "threadFlows": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "required": ["locations"],
                                                    "additionalProperties": False,
                                                    "properties": {
                                                        "locations": {
                                                            "type": "array",
                                                            "minItems": 1,
                                                            "items": {
                                                                "type": "object",
                                                                "additionalProperties": False,
                                                                "properties": {"location": LOCATION},
                                                            },
                                                        }
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
#: What Tyche requires of a line.
OBSERVATION = {
    "oneOf": [
        {
            "required": ["type", "run_start", "property", "status", "status_reason", "representation", "features"],
            "properties": {
                "type": {"const": "test_case"},
                "run_start": {"type": "number"},
                "property": STRING,
                "status": {"enum": ["passed", "failed", "gave_up"]},
                "status_reason": STRING,
                "representation": STRING,
                "how_generated": STRING,
                "features": {"type": "object"},
                "coverage": {
                    "type": ["object", "null"],
                    "additionalProperties": {"type": "array", "items": {"type": "number"}},
                },
            },
        },
        {
            "required": ["type", "run_start", "property", "title", "content"],
            "properties": {"type": {"enum": ["info", "alert"]}, "title": STRING, "content": STRING},
        },
    ]
}
VALIDATORS = {
    name: jsonschema.Draft202012Validator(schema) for name, schema in (("sarif", SARIF), ("observe", OBSERVATION))
}


def assert_valid(name: str, text: str, document: dict[str, Any]) -> None:
    if name in ("ndjson", "observe"):
        lines = [json.loads(each) for each in text.split("\n")[:-1]]
        for each in lines if name == "observe" else ():
            VALIDATORS[name].validate(each)
        if name == "ndjson":
            assert [lines[0]["type"], lines[-1]["type"]] == ["session", "finished"]
            assert lines[-1]["findings"] == sum(each["type"] == "finding" for each in lines)
    elif name == "json":
        assert json.loads(text) == document
    elif name == "sarif":
        VALIDATORS[name].validate(json.loads(text))
    elif name == "junit":
        root = ET.fromstring(text)
        assert jenkins_faults(root) == []
        failing = sum(len(result["failures"]) for result in document["results"])
        assert len(root.findall("testsuite")) == len(document["results"])
        assert int(root.get("failures", "-1")) >= failing
    elif name == "github":
        for each in text.split("\n")[:-1]:
            assert re.fullmatch(r"::(error|warning) [^:\n]*::[^\n]*", each)
        assert len(re.findall("^::error ", text, re.MULTILINE)) <= 10
    elif name == "md":
        assert len(text.encode()) <= 1_000_000


@pytest.mark.parametrize("name", [name for name in OWN if name != "coverage"])
@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(1000), marks=pytest.mark.nightly)], ids=["40", "1000"])
def test_every_document_gives_a_valid_file(name: str, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        document = json.loads(json.dumps(make_document(seed)))
        text = written(name, document, tmp_path)
        assert_valid(name, text, document)
        # No text of the program moves the cursor of a terminal that shows the file, or is not a character.
        assert text.translate({10: None, 9: None}).isprintable()


@pytest.mark.parametrize("name", ["junit", "md", "sarif", "observe"])
def test_a_text_without_bounds_is_cut(name: str, tmp_path: Path) -> None:
    document = make_document(3)
    document["results"] = [{"test_class": "a:B", "failures": [{"error_type": "E", "program": "x" * 10**7}]}]
    assert len(written(name, document, tmp_path)) < 200_000


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_a_package_that_is_missing_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"ordeal._report.formats.{name}", raising=False)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(ConfigError, match=f"`{name}` needs the package `{PACKAGES[name]}`") as caught:
        write_report(name, {"results": []}, tmp_path)
    assert caught.value.hint == f"`pip install {PACKAGES[name]}`"


def test_a_service_that_shows_reports_is_recognised() -> None:
    assert recognised({"GITHUB_ACTIONS": "true"}) == ("github", "md")
    assert recognised({}) == ()


def test_hostile_texts_are_many() -> None:
    assert len(HOSTILE) > 10


def test_coverage_is_read_by_coverage_py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    behavior = {"missed_lines": {"shop.py": [4], "never.py": [1]}, "covered_lines": {"shop.py": "1-3"}}
    document = {"results": [{"test_class": "a:B", "telemetry": {"behavior": behavior}}]}
    for _ in range(2):  # over the file of an earlier run, too
        path = write_report("coverage", document, tmp_path / "r")
    with sqlite3.connect(path) as connection:
        files = connection.execute("select path from file order by path").fetchall()
    connection.close()
    assert files == [(str(tmp_path / "never.py"),), (str(tmp_path / "shop.py"),)]
    Path("never.py").write_text("x = 1\n")
    command = [sys.executable, "-m", "coverage", "report", f"--data-file={path}", "-m"]
    shown = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    assert re.search(r"shop\.py +4 +1 +75% +4", shown)


def test_annotations_are_ten_with_the_rest_counted(tmp_path: Path) -> None:
    place = {"kind": "rule", "name": "go", "at": {"file": "a,b:c.py", "line": 3, "function": "f", "code": ""}}
    finding = {"error_type": "E", "error_message": "100%\nof it", "id": "1f", "place": place}
    document = {"results": [{"test_class": "a:B", "failures": [finding] * 12}]}
    lines = written("github", document, tmp_path).split("\n")
    start = "::error file=a%2Cb%3Ac.py,line=3,title=ordeal 1f::E: 100%25%0AAt: a,b:c.py:3 in f (rule)"
    assert lines[0].startswith(start)
    assert lines[9:] == ["::error title=ordeal::and 3 more findings: see the report", ""]


def test_annotations_name_files_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "service").mkdir()
    monkeypatch.chdir(tmp_path / "service")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    place = {"kind": "rule", "name": "go", "at": {"file": "t.py", "line": 3, "function": "f", "code": ""}}
    document = {"results": [{"test_class": "a:B", "failures": [{"error_type": "E", "place": place}]}]}
    assert "file=service/t.py,line=3" in written("github", document, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_junit_counts_what_it_has_and_names_cases_by_their_failures(seed: int, tmp_path: Path) -> None:
    document = json.loads(json.dumps(make_document(seed)))
    root = ET.fromstring(written("junit", document, tmp_path))
    suites = [*root.iter("testsuite")]
    assert len(suites) == len(document["results"])
    for suite in [root, *suites]:
        cases = [*suite.iter("testcase")]
        assert int(suite.get("tests", "-1")) == len(cases)
        for kind, tag in (("failures", "failure"), ("errors", "error")):
            assert int(suite.get(kind, "-1")) == sum(case.find(tag) is not None for case in cases)
    names = [case.get("name", "") for case in root.iter("testcase")]
    ids = [failure["id"] for result in document["results"] for failure in result["failures"]]
    assert all(any(name.startswith(each) for name in names) for each in ids)


def test_junit_has_a_case_for_each_saved_failure_that_is_no_finding(tmp_path: Path) -> None:
    seeds = [
        {"name": name, "path": name, "status": status, "message": "why"}
        for name, status in (("a", "fixed"), ("b", "reproduced"), ("c", "fails_differently"))
    ]
    finding = {"error_type": "E", "seed_path": "b", "run_id": 0, "id": "1f"}
    document = {"results": [{"test_class": "a:B", "failures": [finding], "seed_replays": seeds}]}
    root = ET.fromstring(written("junit", document, tmp_path))
    cases = {case.get("name"): case.find("failure") is not None for case in root.iter("testcase")}
    assert cases == {"explored": False, "1f E": True, "saved failure a": False, "saved failure c": True}
    assert {each.get("name"): each.get("value") for each in root.iter("property")}["finding 1f"] == "known"


def test_markdown_of_many_findings_stays_below_the_limit_and_counts_the_rest(tmp_path: Path) -> None:
    finding = {"error_type": "E", "error_message": "x", "id": "1", "program": "ü" * 8000}
    document = {"results": [{"test_class": "a:B", "failures": [finding] * 300}]}
    text = written("md", document, tmp_path)
    assert 900_000 < len(text.encode()) <= 1_000_000
    assert re.search(r"\n\d+ more findings are in the other reports\.\n$", text)


def test_markdown_shows_texts_as_code(tmp_path: Path) -> None:
    finding = {"error_type": "E", "error_message": "@you | `a` <img>", "id": "1", "program": "```\n# no heading"}
    text = written("md", {"results": [{"test_class": "a:B", "failures": [finding]}]}, tmp_path)
    assert "| new | ``E: @you \\| `a` <img>`` | `1` |" in text
    assert "\n````python\n```\n# no heading\n````\n" in text


def test_results_of_sarif_have_their_steps_at_the_lines_of_their_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.py").write_text("class Shop:\n    def buy(self): ...\n\n    def sell(self): ...\n")
    place = {"kind": "invariant", "name": "i", "at": {"file": "t.py", "line": 9, "function": "i", "code": ""}}
    finding = {"error_type": "E", "bucket": "b", "rule_log": ["buy", "sell"], "place": place, "run_id": 1}
    document = {"results": [{"test_class": "t:Shop", "failures": [finding]}]}
    (result,) = json.loads(written("sarif", document, tmp_path))["runs"][0]["results"]
    steps = [each["location"] for each in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [step["physicalLocation"]["region"]["startLine"] for step in steps] == [2, 4, 9]
    assert [step["message"]["text"] for step in steps] == ["1. buy", "2. sell", "E"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "t.py"
    assert result["ruleId"] == "ordeal/invariant"
    assert result["baselineState"] == "new"

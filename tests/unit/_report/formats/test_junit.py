"""Classes as suites of JUnit, findings as cases."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from .test_formats import written


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

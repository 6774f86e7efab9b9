"""Findings as results of SARIF, with their steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .test_formats import written


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

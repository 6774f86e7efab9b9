"""A fleet of two on this machine, from the command line to the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
MACHINE = """
from hypothesis.stateful import RuleBasedStateMachine, rule

class Counter(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.count = 0

    @rule()
    def add(self):
        self.count += 1

    @rule()
    def check(self):
        assert self.count < 3, "too many"
"""


def test_one_report_of_all_members(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(MACHINE)
    code, out, err = run("explore", "counting:Counter", "--on", "local:2", "--max-runs", "40", "--json")
    assert code == 1, err
    (result,) = json.loads(out)["results"]
    assert result["total_runs"] >= 40
    assert len(result["failures"]) == 1
    assert any("fleet of 2 members" in note for note in result["notes"])


def test_a_class_that_members_lack_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(MACHINE + "import os\nassert 'ORDEAL_FLEET_MEMBER' not in os.environ, 'not here'\n")
    code, _, err = run("explore", "counting:Counter", "--on", "local:1", "--max-runs", "1")
    assert code == 2
    assert "error: no member could explore" in err
    assert "hint: " in err

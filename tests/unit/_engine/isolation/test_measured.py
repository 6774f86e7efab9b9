"""coverage.py sees what runs in a fork, and nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._engine.isolation.measured import Measured

PROJECT = {
    "app.py": """
        def grow(n):
            if n > 2:
                return "big"
            return "small"
        """,
    "machine.py": """
        from hypothesis.stateful import RuleBasedStateMachine, rule
        from app import grow

        class Plant(RuleBasedStateMachine):
            height = 0

            @rule()
            def up(self):
                self.height += 1
                grow(self.height)
        """,
    "ordeal.toml": """
        [explorer]
        max_runs = 20
        workers = 2
        target_modules = ["app"]

        [[tests]]
        class = "machine:Plant"
        """,
}


@pytest.mark.slow
def test_workers_are_measured(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")

    def run(*arguments: str) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
        command = [sys.executable, "-m", "coverage", *arguments]
        subprocess.run(
            command,
            cwd=tmp_path,
            env=environment | {"TMPDIR": str(scratch)},
            check=True,
            capture_output=True,
            timeout=600,
        )

    run("run", "--branch", "--source=.", "-m", "ordeal", "explore")
    # One file, without `coverage combine`.
    assert [path.name for path in tmp_path.glob(".coverage*")] == [".coverage"]
    run("json", "-o", "report.json")
    files = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["files"]
    assert {name: file["summary"]["percent_covered"] for name, file in files.items()} == {
        "app.py": 100,
        "machine.py": 100,
    }
    assert list(scratch.glob("ordeal-coverage-*")) == []


def test_nothing_is_made_where_nobody_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "coverage", raising=False)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_options: pytest.fail("a folder was made"))
    measured = Measured()
    measured.end(measured.begin())
    measured.join()


def test_a_module_of_that_name_may_be_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coverage", sys)
    Measured().join()

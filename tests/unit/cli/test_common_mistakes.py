"""The commonest mistakes in a machine end ``ordeal explore`` and ``ordeal replay`` with 2, and leave no seed behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ordeal._engine.storage.trace_file import Trace, TraceFailure, TraceStep

from ..samples.mistakes import MISTAKES, RIGHT, Mistake
from .conftest import Run

SETTINGS = """
[explorer]
max_runs = 20
workers = 1
[[tests]]
class = "bank_test:Bank"
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("ordeal.toml").write_text(SETTINGS)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_it_is_no_finding(run: Run, mistake: Mistake) -> None:
    Path("bank_test.py").write_text(mistake.source)
    code, out, err = run("explore")
    assert code == 2
    assert mistake.words in err
    assert "Traceback" not in err + out
    assert not Path(".ordeal").exists()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.name)
def test_it_is_no_replayed_failure(run: Run, mistake: Mistake) -> None:
    Path("bank_test.py").write_text(mistake.source)
    step = TraceStep("rule", "pay", choices={"amount": [1]}, text={"amount": "1"})
    failure = TraceFailure("ValueError", "broke", 1)
    Trace(run_id=1, seed=1, test_class="bank_test:Bank", steps=[step], failure=failure).save("t.json")
    code, out, err = run("replay", "t.json")
    assert code == 2
    assert mistake.words in err
    assert "Traceback" not in err + out


def test_without_a_mistake_it_is_found(run: Run) -> None:
    Path("bank_test.py").write_text(RIGHT)
    assert run("explore")[0] == 1

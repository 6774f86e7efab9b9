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
    assert not {path.name for path in Path(".ordeal").glob("*")} - {"runs"}


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


@pytest.mark.forks
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sys.exit(0)", "raised SystemExit: 0"),
        ("os._exit(0)", "ended its process with exit code 0"),
        ("re.match('(a+)+$', 'a' * 64 + 'b')", "did not return within 0.3 s"),
        ("1 / 0", "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_function_that_makes_no_machine_ends_nothing(run: Run, body: str, problem: str) -> None:
    settings = SETTINGS.replace(":Bank", ":make").replace("workers = 1", "workers = 1\nrule_timeout = 0.3")
    Path("ordeal.toml").write_text(settings)
    Path("bank_test.py").write_text(f"import os, re, sys\n{RIGHT}\ndef make():\n    {body}\n    return Bank()\n")
    code, out, err = run("explore")
    assert code == 2
    assert f"error: `make`, which should make machines, {problem}" in err
    assert "Traceback" not in err + out

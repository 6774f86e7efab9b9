"""``ordeal doctor``: from the settings to what is said of each class."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import Run

MACHINES = """
    from ordeal import ChaosTest, rule, invariant

    class Counter(ChaosTest):
        def __init__(self):
            super().__init__()
            self.seen = []

        @rule()
        def order(self):
            names = [f"name {number}" for number in range(50)]
            if next(iter(set(names))) in names[:9]:
                self.seen.append(1)
            else:
                self.seen.append(2)

        @invariant()
        def holds(self):
            assert self.seen is not None
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machines.py").write_text(dedent(MACHINES))
    Path("ordeal.toml").write_text(
        '[explorer]\ntarget_modules = ["machines"]\n[[tests]]\nclass = "machines:Counter"\n'
        '[[tests]]\nclass = "machines:Gone"\n'
    )


@pytest.mark.slow
def test_classes_are_examined_in_processes_of_their_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._tools.doctor.running.RUNS", 60)
    code, out, err = run("doctor", "machines:Counter", "--strict")
    assert (code, err) == (1, "")
    assert out.startswith("machines:Counter\n  warning: what runs depends on PYTHONHASHSEED: ")
    assert out.endswith(", 1 did not\n")
    code, out, _ = run("doctor", "machines:Gone", "--json")
    document = json.loads(out)
    assert code == 2
    assert document["ok"] is False
    assert [check["status"] for check in document["checks"] if check["subject"]] == ["error"]


def test_settings_that_are_wrong_are_said_first(run: Run) -> None:
    Path("ordeal.toml").write_text("[explorer]\nseed = -1\n")
    code, out, err = run("doctor")
    assert (code, out) == (2, "")
    assert err.startswith("error: `seed` in [explorer] of ordeal.toml is -1, not ")
